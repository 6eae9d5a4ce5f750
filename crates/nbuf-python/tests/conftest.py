"""What tests share: traces with known accesses, and the program that nbuf is checked against."""

import json
import os
import signal
import subprocess

import nbuf
import numpy
import pyarrow
import pytest

# A run in the background (nohup) ignores SIGINT, and its child processes inherit that. They would miss the Ctrl-C
# of a test. A handler is not inherited: with one here, children have the default of the system.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def program():
    """Runs the program; its standard output. Without a built program, what needs it is skipped."""
    path = os.environ.get("NBUF_PROGRAM")
    if not path or not os.path.exists(path):
        pytest.skip("no program was built: cargo build")

    def run(*arguments):
        words = [path, "-q", *map(str, arguments)]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout

    return run


@pytest.fixture(scope="session")
def document(program):
    """The document that the program prints."""
    return lambda *arguments: json.loads(program(*arguments))


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("traces")


@pytest.fixture(scope="session")
def zipf(folder):
    """Keys, as oracleGeneral."""
    return nbuf.generate("zipf", folder / "zipf.oracleGeneral", accesses=20_000, pages=2000)


@pytest.fixture(scope="session")
def requests():
    """Requests of bytes: to files, of all operations, of several pages."""
    random = numpy.random.default_rng(7)
    count = 5000
    files = numpy.array(["/data/a", "/data/b", "/data/c d"])
    return pyarrow.table(
        {
            "time_ns": numpy.arange(count, dtype="i8") * 1000,
            "op": numpy.array([0, 1, 6], dtype="u1")[random.choice(3, count, p=[0.8, 0.15, 0.05])],
            "file": files[random.integers(0, 3, count)],
            "offset_bytes": random.integers(0, 1 << 21, count, dtype="u8"),
            "length_bytes": random.integers(1, 20_000, count, dtype="u4"),
            "task": random.integers(1, 4, count, dtype="u4"),
        }
    )


@pytest.fixture(scope="session")
def native(folder, requests):
    """The same requests in a file."""
    return nbuf.write_trace(requests, folder / "native.parquet")
