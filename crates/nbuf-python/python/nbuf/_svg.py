"""A chart of curves for a notebook: hit ratio against cache size, in plain SVG."""

from __future__ import annotations

import html
import math

Line = tuple[str, list[tuple[int, float]]]

_WIDTH, _HEIGHT = 640, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 120, 12, 36
_COLOURS = ["#0b62a4", "#c2410c", "#15803d", "#7c3aed", "#b91c1c", "#0f766e", "#a16207", "#475569"]


def svg(lines: list[Line], page_bytes: int, knee_pages: int | None) -> str:
    """The chart. Sizes are on a logarithmic axis."""
    sizes = [size for _, points in lines for size, _ in points if size > 0]
    if not sizes:
        return "<p>There is no curve.</p>"
    low, high = math.log2(min(sizes)), math.log2(max(sizes))
    span = max(high - low, 1e-9)

    def x(size: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (math.log2(max(size, 1)) - low) / span

    def y(ratio: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1.0 - ratio)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" role="img" font-family="sans-serif" font-size="11" '
        'fill="currentColor"><title>Hit ratio against cache size</title>'
    ]
    for percent in (0, 25, 50, 75, 100):
        at = y(percent / 100)
        parts.append(
            f'<path d="M{_LEFT} {at:.1f}H{_WIDTH - _RIGHT}" stroke="currentColor" opacity="0.15"/>'
            f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{percent}%</text>'
        )
    for power in _ticks(low, high):
        at = x(2.0**power)
        parts.append(
            f'<text x="{at:.1f}" y="{_HEIGHT - 16}" text-anchor="middle">'
            f"{size_text(2**power, page_bytes)}</text>"
        )
    if knee_pages and low <= math.log2(knee_pages) <= high:
        at = x(knee_pages)
        parts.append(
            f'<path d="M{at:.1f} {_TOP}V{_HEIGHT - _BOTTOM}" stroke="currentColor" '
            f'stroke-dasharray="3 3" opacity="0.6"/><text x="{at + 4:.1f}" y="{_TOP + 10}">knee '
            f"{size_text(knee_pages, page_bytes)}</text>"
        )
    for number, (name, points) in enumerate(lines):
        colour = _COLOURS[number % len(_COLOURS)]
        path = " ".join(f"{x(size):.1f},{y(ratio):.1f}" for size, ratio in points if size > 0)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
            f'<text x="{_WIDTH - _RIGHT + 8}" y="{_TOP + 12 + 15 * number}" fill="{colour}">'
            f"{html.escape(name)}</text>"
        )
    parts.append("</svg>")
    return "".join(parts)


def _ticks(low: float, high: float) -> list[int]:
    first, last = math.ceil(low), math.floor(high)
    step = max(1, (last - first) // 6 + 1)
    return list(range(first, last + 1, step))


def size_text(pages: int, page_bytes: int) -> str:
    """A size for people: bytes where a page has them, else a number of keys."""
    number, units = pages * (page_bytes or 1), ["", "k", "M", "G"]
    base = 1000
    if page_bytes:
        units, base = ["B", "KiB", "MiB", "GiB", "TiB"], 1024
    value = float(number)
    for unit in units[:-1]:
        if value < base:
            return f"{value:.3g} {unit}".strip() if page_bytes else f"{value:.3g}{unit}"
        value /= base
    return f"{value:.3g} {units[-1]}" if page_bytes else f"{value:.3g}{units[-1]}"
