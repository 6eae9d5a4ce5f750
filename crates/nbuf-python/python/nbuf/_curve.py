"""Curves: what caches of other sizes and policies would hit."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Sequence
from typing import Any, Literal, Union

from nbuf import _nbuf
from nbuf._checks import amount, checked_page, pages_of, size_text, whole
from nbuf._errors import Error
from nbuf._progress import Progress
from nbuf._results import Column, Result
from nbuf._svg import Line, svg
from nbuf._trace import Size, Source, Trace, _run, read_trace

#: Policies that are made for objects; over pages they are another one, or near it.
ONLY_OBJECTS = ("gdsf", "redis", "memcached", "lhd", "adaptsize")

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


class Point:
    """A size of a curve, and what a cache of it does."""

    def __init__(self, point: dict[str, Any], page_bytes: int) -> None:
        self._point = point
        self.size_pages: int = point["pages"]
        #: None where the trace counts keys, which have no bytes.
        self.size_bytes: int | None = point["pages"] * page_bytes if page_bytes else None
        self.accesses: int = point["accesses"]
        self.misses: int = point["misses"]
        self.hits: int = self.accesses - self.misses
        self.hit_ratio: float = self.hits / self.accesses if self.accesses else 0.0
        self.miss_ratio: float = 1.0 - self.hit_ratio if self.accesses else 0.0
        #: The band of a sample; None where the count is exact.
        self.lo = self._ratio("misses_high")
        self.hi = self._ratio("misses_low")
        requests, missed = point.get("requests"), point.get("request_misses")
        self.request_hit_ratio: float | None = (
            (requests - missed) / requests if requests and missed is not None else None
        )

        #: What the misses cost, with `cost=`; else None.
        self.miss_cost: float | None = point.get("miss_cost")
        #: What came of the prefetches, with `prefetch=`: `prefetches`, `useful`, `useless`, `unused`, `device_reads`.
        self.prefetch: dict[str, int] | None = point.get("prefetch")
        asked, missed_bytes = point.get("bytes"), point.get("miss_bytes")
        #: The share of the bytes that hit; None where pages are counted and not objects.
        self.byte_hit_ratio: float | None = (
            (asked - missed_bytes) / asked if asked and missed_bytes is not None else None
        )

    def _ratio(self, name: str) -> float | None:
        misses = self._point.get(name)
        if misses is None or not self.accesses:
            return None
        return float((self.accesses - misses) / self.accesses)

    def __repr__(self) -> str:
        return f"Point(size_pages={self.size_pages}, hit_ratio={self.hit_ratio:.4f})"


def points_of(one: dict[str, Any]) -> list[Point]:
    """The points of a curve of a document."""
    return [Point(point, one["page_bytes"]) for point in one["points"]]



class Curve(Result):
    """The curves of one or several policies. The table has a row for each size of each."""

    def __init__(
        self, document: dict[str, Any], again: tuple[Trace, dict[str, Any]] | None = None
    ) -> None:
        super().__init__(document)
        self._again = again

    @property
    def policies(self) -> list[str]:
        """The policies, in order."""
        return [one["policy"] for one in self._document["curves"]]

    def points(self, policy: str | None = None) -> list[Point]:
        """The points of a policy, ascending by size; of the first one by default."""
        return points_of(self._one(policy))

    def at(self, size: Size, policy: str | None = None) -> Point:
        """The largest point that is not above a size: pages or keys such as `100` or `"100p"`, or bytes."""
        one = self._one(policy)
        pages = size if not isinstance(size, str) else _pages(size, one["page_bytes"])
        below = [point for point in self.points(policy) if point.size_pages <= pages]
        if not below:
            raise Error(f"the curve begins above {size}: draw it with sizes=[{size!r}]")
        return below[-1]

    def inverse(self, hit_ratio: float, policy: str | None = None) -> Point:
        """The smallest point with this hit ratio. `knee(curve, hit_ratio=...)` searches all sizes."""
        for point in self.points(policy):
            if point.hit_ratio >= hit_ratio:
                return point
        raise Error(f"no size of the curve has a hit ratio of {hit_ratio}: ask for less")

    def _one(self, policy: str | None) -> dict[str, Any]:
        curves: list[dict[str, Any]] = self._document["curves"]
        for one in curves:
            if policy is None or one["policy"] == policy:
                return one
        names = ", ".join(self.policies)
        raise Error(f"there is no curve of {policy}: it has {names}")

    def _columns(self) -> Sequence[Column]:
        rows = [
            (one["policy"], group, Point(point, one["page_bytes"]))
            for one in self._document["curves"]
            for group, points in _parts(one)
            for point in points
        ]
        numbers = [
            ("size_bytes", "u64"),
            ("size_pages", "u64"),
            ("accesses", "u64"),
            ("hits", "u64"),
            ("hit_ratio", "f64"),
            ("miss_ratio", "f64"),
            ("request_hit_ratio", "f64"),
            ("byte_hit_ratio", "f64"),
            ("miss_cost", "f64"),
            ("lo", "f64"),
            ("hi", "f64"),
        ]
        columns: list[Column] = [
            (name, kind, [getattr(point, name) for _, _, point in rows]) for name, kind in numbers
        ]
        columns.append(("policy", "str", [policy for policy, _, _ in rows]))
        columns.append(("group", "str", [group for _, group, _ in rows]))
        return columns

    def _lines(self) -> list[Line]:
        return [
            (one["policy"], [(point.size_pages, point.hit_ratio) for point in points])
            for one in self._document["curves"]
            if (points := [Point(point, one["page_bytes"]) for point in one["points"]])
        ]

    def _repr_html_(self) -> str:
        first = self._document["curves"][0] if self._document["curves"] else {}
        corners = first.get("corners") or {}
        return svg(self._lines(), first.get("page_bytes", 0), corners.get("knee_pages"))

    def __repr__(self) -> str:
        return f"Curve({', '.join(self.policies)} of {', '.join(self._document['trace']['files'])})"


class Recommendation(Result):
    """The three sizes of a curve, and the size that a target needs."""

    floor_pages: int | None
    knee_pages: int | None
    ceiling_pages: int | None
    #: The size that the hit ratio needs, or the nearest; None without one.
    size_pages: int | None
    is_met: bool | None

    def __init__(self, curve: dict[str, Any]) -> None:
        super().__init__(curve)
        corners, target = curve.get("corners") or {}, curve.get("target") or {}
        self.floor_pages = corners.get("floor_pages")
        self.knee_pages = corners.get("knee_pages")
        self.ceiling_pages = corners.get("ceiling_pages")
        self.size_pages = target.get("pages") if target else self.knee_pages
        self.is_met = target.get("met")
        self._page_bytes: int = curve["page_bytes"]

    @property
    def size_bytes(self) -> int | None:
        """The size in bytes; None where the trace counts keys."""
        if self.size_pages is None or not self._page_bytes:
            return None
        return self.size_pages * self._page_bytes

    def _columns(self) -> Sequence[Column]:
        names = ["floor_pages", "knee_pages", "ceiling_pages", "size_pages", "size_bytes"]
        return [(name, "u64", [getattr(self, name)]) for name in names]


def _parts(one: dict[str, Any]) -> list[tuple[str | None, list[dict[str, Any]]]]:
    """All of a curve, then its groups and windows."""
    parts: list[tuple[str | None, list[dict[str, Any]]]] = [(None, one["points"])]
    parts += [(group["name"], group["points"]) for group in one.get("groups", [])]
    parts += [(str(window["from_ns"]), window["points"]) for window in one.get("windows", [])]
    return parts


def _pages(size: str, page_bytes: int) -> int:
    """Pages or keys of a size. `100p` are pages of the curve, whatever their size."""
    if (pages := pages_of(size)) is not None:
        return pages
    if not page_bytes:
        raise Error(f"the keys of this trace have no bytes: write a number of them instead of {size}")
    return int(_nbuf.size(size) // page_bytes)


def _sizes(sizes: Size | Iterable[Size] | None) -> str | None:
    """Sizes in the grammar of the program: a number is pages or keys."""
    if sizes is None:
        return None
    if isinstance(sizes, str):
        return sizes
    many = sizes if isinstance(sizes, Iterable) else [sizes]
    return ",".join(one if isinstance(one, str) else str(whole("a size", one)) for one in many)


def _list(policy: str | Sequence[str]) -> list[str]:
    return policy.split(",") if isinstance(policy, str) else list(policy)


def _window(window: int | str | None) -> dict[str, int] | None:
    if window is None:
        return None
    text = str(window)
    if text.isdigit():
        return {"requests": int(text)}
    if text[-1:] in _SECONDS and text[:-1].isdigit():
        return {"nanoseconds": int(text[:-1]) * _SECONDS[text[-1]] * 1_000_000_000}
    raise Error(f"{window} is no window: write '1h', '10m', '30s', or a number of requests")


def _warmup(warmup: int | float | None) -> dict[str, int] | None:
    if warmup is None:
        return None
    try:
        return {"requests": operator.index(warmup)}  # type: ignore[arg-type]
    except TypeError:
        share = amount("warmup", warmup)
        return None if share is None else {"millionths": round(share * 1_000_000)}


def curve(
    trace: Source,
    *,
    policy: str | Sequence[str] = "lru",
    sizes: Size | Iterable[Size] | None = None,
    page: Size | Sequence[Size] = 4096,
    sample: Union[float, str, None] = None,
    by: Literal["file", "task", "op"] | None = None,
    window: int | str | None = None,
    unit: Literal["page", "request", "object"] = "page",
    writes: Literal["allocate", "around", "ignore", "store"] = "allocate",
    warmup: int | float | None = None,
    overhead: Size = 0,
    allocator: str = "exact",
    ttl: int | str | None = None,
    expired: Literal["evict", "free"] = "evict",
    oversized: Literal["bypass", "clear"] = "bypass",
    admit: str | Sequence[str] | None = None,
    cost: str | None = None,
    snapshot: str | os.PathLike[str] | None = None,
    prefetch: str | None = None,
    target: str | None = None,
    memory: Size | None = None,
    seed: int = 0,
    threads: int = 0,
    progress: Progress = None,
) -> Curve:
    """Counts what caches of these policies and sizes would hit, as `nbuf curve` does.

    A size that is a number counts pages or keys; a text is in the grammar of the program: `64MiB`, `10%`,
    `1000..500000`. `policy="all"` takes every policy.
    """
    is_table = hasattr(trace, "__arrow_c_stream__") and not isinstance(trace, Trace)
    trace = read_trace(trace, columns={"cost": cost} if cost is not None and is_table else None)
    names = _list(policy)
    if "all" in names:
        names = [row["name"] for row in policies() if row["name"] not in ONLY_OBJECTS]
    pages = list(page) if isinstance(page, Iterable) and not isinstance(page, str) else [page]
    if unit not in ("page", "request", "object"):
        raise Error(f"`{unit}` is no unit: write page, request or object")
    spec = {
        **trace._inputs(),
        "policies": names,
        "sizes": _sizes(sizes),
        "page_bytes": [checked_page(one) for one in pages],
        "whole": "no" if unit == "page" else "yes",
        "is_objects": unit == "object",
        "overhead_bytes": _nbuf.size(size_text("overhead", overhead)) if overhead else 0,
        "allocator": allocator,
        "ttl": ttl if ttl is None or isinstance(ttl, str) else f"{whole('ttl', ttl)}s",
        "expired": expired,
        "oversized": oversized,
        "admissions": [] if admit is None else [admit] if isinstance(admit, str) else list(admit),
        "cost": cost,
        "snapshot": None if snapshot is None else os.fspath(snapshot),
        "prefetch": prefetch,
        "writes": writes,
        "warmup": _warmup(warmup),
        "sample": sample if sample is None or isinstance(sample, str) else {"fixed": amount("sample", sample)},
        "every": _window(window),
        "by": by,
        "target": target,
        "memory": None if memory is None else size_text("memory", memory),
        "is_serial": threads == 1,
    }
    made = _run("curve", spec, trace, seed=seed, threads=threads, progress=progress)
    return Curve(made, (trace, spec))


def compare(
    trace: Source, *, policies: Sequence[str], sizes: Iterable[Size] | Size, **options: Any
) -> Curve:
    """The curves of several policies at the same sizes. The options are those of `curve`."""
    return curve(trace, policy=list(policies), sizes=sizes, **options)


def knee(
    of: Curve | Source, *, policy: str | None = None, hit_ratio: float | None = None, **options: Any
) -> Recommendation:
    """Floor, knee and ceiling of a curve or a trace, and the size that a hit ratio needs.

    A hit ratio is searched among all sizes: the trace of a curve is read once more for it.
    """
    if options and isinstance(of, Curve):
        names = ", ".join(options)
        raise Error(f"the curve is drawn already, without {names}: give that to curve, or give knee the trace")
    again = of._again if isinstance(of, Curve) else None
    if isinstance(of, Curve) and again is None:
        raise Error(
            "a merged curve has no trace to search for a knee: give the curve of a trace, or ask the merged one for a hit "
            "ratio with inverse(0.9)"
        )
    if hit_ratio is not None:
        target = f"hit={hit_ratio}"
        if again is not None:
            trace, spec = again
            of = Curve(_run("curve", {**spec, "target": target}, trace))
        else:
            of = curve(of, policy=policy or "lru", target=target, **options)
    elif not isinstance(of, Curve):
        of = curve(of, policy=policy or "lru", **options)
    return Recommendation(of._one(policy))


def policies() -> list[dict[str, str]]:
    """The policies: name, summary and source of each."""
    return [dict(zip(("name", "summary", "source"), row)) for row in _nbuf.policies()]


def formats() -> list[dict[str, str]]:
    """The formats of traces: name, unit, summary and parameters of each."""
    return [dict(zip(("name", "unit", "summary", "parameters"), row)) for row in _nbuf.formats()]


def patterns() -> list[dict[str, str]]:
    """The patterns of `generate`: name and summary of each."""
    return [dict(zip(("name", "summary"), row)) for row in _nbuf.patterns()]
