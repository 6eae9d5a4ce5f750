"""The types are true: strictly checked, and the stub is what the module has."""

import os
import pathlib
import subprocess
import sys

import nbuf

PACKAGE = pathlib.Path(nbuf.__file__).parent


def check(*words):
    command = [sys.executable, "-m", *words]
    done = subprocess.run(command, cwd=PACKAGE.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_stub_is_what_the_module_has():
    check("mypy.stubtest", "nbuf")


def test_the_package_is_strictly_typed():
    check("mypy", "--strict", "-p", "nbuf")


def test_a_word_that_is_none_is_a_mistake_of_types(tmp_path):
    calls = [
        'nbuf.fleet("t", engine="flink")',
        'nbuf.fleet("t", by="rack")',
        'nbuf.fleet("t", partitions="volume")',
        'nbuf.merge([], how="shared")',
        'nbuf.curve("t", by="host")',
        'nbuf.curve("t", unit="byte")',
        'nbuf.read_trace(kye=[1])',
    ]
    right = [
        'nbuf.fleet("t", engine="ray", by="host", partitions="file")',
        'nbuf.curve("t", by="op")',
        "nbuf.read_trace(key=[1], ttl=[2])",
    ]
    (tmp_path / "calls.py").write_text("\n".join(["import nbuf", *calls, *right]) + "\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "calls.py"]
    environment = os.environ | {"MYPYPATH": str(PACKAGE.parent)}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    wrong = {int(line.split(":")[1]) for line in done.stdout.splitlines() if line.startswith("calls.py:")}
    assert wrong == set(range(2, 2 + len(calls))), done.stdout + done.stderr


def test_import_is_quick_and_needs_no_library():
    script = """
import sys, time
begin = time.perf_counter()
import nbuf
seconds = time.perf_counter() - begin
print(seconds, sorted({"numpy", "pandas", "polars", "pyarrow", "matplotlib"} & set(sys.modules)))
"""
    words = [sys.executable, "-c", script]
    outputs = [subprocess.run(words, capture_output=True, text=True, cwd=PACKAGE.parent).stdout for _ in range(3)]
    seconds = min(float(output.split(" ", 1)[0]) for output in outputs)
    # Ten times what is promised.
    assert seconds < 1.0
    assert all(output.endswith(" []\n") for output in outputs), outputs
