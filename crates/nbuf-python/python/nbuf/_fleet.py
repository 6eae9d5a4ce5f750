"""Fleets: curves of thousands of volumes, and how a budget is split over them."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any, Union

from nbuf import _nbuf
from nbuf._curve import Curve
from nbuf._errors import Error
from nbuf._progress import Progress, reporter
from nbuf._results import Column, Result
from nbuf._runners import Pool, drive, start
from nbuf._trace import Size, _paths, _plain, _text

Curves = Union[Mapping[str, Curve], Iterable[Curve]]


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


def _ask(
    hit_ratio: float,
    budget: Size | None,
    page_bytes: int,
    miss_ms: float | None,
    miss_price: float | None,
    gib_price: float | None,
) -> str:
    """What is asked. A budget that is a number counts pages or keys, as sizes of curves do."""
    if not 0.0 < hit_ratio < 1.0:
        raise Error(f"{hit_ratio} is no hit ratio: write a share between 0 and 1, such as 0.9")
    split = None
    if isinstance(budget, str):
        if not page_bytes and not budget.isdigit():
            raise Error(f"the curves count keys, which have no bytes: write a number of them instead of {budget}")
        split = _nbuf.size(budget) if not budget.isdigit() else int(budget) * (page_bytes or 1)
    elif budget is not None:
        split = int(budget) * (page_bytes or 1)
    ask = {
        "hit_ratio": hit_ratio,
        "budget": split,
        "miss_ms": miss_ms,
        "miss_price": miss_price,
        "gib_price": gib_price,
    }
    return json.dumps(ask, default=_plain)


def _known(curves: Curves, policy: str | None) -> tuple[str, int]:
    """Curves for the library, and their page size."""
    if isinstance(curves, Curve):
        raise Error("one curve is nothing to split or to merge: give several, in a list or by their names")
    if not isinstance(curves, Mapping):
        many = list(curves)
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
    ask = _ask(hit_ratio, budget, page_bytes, miss_ms, miss_price, gib_price)
    return Allocation(json.loads(_nbuf.fleet_allocate(known, ask)))


def merge(curves: Curves, *, how: str = "average", policy: str | None = None) -> Curve:
    """One curve of several: `average` gives each a cache of the same size, `partitioned` the hulls of all
    curves together, which no split beats and few reach.

    A shared cache is none of these: draw the curve of the traces together, `nbuf.curve([a, b])`.
    """
    if how == "shared":
        raise Error("curves do not say what a shared cache hits: draw one of the traces together, curve([a, b])")
    if how not in ("average", "partitioned"):
        raise Error(f"there is no way to merge `{how}`: write average or partitioned")
    known, _ = _known(curves, policy)
    return Curve(json.loads(_nbuf.fleet_merge(known, how)))


def fleet(
    traces: Any,
    *,
    out: str | os.PathLike[str] | None = None,
    by: str = "file",
    engine: Union[str, Executor] = "local",
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
    progress: Progress = None,
) -> Fleet:
    """Exact LRU curves of many volumes, and the split of a budget, as `nbuf fleet` counts them.

    `traces` are files, directories or patterns. `engine` is `local`, `dask`, `ray`, `spark`, or an executor, such
    as `client.get_executor()`; its workers see the same files. With `out=`, the same call continues what was
    interrupted.

    `by` is `file`, `directory`, `volume` or `host`. `policies` are compared on each volume at `policy_size`, a number
    of pages, an amount or a share of its pages. `until`, such as `24h`, asks how the split by what came before that
    time after the first request does later.
    """
    many = [traces] if isinstance(traces, (str, os.PathLike)) else list(traces)
    page_bytes = _nbuf.size(_text(page))
    ask = _ask(hit_ratio, budget, page_bytes, miss_ms, miss_price, gib_price)
    count = int(workers or os.cpu_count() or 1)
    if until is not None and budget is None:
        raise Error("until asks whether a split lasts: give what to split with budget=")
    if not isinstance(policy_size, str) and int(policy_size) < 1:
        raise Error(f"{policy_size} pages hold nothing: write 1 or more, or a share such as '10%'")
    with ExitStack() as stack:
        if out is None:
            out = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="nbuf-fleet-"))) / "fleet"
        spec = {
            "inputs": [path for one in many for path in _inputs(one)],
            "out": os.fspath(out),
            "by": by,
            "format": None if format == "auto" else format,
            "page_bytes": page_bytes,
            "split": split,
            "workers": count,
            "memory": None if memory is None else _text(memory),
            "policies": [policies] if isinstance(policies, str) else list(policies),
            "policy_size": policy_size if isinstance(policy_size, str) else f"{int(policy_size)}p",
            "until": until,
        }
        _nbuf.fleet_plan(json.dumps(spec))
        tasks = _nbuf.fleet_tasks(out)
        with reporter(progress) as report:
            if engine == "local":
                command = [sys.executable, "-c", _MODULE, "--serve"]
                _nbuf.fleet_local(tasks, count, command, progress=report)
            else:
                _work(engine, tasks, count, report)
        return Fleet(json.loads(_nbuf.fleet_reduce(out, ask)))


def _inputs(one: Any) -> list[str]:
    """A directory is an input as it is."""
    return [os.fspath(one)] if os.path.isdir(one) else _paths(one)


#: `python -m nbuf.fleet` without the modules of the current directory, which may be other people's.
_MODULE = """
import os, runpy, sys
sys.path[:] = [path for path in sys.path if path not in ("", os.getcwd())]
runpy.run_module("nbuf.fleet", run_name="__main__", alter_sys=True)
"""


def _work(engine: Union[str, Executor], tasks: Path, workers: int, report: Any) -> None:
    rows = _nbuf.fleet_left(tasks)
    if not rows:
        return
    over = [0]

    def count(row: int, error: str | None) -> None:
        over[0] += 1
        if report is not None:
            report("working (tasks)", over[0], len(rows))

    running = start(engine, workers) if isinstance(engine, str) else nullcontext(Pool(engine, workers))
    with running as one:
        drive(one, str(tasks.parent.absolute()), rows, count)
