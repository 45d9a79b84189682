# SPDX-License-Identifier: MIT
from collections.abc import Iterable, Mapping
from os import PathLike

import dask.array

from asf import _Number

_File = str | bytes | PathLike[str] | PathLike[bytes]

def read_columns(
    paths: _File | Iterable[_File],
    fields: Mapping[int, _Number] | list[tuple[int, _Number]] | tuple[tuple[int, _Number], ...],
    *,
    blocksize: int | str = "64 MiB",
    separator: str | bytes = "\t",
    skip: int = 0,
) -> list[dask.array.Array]: ...
