"""Ray Core: the cluster of RAY_ADDRESS, or a new one on this machine."""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from nbuf._runners import Work

#: How often a task is tried again whose worker died.
_RETRIES = 2


class _Engine:
    most = 1

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._remote: dict[Work, Any] = {}
        names = ("WorkerCrashedError", "OutOfMemoryError", "NodeDiedError")
        found = (getattr(ray.exceptions, name, None) for name in names)
        self.deaths: tuple[type[BaseException], ...] = tuple(error for error in found if error)

    def submit(self, work: Work, out: str, rows: list[str]) -> Future[list[str | None]]:
        remote = self._remote.get(work)
        if remote is None:
            made = self._ray.remote(num_cpus=1, max_retries=_RETRIES)(work)
            remote = self._remote[work] = made
        future: Future[list[str | None]] = remote.remote(out, rows).future()
        return future

    def slots(self) -> int:
        return int(self._ray.cluster_resources().get("CPU", 1))


@contextmanager
def engine(workers: int) -> Iterator[_Engine]:
    """A task uses one processor."""
    ray = importlib.import_module("ray")
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if not os.environ.get("RAY_ADDRESS"):
        options |= {"num_cpus": workers, "include_dashboard": False}
    ray.init(**options)
    try:
        yield _Engine(ray)
    finally:
        ray.shutdown()
