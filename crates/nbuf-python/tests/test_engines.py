"""What goes wrong with an engine is one exception that says what to do, and finished tasks stay."""

import sys
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager

import nbuf
import pytest
from nbuf._runners import dask, start


@pytest.fixture
def volumes(tmp_path, monkeypatch):
    """Three volumes, in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v").mkdir()
    for seed in range(3):
        nbuf.generate("zipf", f"v/{seed}.oracleGeneral", accesses=1000, pages=100, seed=seed)
    return tmp_path


class Doomed(Executor):
    """Does some tasks, and fails from then on."""

    def __init__(self, tasks, error):
        self.left, self.error = tasks, error

    def submit(self, work, *words):
        future = Future()
        self.left -= 1
        if self.left >= 0:
            future.set_result(work(*words))
        else:
            future.set_exception(self.error)
        return future


class Ended(Doomed):
    """An executor that takes no more tasks."""

    def submit(self, work, *words):
        if self.left == 0:
            raise self.error
        return super().submit(work, *words)


class KilledWorker(Exception):
    """As an executor of Dask raises it, whose type nbuf does not import."""


FAILURES = [
    (Doomed, KilledWorker("4 workers died"), r"KilledWorker: 4 workers died"),
    (Doomed, OSError("Timed out\nduring handshake"), r"OSError: Timed out during handshake"),
    (Doomed, CancelledError(), r"CancelledError"),
    (Ended, RuntimeError("cannot schedule new futures"), r"RuntimeError: cannot schedule"),
]


@pytest.mark.parametrize(("kind", "error", "words"), FAILURES)
def test_an_engine_that_fails_is_an_error_and_finished_tasks_stay(volumes, kind, error, words):
    match = rf"the engine failed \({words}.*\); finished tasks are kept, and the same call continues"
    with pytest.raises(nbuf.Error, match=match) as raised:
        nbuf.fleet("v", out="out", engine=kind(2, error), workers=1)
    assert raised.value.__cause__ is error
    assert len(list((volumes / "out/rows").glob("*.json"))) == 2
    with pytest.raises(nbuf.Error, match=rf"the engine failed \({words}.*\): give out= a folder"):
        nbuf.fleet("v", engine=kind(2, error), workers=1)
    done = nbuf.fleet("v", out="out", engine=Doomed(1, error), workers=1)
    assert done.checksum == nbuf.fleet("v", workers=1).checksum


def test_ctrl_c_and_exceptions_of_progress_stay_what_they_are(volumes):
    with pytest.raises(KeyboardInterrupt):
        nbuf.fleet("v", engine=Doomed(0, KeyboardInterrupt()), workers=1)

    def enough(stage, done, total):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        nbuf.fleet("v", engine=Doomed(9, None), workers=1, progress=enough)


def test_an_engine_that_is_not_installed_is_named(monkeypatch):
    pytest.importorskip("dask")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(nbuf.MissingLibrary, match=r"distributed is not installed: pip install 'nbuf\[dask\]'"):
        with start("dask", 1):
            pass


@pytest.mark.parametrize("error", [ImportError("cannot import name x"), OSError("no port is free")])
def test_an_engine_that_does_not_start_is_not_called_missing(volumes, monkeypatch, error):
    @contextmanager
    def engine(workers):
        raise error
        yield

    monkeypatch.setattr(dask, "engine", engine)
    with pytest.raises(nbuf.Error, match=rf"the engine failed \({type(error).__name__}: {error}\)") as raised:
        nbuf.fleet("v", engine="dask", workers=1)
    assert not isinstance(raised.value, ImportError)
