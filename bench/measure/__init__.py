# SPDX-License-Identifier: MIT
"""measure: the one harness of all reports.

A Row compares ways to do one thing, measure() repeats rows until their intervals are narrow, a Verdict states the result,
and head() states the machine.  The harness times a command (run) or reads a program that times itself (Program, Benchmarks).
"""
from .about import TREE, about, head
from .pairs import AGAIN, Plan, Row, measure
from .timed import Benchmarks, Failed, Program, Sample, run, wait
from .verdict import Interval, Verdict, interval, noise_of, spread
