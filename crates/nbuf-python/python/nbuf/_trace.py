"""Traces: what they are read from, and what is known of them."""

from __future__ import annotations

import glob
import json
import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Union

from nbuf import _arrays, _nbuf
from nbuf._checks import THREADS_MAX, amount, checked_chunk, size_text, whole
from nbuf._errors import Error, MissingFile, MissingLibrary
from nbuf._progress import Progress, reporter
from nbuf._results import Result, library

Size = Union[int, str]
# A path, a pattern of paths, several of them, a table, or a trace.
Source = Any


class Trace:
    """A trace in files or in memory, which is read when it is used.

    Every library that takes Arrow streams takes it as a table of its requests.
    """

    def __init__(
        self,
        paths: Sequence[str],
        table: _nbuf.Table | None = None,
        format: str | None = None,
    ) -> None:
        self._paths = list(paths)
        self._table = table
        self._format = format

    @property
    def files(self) -> list[str]:
        """The files, or the type of what holds the table."""
        return list(self._paths)

    def _inputs(self) -> dict[str, Any]:
        return {"traces": self._paths, "format": self._format}

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        inputs = json.dumps(_inputs(self, None))
        frame = _nbuf.rows(inputs, table=self._table)
        return frame.__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Any:
        """The requests as a pandas.DataFrame."""
        pandas, numpy = library("pandas"), library("numpy")
        frame = _nbuf.rows(json.dumps(_inputs(self, None)), table=self._table)
        kinds = {"Int64": "i8", "UInt64": "u8", "UInt32": "u4"}
        columns = {}
        for name, kind, numbers, texts in frame.columns():
            array = numpy.asarray(numbers)
            if texts is None:
                columns[name] = array.astype(kinds[kind])
            else:
                columns[name] = pandas.Categorical.from_codes(array.astype("i8"), texts)
        return pandas.DataFrame(columns)

    def to_polars(self) -> Any:
        """The requests as a polars.DataFrame."""
        return library("polars").DataFrame(self)

    def __repr__(self) -> str:
        rows = f", {len(self._table)} rows" if self._table is not None else ""
        return f"Trace({', '.join(self._paths)}{rows})"


class Stats(Result):
    """What `nbuf trace stat` counts."""

    @property
    def requests(self) -> int:
        """All requests."""
        return int(self._document["requests"])

    @property
    def accesses(self) -> int:
        """Accesses of pages or keys."""
        return int(self._document["accesses"])

    @property
    def distinct(self) -> int:
        """Pages or keys, each counted once."""
        return int(self._document["distinct"])

    def __repr__(self) -> str:
        return f"Stats(requests={self.requests}, accesses={self.accesses}, distinct={self.distinct})"


def read_trace(
    source: Source = None,
    *,
    format: str = "auto",
    columns: Mapping[str, str] | None = None,
    key: Any = None,
    size: Any = None,
    offset: Any = None,
    length: Any = None,
    op: Any = None,
    time: Any = None,
    file: Any = None,
    task: Any = None,
    ttl: Any = None,
    cost: Any = None,
) -> Trace:
    """A trace of a path, a pattern such as `t/*.parquet`, a list of paths or of keys, a table, or arrays.

    A table is anything with `__arrow_c_stream__`: of pyarrow, Polars, pandas, or a relation of DuckDB.
    `columns` says which of its columns is the key, size, offset, length, op, time, file, task, ttl or cost;
    without it, names are looked at. Arrays of NumPy are given by these words: `read_trace(key=keys, size=sizes)`.
    """
    arrays = {"key": key, "size": size, "offset": offset, "length": length, "op": op}
    arrays |= {"time": time, "file": file, "task": task, "ttl": ttl, "cost": cost}
    given = [(role, _arrays.array(role, array)) for role, array in arrays.items() if array is not None]
    if given:
        if source is not None:
            raise Error("read_trace takes a source or arrays, not both: leave one out")
        return Trace(["numpy.ndarray"], _nbuf.Table.of_arrays(given))
    is_table = hasattr(source, "__arrow_c_stream__") and not isinstance(source, Trace)
    if columns and not is_table:
        raise Error("columns= names those of a table: leave it out, or give the format, such as csv:key=NAME")
    if isinstance(source, Trace):
        return source
    if is_table:
        kind = type(source)
        name = f"{kind.__module__.split('.')[0].lstrip('_')}.{kind.__name__}"
        return Trace([name], _table(source, list((columns or {}).items())))
    is_keys = isinstance(source, (list, tuple, range)) and source and isinstance(source[0], int)
    if is_keys or hasattr(source, "__array_interface__"):
        return read_trace(key=source)
    if isinstance(source, Iterable) and not isinstance(source, str):
        source = list(source)
    return Trace(_paths(source), None, _format(source, format))


def _format(source: Source, format: str) -> str | None:
    """The format of files: that is given, or that of the traces among them."""
    found = _formats(source)
    if format != "auto":
        return format
    if len(found) > 1:
        names = ", ".join(sorted(one or "one that is looked for" for one in found))
        raise Error(f"the traces have several formats ({names}): name one with format=, or write them with write_trace")
    return found.pop() if found else None


def _formats(source: Source) -> set[str | None]:
    if isinstance(source, (list, tuple)):
        return {format for one in source for format in _formats(one)}
    return {source._format if isinstance(source, Trace) else None}


