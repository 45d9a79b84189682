# SPDX-License-Identifier: MIT
"""comparing.py - compares a suite's results, plainly and preloaded.

Tests with different results run again, both ways.  A difference counts only if a preloaded run gives a result that no
plain run gives.  A test's output counts only if it is the same in two plain runs.
"""
import json
import os

import harness

REPEATS = 2


def varies(name, plain):
    return name.endswith(harness.OUTPUT) and len(plain) > 1 and len(set(plain)) == len(plain)


def differences(plain, preloaded):
    """Returns a dictionary from the tests that the preload changes to their plain and their preloaded results.

    Each argument is a list of runs."""
    found = {}
    for name in sorted({name for run in plain + preloaded for name in run}):
        before = [run[name] for run in plain if name in run]
        after = [run.get(name, "NONE") for run in preloaded[:1]] + [run[name] for run in preloaded[1:] if name in run]
        if not varies(name, before) and any(result not in before for result in after):
            found[name] = (before, after)
    return found


def count(results):
    """Returns how many tests passed, failed and were skipped."""
    words = [result for name, result in results.items() if not name.endswith(harness.OUTPUT)]
    passed = sum(word in ("PASS", "XFAIL") for word in words)
    skipped = words.count("SKIP")
    return passed, len(words) - passed - skipped, skipped


def stored(path, names):
    """Returns the plain results of an earlier run of the same tests, or None."""
    try:
        with open(path, encoding="utf-8") as file:
            results = json.load(file)
    except (OSError, ValueError):
        return None
    tests = {name for name in results if not name.endswith(harness.OUTPUT)}
    return results if tests == set(names) else None


def measure_plainly(suite, names, kind, fresh, environment):
    path = os.path.join(suite.folder, f"plain-{kind}.json")
    results = None if fresh else stored(path, names)
    if results is None:
        harness.say(f"{suite.name}: {len(names)} tests, plainly")
        results = suite.run(names, environment)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=0)
    return results


def compare(suite, preload, quick, fresh):
    """Runs a suite both ways.  Returns the first plain results, the first preloaded results, and the differences."""
    names = sorted(set(suite.tests(quick)))
    environment = harness.base_environment()
    with_preload = {**environment, **preload}
    plain = [measure_plainly(suite, names, "quick" if quick else "full", fresh, environment)]
    harness.say(f"{suite.name}: {len(names)} tests, preloaded")
    preloaded = [suite.run(names, with_preload)]
    for _ in range(REPEATS):
        again = sorted({name.removesuffix(harness.OUTPUT) for name in differences(plain, preloaded)})
        if not again:
            break
        harness.say(f"{suite.name}: {len(again)} differ, once more")
        plain.append(suite.run(again, environment))
        preloaded.append(suite.run(again, with_preload))
    return plain[0], preloaded[0], differences(plain, preloaded)
