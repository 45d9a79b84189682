# SPDX-License-Identifier: MIT
"""Tests asf.dask: two worker processes read the same columns as one process, even if one worker is killed.

If the file is truncated or replaced meanwhile, the error names the part.  ASF_DASK_BYTES is the approximate size of the
table in bytes; use 1000000000 for runs by hand."""
import errno
import os
import pathlib
import signal
import unittest

import distributed
import numpy

import asf
import asf.dask
from python_case import FileCase

SIZE = int(os.environ.get("ASF_DASK_BYTES", 50_000_000))
PARTS = 64
FIELDS = {0: "q", 1: "d", 2: "i"}


class Dask(FileCase):
    @classmethod
    def setUpClass(cls):
        cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs="CRITICAL")
        cls.enterClassContext(cluster)
        cls.client = cls.enterClassContext(distributed.Client(cluster))

    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(1)
        rows = SIZE // 30
        with asf.open(self.path, "wb") as file:
            file.write_row("id", "value", "small")
            file.write_columns([numpy.arange(rows), random.random(rows), random.integers(-1000, 1000, rows)], threads=2)
        self.blocksize = os.path.getsize(self.path) // PARTS + 1
        self.parts = asf.parts(self.path, size=self.blocksize)
        self.assertEqual(len(self.parts), PARTS)

    def columns(self):
        return asf.dask.read_columns(self.path, FIELDS, blocksize=self.blocksize, skip=1)

    def begin(self):
        """Starts the workers.  Returns the futures of the columns' parts as soon as at least one is done, but not all."""
        futures = self.client.compute([part for column in self.columns() for part in column.to_delayed()])
        next(iter(distributed.as_completed(futures)))
        self.assertFalse(all(future.done() for future in futures))
        return futures

    def check(self, futures):
        got = [part.tobytes() for part in self.client.gather(futures)]
        for number, column in enumerate(asf.read_columns(self.path, FIELDS, skip=1)):
            self.assertTrue(b"".join(got[number * PARTS:(number + 1) * PARTS]) == numpy.asarray(column).tobytes())

    def refused(self, codes, compute):
        with self.assertRaises(OSError) as caught:
            compute()
        error = caught.exception
        self.assertIn(error.errno, codes)
        self.assertIn(error.filename, self.parts)
        self.assertIn(f"asf.Part(path={self.path!r}, begin={error.filename.begin}, ", str(error))

    def test_as_by_one_process(self):
        self.check(self.begin())

    def test_a_worker_is_killed(self):
        futures = self.begin()
        os.kill(min(self.client.run(os.getpid).values()), signal.SIGKILL)
        self.check(futures)

    def test_the_file_is_truncated(self):
        futures = self.begin()
        os.truncate(self.path, 0)
        self.refused((errno.ESTALE, errno.EIO), lambda: self.client.gather(futures))

    def test_the_file_is_replaced(self):
        column = self.columns()[1]
        os.rename(self.path, self.path + ".old")
        pathlib.Path(self.path).touch()
        self.refused((errno.ESTALE,), column.sum().compute)


if __name__ == "__main__":
    unittest.main()