def _table(source: Any, roles: list[tuple[str, str]]) -> _nbuf.Table:
    try:
        return _nbuf.Table.of_stream(source, roles)
    except ImportError as error:
        # pandas makes streams by pyarrow, and has the same columns without it.
        if type(source).__module__.split(".")[0] != "pandas":
            raise MissingLibrary(f"{error}: install it, or give arrays by keyword such as key=keys") from error
    return _nbuf.Table.of_arrays(_arrays.frame(source), roles)


def _plain(value: Any) -> Any:
    """A number of NumPy for JSON."""
    try:
        return operator.index(value)
    except TypeError:
        return float(value)


def _paths(source: Source) -> list[str]:
    if isinstance(source, Trace) and source._table is None:
        return list(source._paths)
    if hasattr(source, "__arrow_c_stream__"):
        raise Error("a table is no file: write it with nbuf.write_trace(table, path), and give the path")
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if (objects := _nbuf.objects(path)) is not None:
            return objects
        if not glob.has_magic(path) or os.path.exists(path):
            return [path]
        found = sorted(glob.glob(path, recursive=True))
        if not found:
            raise MissingFile(f"no file is named {path}: look at the folder, and at the pattern")
        return found
    if isinstance(source, Iterable):
        paths = [path for one in source for path in _paths(one)]
        if not paths:
            raise Error("the list of traces is empty: name a file")
        return paths
    kind = type(source).__name__
    raise Error(
        f"a trace cannot be read from {kind}: give a path, a list of paths, arrays by keyword such as "
        "key=keys, or a table with __arrow_c_stream__"
    )


def _inputs(trace: Trace, memory: Size | None) -> dict[str, Any]:
    """The inputs of the verbs over traces."""
    return {
        "paths": trace._paths,
        "format": trace._format,
        "merge": False,
        "problems_max": 1000,
        "memory": None if memory is None else size_text("memory", memory),
    }


def _run(
    verb: str,
    spec: dict[str, Any],
    trace: Trace | None = None,
    *,
    seed: int = 0,
    threads: int = 0,
    progress: Progress = None,
) -> dict[str, Any]:
    """Runs a verb of the library. Its document."""
    seed, threads = whole("seed", seed), whole("threads", threads, most=THREADS_MAX)
    table = None if trace is None else trace._table
    with reporter(progress) as report:
        made = _nbuf.run(
            verb, json.dumps(spec, default=_plain), table=table, seed=seed, threads=threads, progress=report
        )
    document: dict[str, Any] = json.loads(made)
    return document


def stat(
    trace: Source, *, page: Size = 4096, memory: Size | None = None, progress: Progress = None
) -> Stats:
    """Counts requests, bytes, distinct pages and time of a trace."""
    trace = read_trace(trace)
    spec = {"inputs": _inputs(trace, memory), "page_bytes": checked_chunk(page)}
    return Stats(_run("stat", spec, trace, progress=progress))


def generate(
    pattern: Literal["zipf", "uniform", "loop", "scan"],
    path: str | os.PathLike[str],
    *,
    accesses: int = 20_000_000,
    pages: int = 1_000_000,
    alpha: float = 1.0,
    seed: int = 42,
    format: Literal["oracleGeneral", "u32le"] = "oracleGeneral",
    progress: Progress = None,
) -> Trace:
    """Writes a synthetic trace: `zipf`, `uniform`, `loop` or `scan`. The same arguments make the same bytes."""
    formats = {"oracleGeneral": "oracle_general", "u32le": "u32le"}
    if format not in formats:
        raise Error(f"generate does not write {format}: write oracleGeneral or u32le")
    spec = {
        "pattern": pattern,
        "count": whole("accesses", accesses),
        "keys": whole("pages", pages),
        "alpha": amount("alpha", alpha),
        "seed": whole("seed", seed),
        "to": formats[format],
        "output": os.fspath(path),
    }
    _run("generate", spec, progress=progress)
    return Trace([os.fspath(path)], None, format)


def write_trace(
    trace: Source,
    path: str | os.PathLike[str],
    *,
    format: Literal["native", "oracleGeneral"] = "native",
    page: Size = 4096,
    partition_by: Literal["file", "volume"] | None = None,
    memory: Size | None = None,
    progress: Progress = None,
) -> Path:
    """Writes a trace as `native` (Parquet) or `oracleGeneral` (keys). The file must not exist.

    With `partition_by`, which is `file` or `volume`, the path is a folder, and each file or volume has a
    native trace in a folder of its own there: `volume=12/part-0.parquet`.
    """
    trace = read_trace(trace)
    formats: dict[str, Any] = {
        "native": "native",
        "oracleGeneral": {"oracle_general": {"page_bytes": checked_chunk(page)}},
    }
    if format not in formats:
        raise Error(f"write_trace does not write {format}: write native or oracleGeneral")
    if partition_by not in (None, "file", "volume"):
        raise Error(f"write_trace does not partition by {partition_by}: write file or volume")
    spec = {
        "inputs": _inputs(trace, memory),
        "output": os.fspath(path),
        "to": formats[format],
        "partition_by": partition_by,
    }
    _run("convert", spec, trace, progress=progress)
    return Path(path)
