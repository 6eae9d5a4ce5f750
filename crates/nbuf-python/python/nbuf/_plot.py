"""Plots by matplotlib, which is imported when the first is drawn."""

from __future__ import annotations

from typing import Any

from nbuf._curve import Curve, points_of
from nbuf._errors import Error
from nbuf._results import library
from nbuf._svg import size_text


def plot(*curves: Curve, ax: Any = None, log: bool = True) -> Any:
    """Hit ratio against cache size, a line for each policy of each curve. The axes, for more."""
    if not curves:
        raise Error("plot draws curves: give at least one")
    for one in curves:
        if not isinstance(one, Curve):
            raise Error(f"plot draws curves, and not {type(one).__name__}: give what nbuf.curve returns")
    if ax is None:
        _, ax = library("matplotlib.pyplot").subplots()
    lines = [(curve, one) for curve in curves for one in curve.to_dict()["curves"]]
    for curve, one in lines:
        name = one["policy"]
        if len({other["page_bytes"] for other in curve.to_dict()["curves"]}) > 1:
            name = f"{name}, pages of {size_text(1, one['page_bytes'])}"
        if len(curves) > 1:
            name = f"{name}, {', '.join(curve.to_dict()['trace']['files'])}"
        points = [point for point in points_of(one) if point.size_pages > 0]
        (line,) = ax.plot(
            [point.size_pages for point in points], [point.hit_ratio for point in points], label=name
        )
        if points and points[0].lo is not None:
            sizes = [point.size_pages for point in points]
            low, high = [point.lo for point in points], [point.hi for point in points]
            ax.fill_between(sizes, low, high, alpha=0.2, color=line.get_color())
    page_bytes = lines[0][1]["page_bytes"] if lines else 0
    if log:
        ax.set_xscale("log", base=2)
    ax.xaxis.set_major_formatter(lambda pages, _: size_text(round(pages), page_bytes))
    ax.set_ylim(0, 1)
    ax.set_xlabel("cache size" if page_bytes else "cache size (keys)")
    ax.set_ylabel("hit ratio")
    ax.legend()
    return ax
