"""`python -m nbuf.fleet`: gives the rows of a plan that are left to an engine, for `nbuf fleet --on`.

A line of standard output names each row that is done or has failed; a last one says why there are no more.
The name `nbuf.fleet` stays the function, also for those who import this.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from nbuf import _nbuf
from nbuf._errors import Error
from nbuf._fleet import fleet as _fleet
from nbuf._runners import EngineFailed, drive, start

_INTERRUPTED = 130
_FAILED = 125


class _Callable(ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return _fleet(*arguments, **options)


def _say(*words: object) -> None:
    print(*words, flush=True)


def _report(row: int, error: str | None) -> None:
    _say("done" if error is None else "failed", row)


def _interrupt(number: int, frame: FrameType | None) -> None:
    # The first signal ends the engine; a second one must not end that.
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def _end_with_input() -> None:
    """Ends when the program that started this has ended, whatever ended it."""
    while sys.stdin.buffer.read(1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _run(name: str, tasks: Path, workers: int) -> None:
    rows = _nbuf.fleet_left(tasks)
    if not rows:
        return
    with start(name, min(workers, len(rows))) as engine:
        drive(engine, str(tasks.parent.absolute()), rows, _report)


def main(words: list[str] | None = None) -> int:
    """The status: 0 where all rows were done or have failed."""
    parser = argparse.ArgumentParser("python -m nbuf.fleet", description=__doc__)
    parser.add_argument("--on", default="dask", help="the engine")
    parser.add_argument("--tasks", type=Path, required=True, help="the plan")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="of a new local cluster")
    parser.add_argument("--serve", action="store_true", help="be a worker of the local runner")
    parser.add_argument("--end-with-input", action="store_true", help="end when standard input ends")
    given = parser.parse_args(words)
    if given.serve:
        _nbuf.fleet_serve(given.tasks)
        return 0
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    if given.end_with_input:
        threading.Thread(target=_end_with_input, daemon=True).start()
    try:
        _run(given.on, given.tasks, given.workers)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except EngineFailed as error:
        # The program says itself that the same command continues.
        _say("error", error.reason)
        return _FAILED
    except Error as error:
        _say("error", error)
        return _FAILED
    except Exception as error:
        _say("error", type(error).__name__, " ".join(str(error).split()))
        return _FAILED
    return 0


def _end(status: int) -> None:
    """Threads of an engine do not keep a process that is done."""
    sys.stdout.flush()
    os._exit(status)


if __name__ == "__main__":
    _end(main())
else:
    sys.modules[__name__].__class__ = _Callable
