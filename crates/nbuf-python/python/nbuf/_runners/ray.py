"""Ray Core: the session that runs, the cluster of RAY_ADDRESS, or a new one on this machine."""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from nbuf._runners import EngineFailed, Work

#: How often a task is tried again whose worker died.
_RETRIES = 2


class _Engine:
    # A task costs some tens of milliseconds between the node, the driver and a worker.
    most = 32

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._remote: dict[Work, Any] = {}
        self._running: dict[Future[list[str | None]], Any] = {}
        names = ("WorkerCrashedError", "OutOfMemoryError", "NodeDiedError")
        found = (getattr(ray.exceptions, name, None) for name in names)
        self.deaths: tuple[type[BaseException], ...] = tuple(error for error in found if error)

    def submit(self, work: Work, out: str, rows: list[str]) -> Future[list[str | None]]:
        remote = self._remote.get(work)
        if remote is None:
            made = self._ray.remote(num_cpus=1, max_retries=_RETRIES)(work)
            remote = self._remote[work] = made
        task = remote.remote(out, rows)
        future: Future[list[str | None]] = task.future()
        self._running[future] = task
        # A future that is cancelled leaves its task running: `end` cancels the task.
        future.add_done_callback(lambda done: None if done.cancelled() else self._running.pop(done, None))
        return future

    def slots(self) -> int:
        if not any(node["Alive"] for node in self._ray.nodes()):
            # Ray would wait for another one for ever.
            raise EngineFailed("no node of the cluster is alive")
        return int(self._ray.cluster_resources().get("CPU", 1))

    def end(self) -> None:
        """Ends the tasks that run, and no others of the session."""
        for task in list(self._running.values()):
            self._ray.cancel(task)


@contextmanager
def engine(workers: int) -> Iterator[_Engine]:
    """A task uses one processor. A session that runs goes on afterwards; a new one is stopped."""
    ray = importlib.import_module("ray")
    if ray.is_initialized():
        joined = _Engine(ray)
        try:
            yield joined
        finally:
            joined.end()
        return
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if not os.environ.get("RAY_ADDRESS"):
        options |= {"num_cpus": workers, "include_dashboard": False}
    ray.init(**options)
    try:
        yield _Engine(ray)
    finally:
        ray.shutdown()
