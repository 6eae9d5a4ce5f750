"""Dask distributed: the cluster of DASK_SCHEDULER_ADDRESS, or a new one on this machine."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from nbuf._runners import Work


class _Engine:
    # A task costs some tens of milliseconds between the scheduler, the client and a worker.
    most = 32

    def __init__(self, client: Any, deaths: tuple[type[BaseException], ...]) -> None:
        self._client = client
        self._executor = client.get_executor(pure=False)
        self.deaths = deaths

    def submit(self, work: Work, out: str, rows: list[str]) -> Future[list[str | None]]:
        future: Future[list[str | None]] = self._executor.submit(work, out, rows)
        return future

    def slots(self) -> int:
        return sum(self._client.nthreads().values())


@contextmanager
def engine(workers: int) -> Iterator[_Engine]:
    """A task uses one thread, so a worker has one."""
    dask = importlib.import_module("dask")
    distributed = importlib.import_module("distributed")
    deaths = (distributed.KilledWorker,)
    address = dask.config.get("scheduler-address", None)
    if address:
        with distributed.Client(address) as client:
            yield _Engine(client, deaths)
        return
    cluster = distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        dashboard_address=None,
        silence_logs=logging.CRITICAL,
    )
    with cluster, distributed.Client(cluster) as client:
        yield _Engine(client, deaths)
