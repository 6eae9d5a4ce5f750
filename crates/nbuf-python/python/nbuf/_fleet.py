"""Fleets: curves of thousands of volumes, and how a budget is split over them."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any, Literal, Union

from nbuf import _nbuf
from nbuf._ask import ask
from nbuf._checks import THREADS_MAX, checked_page, size_text, whole
from nbuf._curve import Curve
from nbuf._errors import Error
from nbuf._progress import Progress, reporter
from nbuf._results import Column, Result
from nbuf._runners import EngineFailed, Pool, check, drive, start
from nbuf._trace import Size, _format, _paths

Curves = Union[Mapping[str, Curve], Iterable[Curve]]

#: Caches that `Fleet.sharing` compares.
_CACHES = ("shared", "partitioned", "equal")


class Fleet(Result):
    """The document of `nbuf fleet --json`. The table has a row for each volume."""

    @property
    def checksum(self) -> str:
        """A hash of all curves: equal wherever the tasks ran."""
        return str(self._document["checksum"])

    @property
    def failures(self) -> list[dict[str, Any]]:
        """Tasks that failed: row, input and error of each."""
        return list(self._document["failures"])

    @property
    def is_whole(self) -> bool:
        """Whether all tasks are done."""
        return not self._document["failures"] and not self._document["tasks_missing"]

    @property
    def hit_pages(self) -> int | None:
        """The least memory of all volumes for the hit ratio, in pages; None where none is enough."""
        pages = self._document["whole"]["hit_pages"]
        return None if pages is None else int(pages)

    @property
    def rules(self) -> dict[str, int]:
        """Misses of the best split of the budget and of simple ones; empty without a budget."""
        split = self._document["split"] or {"rules": []}
        return {rule["rule"]: rule["misses"] for rule in split["rules"]}

    @property
    def bound_misses(self) -> float | None:
        """Misses that no split of the budget can be below; None without a budget, or where curves are estimates."""
        bound = (self._document["split"] or {}).get("bound_misses")
        return None if bound is None else float(bound)

    @property
    def gap_to_bound(self) -> float | None:
        """The share of misses that the best split may have above the bound; None as for the bound, or where it is 0."""
        bound = self.bound_misses
        return self.rules["best"] / bound - 1.0 if bound else None

    @property
    def shares(self) -> dict[str, int]:
        """Pages of each volume in the best split of the budget."""
        return {one["name"]: one["share"]["pages"] for one in self._document["volumes"] if one["share"]}

    @property
    def regrets(self) -> dict[str, int]:
        """Misses of each policy, used for all volumes, more than with the best of each; empty without policies."""
        found = self._document.get("policies") or {"policies": []}
        return {one["policy"]: one["regret_misses"] for one in found["policies"]}

    @property
    def later(self) -> dict[str, int]:
        """Misses after `until` by split: best, before and equal; empty where it was not asked for."""
        last = self._document.get("last") or {"rules": []}
        return {rule["rule"]: rule["misses"] for rule in last["rules"]}

    @property
    def sharing(self) -> dict[str, dict[str, int]]:
        """Misses of each host: shared, partitioned and equal; empty where `partitions` was not asked for."""
        found = self._document.get("sharing") or {"hosts": []}
        return {one["host"]: {name: one[f"{name}_misses"] for name in _CACHES} for one in found["hosts"]}

    def _columns(self) -> Sequence[Column]:
        volumes = self._document["volumes"]
        names = ["accesses", "distinct_pages", "cold_misses", "knee_pages", "hit_pages"]
        columns: list[Column] = [("name", "str", [one["name"] for one in volumes])]
        columns += [(name, "u64", [one[name] for one in volumes]) for name in names]
        if self._document["split"]:
            shares = [one["share"] for one in volumes]
            names = ["pages", "misses", "equal_pages", "equal_misses"]
            columns += [(f"share_{name}", "u64", [one[name] for one in shares]) for name in names]
            columns.append(("verdict", "str", [one["verdict"] for one in shares]))
        return columns

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self._document['volumes'])} volumes)"


class Allocation(Fleet):
    """A budget that is split over curves."""


def _known(curves: Curves, policy: str | None) -> tuple[str, int]:
    """Curves for the library, and their page size."""
    if isinstance(curves, Curve):
        raise Error("one curve is nothing to split or to merge: give several, in a list or by their names")
    many = list(curves.values() if isinstance(curves, Mapping) else curves)
    for one in many:
        if not isinstance(one, Curve):
            raise Error(f"{type(one).__name__} is no curve: give what nbuf.curve returns")
    if not isinstance(curves, Mapping):
        names = [", ".join(one.to_dict()["trace"]["files"]) for one in many]
        # Tables have the same name: then the place says which is which.
        alike = len(set(names)) < len(names)
        curves = {f"{name} ({at})" if alike else name: one for at, (name, one) in enumerate(zip(names, many))}
    if not curves:
        raise Error("there are no curves: give at least one")
    chosen = {name: curve._one(policy) for name, curve in curves.items()}
    pages = {one["page_bytes"] for one in chosen.values()}
    if len(pages) > 1:
        raise Error("the curves have pages of different sizes: draw all with the same page=")
    if any(one.get("objects") for one in chosen.values()):
        raise Error("curves of unit='object' count bytes of objects: draw them with unit='page'")
    volumes = [
        {
            "name": name,
            "accesses": max((point["accesses"] for point in one["points"]), default=0),
            "distinct_pages": one["distinct_pages"],
            "points": [(point["pages"], point["misses"]) for point in one["points"]],
            "is_estimate": bool(one.get("sample")),
        }
        for name, one in chosen.items()
    ]
    first = next(iter(chosen.values()))
    known = {"page_bytes": first["page_bytes"], "policy": first["policy"], "volumes": volumes}
    return json.dumps(known), int(first["page_bytes"])


def allocate(
    curves: Curves,
    budget: Size,
    *,
    policy: str | None = None,
    hit_ratio: float = 0.9,
    miss_ms: float | None = None,
    miss_price: float | None = None,
    gib_price: float | None = None,
) -> Allocation:
    """Splits a budget over caches whose curves are known, so that the fewest accesses miss.

    `nbuf fleet --budget` splits in the same way. A budget that is a number counts pages or keys. Between two
    points of a curve the misses of the smaller size count, so draw curves without `sizes=`.
    """
    known, page_bytes = _known(curves, policy)
    prices = {"miss_ms": miss_ms, "miss_price": miss_price, "gib_price": gib_price}
    question = ask(hit_ratio, budget, page_bytes, **prices)
    return Allocation(json.loads(_nbuf.fleet_allocate(known, question)))


def merge(curves: Curves, *, how: Literal["average", "partitioned"] = "average", policy: str | None = None) -> Curve:
    """One curve of several: `average` gives each a cache of the same size, `partitioned` the hulls of all
    curves together, which no split beats and few reach.

    A shared cache is none of these: draw the curve of the traces together, `nbuf.curve([a, b])`.
    """
    # Types do not stop a caller who does not check them.
    way: str = how
    if way == "shared":
        raise Error("curves do not say what a shared cache hits: draw one of the traces together, curve([a, b])")
    if how not in ("average", "partitioned"):
        raise Error(f"there is no way to merge `{how}`: write average or partitioned")
    known, _ = _known(curves, policy)
    return Curve(json.loads(_nbuf.fleet_merge(known, how)))


def fleet(
    traces: Any,
    *,
    out: str | os.PathLike[str] | None = None,
    by: Literal["file", "directory", "volume", "host"] = "file",
    engine: Union[Literal["local", "dask", "ray", "spark"], Executor] = "local",
    workers: int | None = None,
    budget: Size | None = None,
    hit_ratio: float = 0.9,
    page: Size = 4096,
    split: str = "auto",
    format: str = "auto",
    memory: Size | None = None,
    miss_ms: float | None = None,
    miss_price: float | None = None,
    gib_price: float | None = None,
    policies: Sequence[str] = (),
    policy_size: Size = "10%",
    until: str | None = None,
    partitions: Literal["file", "directory"] | None = None,
    progress: Progress = None,
) -> Fleet:
    """Exact LRU curves of many volumes, and the split of a budget, as `nbuf fleet` counts them.

    `traces` are files, directories, patterns, or a `Trace` of files. `engine` is `local`, `dask`, `ray`, `spark`, or
    an executor, such as `client.get_executor()`; its workers see the same files. With `out=`, the same call
    continues what was interrupted.

    `by` is `file`, `directory`, `volume` or `host`. `policies` are compared on each volume at `policy_size`, a number
    of pages, an amount or a share of its pages. `until`, such as `24h`, asks how the split by what came before that
    time after the first request does later. `partitions`, with `by="host"`, compares the cache that the volumes of a
    host share with partitions of it, one for each `file` or `directory`.
    """
    is_many = isinstance(traces, Iterable) and not isinstance(traces, (str, os.PathLike))
    many = list(traces) if is_many and not hasattr(traces, "__arrow_c_stream__") else [traces]
    page_bytes = checked_page(page)
    prices = {"miss_ms": miss_ms, "miss_price": miss_price, "gib_price": gib_price}
    question = ask(hit_ratio, budget, page_bytes, **prices)
    if not many:
        raise Error("the list of traces is empty: name a file")
    _check_engine(engine)
    count = whole("workers", (os.cpu_count() or 1) if workers is None else workers, 1, THREADS_MAX)
    if until is not None and budget is None:
        raise Error("until asks whether a split lasts: give what to split with budget=")
    size = policy_size if isinstance(policy_size, str) else f"{whole('policy_size', policy_size, 1)}p"
    is_kept = out is not None
    with ExitStack() as stack:
        if out is None:
            out = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="nbuf-fleet-"))) / "fleet"
        spec = {
            "inputs": [path for one in many for path in _inputs(one)],
            "out": os.fspath(out),
            "by": by,
            "format": _format(many, format),
            "page_bytes": page_bytes,
            "split": split,
            "workers": count,
            "memory": None if memory is None else size_text("memory", memory),
            "policies": [policies] if isinstance(policies, str) else list(policies),
            "policy_size": size,
            "until": until,
            "partitions": partitions,
        }
        _, unknown, doubles = _nbuf.fleet_plan(json.dumps(spec))
        _warn(unknown, "of no known format")
        _warn(doubles, "that other inputs name too")
        tasks = _nbuf.fleet_tasks(out)
        with reporter(progress) as report:
            if engine == "local":
                command = [sys.executable, "-c", _MODULE, "--serve"]
                _nbuf.fleet_local(tasks, count, command, progress=report)
            else:
                _work(engine, tasks, count, report, is_kept)
        return Fleet(json.loads(_nbuf.fleet_reduce(out, question)))


def _warn(files: list[Path], why: str) -> None:
    """Warns as `nbuf fleet` does, at the line that called `fleet`."""
    if files:
        # A path of Python has lost one of the slashes in the name of an object.
        first = re.sub(r"^(\w+):/(?!/)", r"\1://", str(files[0]))
        some = "1 file" if len(files) == 1 else f"{len(files)} files"
        warnings.warn(f"left out {some} {why}, such as {first}", stacklevel=3)


def _check_engine(engine: Union[str, Executor]) -> None:
    if not isinstance(engine, (str, Executor)):
        raise Error(
            f"{type(engine).__name__} is no engine: give local, dask, ray, spark, or an executor, such as "
            "client.get_executor() of Dask"
        )
    if isinstance(engine, str) and engine != "local":
        check(engine)


def _inputs(one: Any) -> list[str]:
    """A directory is an input as it is."""
    is_folder = isinstance(one, (str, os.PathLike)) and os.path.isdir(one)
    return [os.fspath(one)] if is_folder else _paths(one)


#: `python -m nbuf.fleet` without the modules of the current directory, which may be other people's.
_MODULE = """
import os, runpy, sys
sys.path[:] = [path for path in sys.path if path not in ("", os.getcwd())]
runpy.run_module("nbuf.fleet", run_name="__main__", alter_sys=True)
"""


def _work(engine: Union[str, Executor], tasks: Path, workers: int, report: Any, is_kept: bool) -> None:
    rows = _nbuf.fleet_left(tasks)
    if not rows:
        return
    over = [0]

    def count(row: int, error: str | None) -> None:
        over[0] += 1
        if report is not None:
            report("working (tasks)", over[0], len(rows))

    running = start(engine, workers) if isinstance(engine, str) else nullcontext(Pool(engine, workers))
    try:
        with running as one:
            drive(one, str(tasks.parent.absolute()), rows, count)
    except EngineFailed as error:
        if is_kept:
            raise
        text = f"the engine failed ({error.reason}): give out= a folder, so that finished tasks are kept"
        raise Error(text) from error.__cause__
