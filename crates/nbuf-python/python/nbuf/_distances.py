"""Stack distances, the raw material of curves."""

from __future__ import annotations

from typing import Any

from nbuf import _nbuf
from nbuf._errors import Error
from nbuf._progress import Progress, reporter
from nbuf._results import library

#: The distance of a first access: every cache misses it.
COLD = 2**64 - 1


def distances(pages: Any, *, progress: Progress = None) -> Any:
    """The smallest LRU cache that hits each access, in pages, as an array of NumPy.

    That is the number of distinct pages since the last access to this one, it included. `COLD` for first
    accesses.
    """
    numpy = library("numpy")
    array = numpy.ascontiguousarray(pages)
    if array.dtype.kind not in "iub":
        raise Error(f"pages are whole numbers, and these are {array.dtype}: convert them, such as by astype('int64')")
    with reporter(progress) as report:
        return numpy.asarray(_nbuf.distances(array, progress=report))
