# SPDX-License-Identifier: MIT
"""mpiexec -n RANKS python3 prices_mpi.py FILE: the same sum, each rank's share of the parts read by that rank."""
import sys

import asf
from mpi4py import MPI
from prices import total

comm = MPI.COMM_WORLD
parts = comm.bcast(asf.parts(sys.argv[1], size=1 << 20) if comm.rank == 0 else None)
totals = comm.gather([total(part) for part in parts[comm.rank :: comm.size]])
if comm.rank == 0:
    print(f"{sum(map(sum, totals)):.2f}")
