"""How much cache a program needs: curves, simulations and recordings.

>>> import nbuf
>>> curve = nbuf.curve("trace.parquet", policy=["lru", "sieve"])
>>> curve.to_pandas()

docs/python.md describes every function.
"""

from __future__ import annotations

from nbuf._curve import (
    Curve,
    Point,
    Recommendation,
    compare,
    curve,
    formats,
    knee,
    patterns,
    policies,
)
from nbuf._distances import COLD, distances
from nbuf._errors import Error, MissingFile, MissingLibrary
from nbuf._fleet import Allocation, Fleet, allocate, fleet, merge
from nbuf._nbuf import __version__
from nbuf._plot import plot
from nbuf._policy import Hooks, Policy
from nbuf._program import LiveSize, SizeResult, Verification, record, size, verify
from nbuf._results import Result
from nbuf._simulate import Simulation, discs, simulate
from nbuf._trace import Stats, Trace, generate, read_trace, stat, write_trace

__all__ = [
    "COLD",
    "Allocation",
    "Curve",
    "Error",
    "Fleet",
    "Hooks",
    "LiveSize",
    "MissingFile",
    "MissingLibrary",
    "Point",
    "Policy",
    "Recommendation",
    "Result",
    "Simulation",
    "SizeResult",
    "Stats",
    "Trace",
    "Verification",
    "__version__",
    "allocate",
    "compare",
    "curve",
    "discs",
    "distances",
    "fleet",
    "formats",
    "generate",
    "knee",
    "merge",
    "patterns",
    "plot",
    "policies",
    "read_trace",
    "record",
    "simulate",
    "size",
    "stat",
    "verify",
    "write_trace",
]
