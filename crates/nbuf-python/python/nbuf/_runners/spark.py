"""Spark: the session that runs, the cluster of MASTER, or a new local one. `mapInArrow` over rows.

Each task of `drive` is a job of one partition, from a thread of its own: a job that fails says which rows it had.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import signal
import sys
import threading
import uuid
import warnings
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from nbuf._errors import Error, MissingLibrary
from nbuf._runners import EngineFailed, Work

#: How often a task is tried on a new local cluster. Its default is once.
_TRIES = 3
#: Threads that wait for jobs, started as jobs are. No cluster is known to do more rows at once.
_THREADS = 4096
#: A new local cluster needs no name of this machine, and has nothing to show.
_LOCAL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.executorEnv.PYTHONSAFEPATH": "1",
    "spark.log.level": "OFF",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_SCHEMA = "error string, raised string"
#: A task that failed as often as it may, because its workers died. Other failures are those of the cluster.
_GIVEN_UP = re.compile(r"Task \d+ in stage [\d.]+ failed \d+ times")
_DEATH = re.compile(r"exited unexpectedly|ExecutorLostFailure|worker .*crashed|EOFException|Connection reset")
_PYTHON = "Traceback (most recent call last)"


class WorkersDied(Exception):
    """Workers died on a task as often as Spark tries it."""


class _Engine:
    deaths: tuple[type[BaseException], ...] = (WorkersDied,)
    # A job costs some hundreds of milliseconds of Java.
    most = 128

    def __init__(self, session: Any, workers: int) -> None:
        self._session = session
        self._context = session.sparkContext
        self._workers = workers
        self._group = f"nbuf-{uuid.uuid4()}"
        self._is_over = False
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix=self._group)

    def submit(self, work: Work, out: str, rows: list[str]) -> Future[list[str | None]]:
        return self._threads.submit(self._job, work, out, rows)

    def slots(self) -> int:
        # Where executors come as they are needed, only tasks that wait bring more of them.
        return max(int(self._context.defaultParallelism), self._workers)

    def _job(self, work: Work, out: str, rows: list[str]) -> list[str | None]:
        def do(batches: Iterator[Any]) -> Iterator[Any]:
            return _do(work, out, rows, batches)

        self._context.setJobGroup(self._group, "nbuf fleet", interruptOnCancel=True)
        if self._is_over:
            raise Error("the fleet is over")
        try:
            # The rows go with the function: a table of texts of Python would cost a second worker.
            done = self._session.range(0, len(rows), 1, numPartitions=1).mapInArrow(do, _SCHEMA).collect()
        except OSError as error:
            raise EngineFailed("its Java has ended; a new process starts another one") from error
        except Exception as error:
            text = str(error)
            if _GIVEN_UP.search(text) and _DEATH.search(text) and _PYTHON not in text:
                raise WorkersDied from error
            raise EngineFailed(_reason(text)) from error
        for one in done:
            if one.raised is not None:
                raise Error(one.raised)
        return [one.error for one in done]

    def end(self) -> None:
        """Ends the jobs that run, and no others of the session."""
        self._is_over = True
        try:
            self._threads.shutdown(wait=False, cancel_futures=True)
        finally:
            self._context.cancelJobGroup(self._group)


def _do(work: Work, out: str, rows: list[str], batches: Iterator[Any]) -> Iterator[Any]:
    """Does the rows whose numbers a partition has, on a worker.

    An exception is data: Spark would try the rows again, and wrap it.
    """
    arrow = importlib.import_module("pyarrow")
    schema = arrow.schema([("error", arrow.string()), ("raised", arrow.string())])
    for batch in batches:
        taken = [rows[number] for number in batch.column(0).to_pylist()]
        done: dict[str, list[str | None]]
        try:
            done = {"error": work(out, taken), "raised": [None] * len(taken)}
        except Exception as error:
            done = {"error": [None], "raised": [str(error) or type(error).__name__]}
        yield arrow.RecordBatch.from_pydict(done, schema=schema)


def _reason(text: str) -> str:
    """Why a job failed: the first exception of a worker's Python, else the first lines."""
    before, found, after = text.partition(_PYTHON)
    said = re.search(r"^\w[\w.]*: .+$", after, re.MULTILINE)
    if found and said:
        return said.group()
    return " ".join(before.split("\n\tat ")[0].split())[:300]


@contextmanager
def engine(workers: int) -> Iterator[_Engine]:
    """A task uses one core. A session that runs goes on afterwards; a new one is stopped."""
    # A table of numbers and texts does not use what it does not support.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    sql = importlib.import_module("pyspark.sql")
    importlib.import_module("pyarrow")
    if os.environ.get("SPARK_REMOTE"):
        raise Error("SPARK_REMOTE names a server of Spark Connect, which runs no fleet: unset it, and set MASTER")
    # A session that another thread began is not active in this one, and a context needs no session.
    own = importlib.import_module("pyspark").SparkContext._active_spark_context is None
    session = _start(sql, workers) if own else sql.SparkSession.builder.getOrCreate()
    one = _Engine(session, workers)
    try:
        yield one
    finally:
        try:
            one.end()
        finally:
            if own:
                session.stop()


def _start(sql: Any, workers: int) -> Any:
    builder = sql.SparkSession.builder.appName("nbuf fleet")
    is_submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    if not is_submitted:
        _find_java()
    if master := os.environ.get("MASTER"):
        builder = builder.master(master)
    elif not is_submitted and "--master" not in os.environ.get("PYSPARK_SUBMIT_ARGS", ""):
        # Workers are of the Python that has nbuf.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = builder.master(f"local[{workers},{_TRIES}]")
        for name, value in _LOCAL.items():
            builder = builder.config(name, value)
    before = signal.getsignal(signal.SIGINT)
    session = builder.getOrCreate()
    # Spark has put its own handler there, which waits for the jobs that it ends.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, before)
    return session


def _find_java() -> None:
    """Spark itself looks for it in the same places, and says less."""
    if home := os.environ.get("JAVA_HOME"):
        if not os.access(os.path.join(home, "bin", "java"), os.X_OK):
            raise MissingLibrary(f"JAVA_HOME is {home}, which has no bin/java: set it to a Java 17 or later")
    elif not shutil.which("java"):
        raise MissingLibrary(
            "Spark needs Java, and there is no `java`: install Java 17 or later, as Debian's openjdk-17-jre-headless, "
            "or set JAVA_HOME"
        )
