"""Progress: a line on standard error, or what the caller does with it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Optional, Union

# Whether there is a line, or what is called with a stage, the steps done and all steps.
Progress = Optional[Union[bool, Callable[[str, int, int], object]]]

_WIDTH = 30


@contextmanager
def reporter(progress: Progress) -> Iterator[Callable[[str, int, int], object] | None]:
    """What to call with each report."""
    if progress is None or progress is False:
        yield None
    elif progress is True:
        try:
            yield _line
        finally:
            # A notebook, too, takes this as the end of the line that it overwrites.
            sys.stderr.write("\r" + " " * 78 + "\r")
            sys.stderr.flush()
    else:
        yield progress


def _line(stage: str, done: int, total: int) -> None:
    filled = _WIDTH * done // max(total, 1)
    bar = "#" * filled + "." * (_WIDTH - filled)
    sys.stderr.write(f"\r[{bar}] {done}/{total} {stage}"[:79])
    sys.stderr.flush()
