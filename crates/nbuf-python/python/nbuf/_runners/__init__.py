"""Runners of engines: who does the rows of a plan. One file and one row each."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import ExitStack, contextmanager, suppress
from typing import Protocol

from nbuf import _nbuf
from nbuf._errors import Error, MissingLibrary
from nbuf._runners._rows import Row, Rows

#: Does rows of the folder that is its first argument: the error of each, or None.
Work = Callable[[str, list[str]], list[str | None]]
#: Is called with the number of a row and its error, when the row is done.
Report = Callable[[int, "str | None"], object]


class Engine(Protocol):
    """An engine that runs."""

    #: Exceptions that say that workers died on a task, after the engine has tried it again.
    deaths: tuple[type[BaseException], ...]
    #: How many rows one task of the engine has at most.
    most: int

    def submit(self, work: Work, out: str, rows: list[str]) -> Future[list[str | None]]:
        """Has a worker call a function."""

    def slots(self) -> int:
        """How many tasks run at once now."""


class EngineFailed(Error):
    """An engine does not start, or ended before all rows were done."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the engine failed ({reason}); finished tasks are kept, and the same call continues")
        self.reason = reason


@contextmanager
def plainly(*passing: type[BaseException]) -> Iterator[None]:
    """Every exception of an engine becomes an `Error` that says what to do; these pass."""
    try:
        yield
    except Exception as error:
        if isinstance(error, (Error, *passing)):
            raise
        if isinstance(error, BrokenExecutor):
            raise Error(
                f"the executor is broken ({error}): a worker died; give fewer workers, or engine='local', "
                "which names the task"
            ) from error
        text = " ".join(str(error).split())
        raise EngineFailed(f"{type(error).__name__}: {text}" if text else type(error).__name__) from error


#: Between two looks whether the engine still runs, and has more workers.
_LOOK_SECONDS = 5
#: The module of each engine, with what pip installs for it.
RUNNERS = {"dask": "nbuf[dask]", "ray": "nbuf[ray]", "spark": "nbuf[spark]"}
#: Modules that are the engine's own. Others are its business.
_MODULES = ("dask", "distributed", "ray", "pyspark", "pyarrow", "pandas")


def check(name: str) -> None:
    """Refuses a name that is none of an engine."""
    if name not in RUNNERS:
        raise Error(f"there is no runner `{name}`: write one of local, {', '.join(RUNNERS)}")


@contextmanager
def start(name: str, workers: int) -> Iterator[Engine]:
    """An engine that is started, or the one that its own variable of the environment names."""
    check(name)
    stack = ExitStack()
    with plainly():
        try:
            module = importlib.import_module(f"nbuf._runners.{name}")
            engine: Engine = stack.enter_context(module.engine(workers))
        except ModuleNotFoundError as error:
            if error.name not in _MODULES:
                raise
            raise MissingLibrary(f"{error.name} is not installed: pip install '{RUNNERS[name]}'") from error
    try:
        yield engine
    except BaseException:
        # An engine that has failed often fails again while it ends. The first failure is the reason.
        with suppress(Exception):
            stack.close()
        raise
    with plainly():
        stack.close()


def work(out: str, rows: list[str]) -> list[str | None]:
    """Does rows, on a worker. The error of each, if it has one."""
    return [_nbuf.fleet_work(out, row) for row in rows]


class Pool:
    """An executor of the caller as an engine."""

    most = 1

    def __init__(self, executor: Executor, workers: int) -> None:
        self._executor, self._workers = executor, workers
        # A pool that breaks fails all of its tasks: it does not say on which of them a worker died.
        self.deaths: tuple[type[BaseException], ...] = ()

    def submit(self, work: Work, out: str, rows: list[str]) -> Future[list[str | None]]:
        return self._executor.submit(work, out, rows)

    def slots(self) -> int:
        return self._workers


def drive(engine: Engine, out: str, rows: list[Row], report: Report) -> None:
    """Gives the rows to an engine, the first ones first, and no more tasks than it does at once.

    So a worker that dies takes one task with it. Rows that were in it together are tried again one by one: no
    other row is blamed.
    """
    waiting = Rows(rows, engine.most)
    running: dict[Future[list[str | None]], list[Row]] = {}
    try:
        while True:
            with plainly():
                while len(running) < (slots := max(engine.slots(), 1)) and (taken := waiting.take(slots)):
                    running[engine.submit(work, out, [text for _, text in taken])] = taken
            if not running:
                return
            for future in wait(running, _LOOK_SECONDS, FIRST_COMPLETED).done:
                taken = running.pop(future)
                try:
                    with plainly(*engine.deaths):
                        errors = future.result()
                except engine.deaths as death:
                    if len(taken) > 1:
                        waiting.give_back(taken)
                        continue
                    errors = [f"poisoned: workers died on it ({type(death).__name__}); try it alone"]
                    _nbuf.fleet_give_up(out, taken[0][1], str(errors[0]))
                for (number, _), error in zip(taken, errors):
                    report(number, error)
    finally:
        for future in running:
            future.cancel()
