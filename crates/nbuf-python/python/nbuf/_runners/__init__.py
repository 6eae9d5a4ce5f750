"""Runners of engines: who does the rows of a plan. One file and one row each."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import ExitStack, contextmanager
from typing import Any, Protocol

from nbuf import _nbuf
from nbuf._errors import Error, MissingLibrary

Row = tuple[int, str]
#: Is called with the number of a row and its error, when the row is done.
Report = Callable[[int, "str | None"], object]


class Engine(Protocol):
    """An engine that runs."""

    #: Exceptions that say that workers died on a task, after the engine has tried it again.
    deaths: tuple[type[BaseException], ...]

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Has a worker call a function."""

    def slots(self) -> int:
        """How many tasks run at once now."""


#: The module of each engine, with what pip installs for it.
RUNNERS = {"dask": "nbuf[dask]", "ray": "nbuf[ray]"}


@contextmanager
def start(name: str, workers: int) -> Iterator[Engine]:
    """An engine that is started, or the one that its own variable of the environment names."""
    if name not in RUNNERS:
        raise Error(f"there is no runner `{name}`: write one of local, {', '.join(RUNNERS)}")
    with ExitStack() as stack:
        try:
            module = importlib.import_module(f"nbuf._runners.{name}")
            engine: Engine = stack.enter_context(module.engine(workers))
        except ImportError as error:
            raise MissingLibrary(f"{error.name} is not installed: pip install '{RUNNERS[name]}'") from error
        yield engine


def work(out: str, row: str) -> str | None:
    """Does a row, on a worker. Its error, if it has one."""
    return _nbuf.fleet_work(out, row)


class Pool:
    """An executor of the caller as an engine."""

    def __init__(self, executor: Executor, workers: int) -> None:
        self._executor, self._workers = executor, workers
        # A pool that breaks fails all of its tasks: it does not say on which of them a worker died.
        self.deaths: tuple[type[BaseException], ...] = ()

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        return self._executor.submit(work, *arguments)

    def slots(self) -> int:
        return self._workers


def drive(engine: Engine, out: str, rows: list[Row], report: Report) -> None:
    """Gives the rows to an engine, the first ones first, and no more than it does at once.

    So a worker that dies takes one task with it, and no other task is blamed.
    """
    waiting: Iterator[Row] = iter(rows)
    running: dict[Future[Any], Row] = {}
    try:
        while True:
            for number, text in waiting:
                running[engine.submit(work, out, text)] = (number, text)
                if len(running) >= max(engine.slots(), 1):
                    break
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                number, text = running.pop(future)
                try:
                    error = future.result()
                except BrokenExecutor as broken:
                    raise Error(
                        f"the executor is broken ({broken}): a worker died; give fewer workers, or engine='local', "
                        "which names the task"
                    ) from broken
                except engine.deaths as death:
                    error = f"poisoned: workers died on it ({type(death).__name__}); try it alone"
                    _nbuf.fleet_give_up(out, text, error)
                report(number, error)
    finally:
        for future in running:
            future.cancel()
