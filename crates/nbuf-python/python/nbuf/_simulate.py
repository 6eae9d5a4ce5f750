"""One cache of one size, in front of nothing or of a disc."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

from nbuf import _nbuf
from nbuf._checks import checked_chunk, checked_page
from nbuf._curve import _sizes, curve
from nbuf._errors import Error
from nbuf._policy import Hooks, Policy, simulated
from nbuf._progress import Progress
from nbuf._results import Column, Result
from nbuf._trace import Size, Source, _run, read_trace


class Simulation(Result):
    """What one cache did. `elapsed_seconds` is None where there is no disc."""

    hit_ratio: float
    elapsed_seconds: float | None

    def __init__(self, document: dict[str, Any]) -> None:
        super().__init__(document)
        if "curves" in document:
            point = document["curves"][0]["points"][0]
            hits = point["accesses"] - point["misses"]
            self.hit_ratio = hits / point["accesses"] if point["accesses"] else 0.0
            self.elapsed_seconds = None
        else:
            self.hit_ratio = document["hit_ratio"]
            self.elapsed_seconds = document["elapsed_seconds"]

    def _columns(self) -> Sequence[Column]:
        return [
            ("hit_ratio", "f64", [self.hit_ratio]),
            ("elapsed_seconds", "f64", [self.elapsed_seconds]),
        ]

    def __repr__(self) -> str:
        return f"Simulation(hit_ratio={self.hit_ratio:.4f}, elapsed_seconds={self.elapsed_seconds})"


def simulate(
    trace: Source,
    *,
    size: Size,
    policy: Union[str, type[Policy], Policy, Hooks] = "lru",
    page: Size = 4096,
    disc: str | None = None,
    seed: int = 0,
    progress: Progress = None,
) -> Simulation:
    """One cache of a policy. With a disc such as `nvme-ssd`, in virtual time, as `nbuf replay` does.

    A policy may be one of your own in Python: a class with `hit`, `miss`, `evict` and `remove`, which is
    called with the size, or the `Hooks` of libCacheSim. That is experimental, and takes one thread.
    """
    trace = read_trace(trace)
    if not isinstance(policy, str):
        if disc is not None:
            raise Error("a policy in Python has no disc behind it: leave disc out, or name a policy of nbuf")
        return Simulation(simulated(trace, size, checked_page(page), policy, progress))
    if disc is None:
        drawn = curve(
            trace, policy=policy, sizes=size, page=page, seed=seed, progress=progress
        )
        return Simulation(drawn.to_dict())
    spec = {
        **trace._inputs(),
        "policy": policy,
        "sizes": _sizes(size),
        "unit": {"chunk": checked_chunk(page)},
        "disc": disc,
    }
    return Simulation(_run("replay", spec, trace, seed=seed, progress=progress))


def discs() -> list[dict[str, str]]:
    """The discs of `simulate`: name and summary of each."""
    return [dict(zip(("name", "summary"), row)) for row in _nbuf.discs()]
