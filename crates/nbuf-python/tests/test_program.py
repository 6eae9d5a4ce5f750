"""The program that comes with the package."""

import os
import subprocess
import sys

import nbuf
import pytest


def test_the_module_is_the_program(program):
    words = [sys.executable, "-m", "nbuf", "--version"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == program("--version")
    done = subprocess.run([sys.executable, "-m", "nbuf", "curve"], capture_output=True, text=True)
    assert done.returncode == 2 and "Usage" in done.stderr


@pytest.mark.parametrize("call", [lambda: nbuf.size("true"), lambda: nbuf.record("true", "never"), lambda: nbuf.verify("true", "1MiB")])
def test_without_linux_there_is_one_error(monkeypatch, call):
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(nbuf.Error, match="needs Linux, and this is darwin"):
        call()


def test_without_a_program_there_is_one_line(tmp_path):
    environment = {name: of for name, of in os.environ.items() if name != "NBUF_PROGRAM"}
    environment |= {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    words = [sys.executable, "-m", "nbuf", "--version"]
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    if done.returncode == 0:
        pytest.skip("a program is installed next to this python")
    assert done.stderr.startswith("nbuf: the program nbuf is not installed here")
    assert done.stderr.count("\n") == 1


def test_a_recording_is_a_trace(program, tmp_path):
    data = tmp_path / "data"
    data.write_bytes(os.urandom(1 << 20))
    trace = nbuf.record(["cat", str(data)], tmp_path / "cat.parquet", options=["--capture", "calls"])
    files = trace.to_polars()["file"].to_list()
    assert str(data) in files
    with pytest.raises(nbuf.Error, match="not-a-command"):
        nbuf.record("not-a-command", tmp_path / "none.parquet")


def test_ctrl_c_keeps_a_recording(program, tmp_path):
    """A notebook interrupts Python alone: nbuf has to be interrupted by it, and needs time to write."""
    data, out = tmp_path / "data", tmp_path / "cut.parquet"
    data.write_bytes(os.urandom(1 << 20))
    script = f"""
import nbuf, os, signal, threading, time
def interrupt():
    # A command that reads has begun.
    while not os.path.exists({str(tmp_path / "began")!r}):
        time.sleep(0.02)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
command = ["sh", "-c", "cat {data} > /dev/null; touch {tmp_path / "began"}; exec sleep 600"]
try:
    nbuf.record(command, {str(out)!r}, options=["--capture", "calls"])
except KeyboardInterrupt:
    print("interrupted")
"""
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
    assert done.stdout == "interrupted\n", done.stderr
    assert str(data) in nbuf.read_trace(out).to_polars()["file"].to_list()


def test_a_size_is_the_document_of_the_program(program, tmp_path):
    data = tmp_path / "data"
    data.write_bytes(os.urandom(4 << 20))
    command = ["sh", "-c", f"cat {data} {data} > /dev/null"]
    found = nbuf.size(command, verify=False, options=["--force", "--capture", "calls"])
    assert found.to_dict()["command"] == command
    assert found.limit_bytes and found.limit_bytes % (1 << 20) == 0


@pytest.mark.parametrize(
    "options, words",
    [
        ({}, "takes a command, or one of pid, cgroup, unit, container, pod"),
        ({"pid": 1, "unit": "ssh"}, "give one of them"),
        ({"cmd": "true", "pid": 1}, "not both"),
        ({"pid": 2**31 - 1, "seconds": 1}, "process"),
        ({"cmd": "cat 'data"}, "cannot be read"),
    ],
)
def test_what_size_cannot_watch_is_said(program, options, words):
    with pytest.raises(nbuf.Error, match=words):
        nbuf.size(**options)
