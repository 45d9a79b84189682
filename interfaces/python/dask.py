# SPDX-License-Identifier: MIT
"""Tables of numbers as Dask arrays: each part of a file is one task, on any worker that sees the file by the same path.

    ids, prices = asf.dask.read_columns("prices.tsv", {0: "q", 1: "d"}, skip=1)
    print(prices.mean().compute())
"""
import functools
import os

import asf

try:
    import dask
    import dask.array
    import dask.utils
    import numpy
except ImportError as error:
    raise ImportError("asf.dask needs Dask and NumPy: pip install 'dask[array]'") from error


def _read(part, fields, separator, skip):
    """The task: the columns of one part."""
    columns = asf.read_columns(part, fields, separator=separator, skip=skip)
    return [numpy.asarray(column) for column in columns]


def _parts(paths, blocksize):
    size = dask.utils.parse_bytes(blocksize)
    paths = [paths] if isinstance(paths, (str, bytes, os.PathLike)) else paths
    return [part for path in paths for part in asf.parts(os.path.abspath(path), size=size)]


def read_columns(paths, fields, *, blocksize="64 MiB", separator="\t", skip=0):
    """Return a list of Dask arrays of one dimension, one for each field, over all rows of the files in order.

      paths      a path, or several: the workers open the same absolute paths, and must find the same files there
      fields, separator
                 as for asf.read_columns()
      blocksize  approximate bytes of a part, as a number or as "64 MiB"
      skip       number of lines to skip at the beginning of each file

    This call cuts the files, and the tasks read them.  The number of rows in a part is unknown until Dask's
    compute_chunk_sizes() counts them.  A task reads all fields of its part, and Dask repeats the task if a worker dies.
    The tasks raise ValueError if a line is not a row.  They raise OSError if a file was replaced, rewritten or
    truncated: ESTALE before, EIO during the read.  Both name the part, and OSError has it as `filename`.
    """
    fields = list(fields.items()) if hasattr(fields, "items") else list(fields)
    asf.read_columns(os.devnull, fields, separator=separator, skip=skip)  # raises errors in the arguments here
    read = dask.delayed(functools.partial(_read, fields=fields, separator=separator, skip=skip), pure=True)
    parts = [read(part) for part in _parts(paths, blocksize)]
    arrays = []
    for number, (_, kind) in enumerate(fields):
        chunks = [dask.array.from_delayed(part[number], (numpy.nan,), kind) for part in parts]
        arrays.append(dask.array.concatenate(chunks) if chunks else dask.array.zeros(0, kind))
    return arrays
