"""What a fleet is asked: a hit ratio, a budget and prices."""

from __future__ import annotations

import json
from typing import Any

from nbuf import _nbuf
from nbuf._checks import BYTES_MAX, amount, pages_of, whole
from nbuf._errors import Error


def ask(hit_ratio: Any, budget: Any, page_bytes: int, **prices: Any) -> str:
    """The question as the library takes it. Refuses what has no answer."""
    ratio = amount("hit_ratio", hit_ratio)
    if ratio is None or not 0.0 < ratio < 1.0:
        raise Error(f"{hit_ratio} is no hit ratio: write a share between 0 and 1, such as 0.9")
    question = {name: amount(name, price) for name, price in prices.items()}
    return json.dumps({"hit_ratio": ratio, "budget": _budget_bytes(budget, page_bytes), **question})


def _budget_bytes(budget: Any, page_bytes: int) -> int | None:
    """Bytes of a budget. A number counts pages or keys, as sizes of curves do."""
    if budget is None:
        return None
    pages = pages_of(budget) if isinstance(budget, str) else whole("budget", budget)
    if pages is None and not page_bytes:
        raise Error(f"the curves count keys, which have no bytes: write a number of them instead of {budget}")
    found = _nbuf.size(budget) if pages is None else pages * (page_bytes or 1)
    if not 1 <= found <= BYTES_MAX:
        raise Error(f"budget is {budget!r}: write a number of pages or keys from 1 on, or an amount such as '64GiB'")
    return found
