# SPDX-License-Identifier: MIT
"""prices.py FILE: the sum of a table's second column, by as many processes as there are processors."""
import multiprocessing
import sys

import asf


def total(part):
    return sum(asf.read_columns(part, {1: "d"}, skip=1)[0])


if __name__ == "__main__":
    with multiprocessing.Pool() as pool:
        print(f"{sum(pool.map(total, asf.parts(sys.argv[1], size=1 << 20))):.2f}")
