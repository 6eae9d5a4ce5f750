"""Arguments that are checked before any work: an error then costs no time."""

from __future__ import annotations

import math
import operator
from typing import Any

from nbuf import _nbuf
from nbuf._errors import Error

_PAGE_BYTES_MAX = 1 << 30
#: What the library holds in 64 bits.
BYTES_MAX = 2**64 - 1
#: More threads or workers than any machine has.
THREADS_MAX = 2**16 - 1


def whole(name: str, value: Any, least: int = 0, most: int = BYTES_MAX) -> int:
    """A whole number, of Python or NumPy."""
    try:
        number = operator.index(value)
    except TypeError:
        raise Error(f"{name} is {value!r}: write a whole number") from None
    if not least <= number <= most:
        raise Error(f"{name} is {number}: write a whole number from {least} to {most}")
    return number


def amount(name: str, value: Any) -> float | None:
    """A number that is not negative; None stays None."""
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or number < 0:
        raise Error(f"{name} is {value!r}: write a number that is not negative, such as 0.4")
    return number


def pages_of(size: str) -> int | None:
    """The pages or keys of a size such as `100` or `100p`; None for bytes and shares."""
    digits = size.strip().removesuffix("p").removesuffix("P")
    return int(digits) if digits.isascii() and digits.isdigit() else None


def size_text(name: str, size: Any) -> str:
    """Bytes in the grammar of the program."""
    return size if isinstance(size, str) else f"{whole(name, size)}B"


def checked_page(page: Any) -> int:
    """Bytes of a page of a curve, by the rule of `--page`."""
    number = checked_chunk(page)
    if number & (number - 1):
        raise Error(f"page is {page!r}: write a power of two up to 1GiB, such as 4096 or '4KiB'")
    return number


def checked_chunk(page: Any) -> int:
    """Bytes of a page where it needs not be a power of two."""
    number = _nbuf.size(size_text("page", page))
    if not 1 <= number <= _PAGE_BYTES_MAX:
        raise Error(f"page is {page!r}: write bytes from 1 to 1GiB, such as 4096 or '4KiB'")
    return number
