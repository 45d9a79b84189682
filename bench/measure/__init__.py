# SPDX-License-Identifier: MIT
"""measure: the one harness of all reports.

A Row compares ways to do one thing; measure() repeats rows until their intervals are narrow; Verdict says what came out,
and about() on what machine.  What is timed is a command (run) or a program that times itself (Program, Benchmarks).
"""
from .about import TREE, about, head
from .pairs import AGAIN, Plan, Row, measure
from .timed import Benchmarks, Failed, Program, Sample, run, wait
from .verdict import Interval, Verdict, interval, noise_of, spread
