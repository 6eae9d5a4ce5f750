"""The program `nbuf`, for what runs commands: a process of its own watches them."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Union

from nbuf._checks import size_text
from nbuf._errors import Error, MissingFile
from nbuf._results import Column, Result
from nbuf._trace import Size, Trace

Command = Union[str, Sequence[str]]

#: What the program gets to end after Ctrl-C.
_GRACE_SECONDS = 10


class SizeResult(Result):
    """The document of `nbuf size --json`."""

    @property
    def limit_bytes(self) -> int | None:
        """The limit to set; None where none is recommended."""
        advice = self._document.get("recommend")
        return None if advice is None else int(advice["limit_bytes"])


class LiveSize(SizeResult):
    """The document of `nbuf size --pid --json`. The table has a row for each size that the window shows."""

    @property
    def limit_bytes(self) -> int | None:
        """The limit with which the target is met; None where no known size meets it."""
        answer = self._document["answer"]
        return None if answer is None else int(answer["limit_bytes"])

    def _columns(self) -> Sequence[Column]:
        kinds = {"cache_bytes": "u64", "limit_bytes": "u64"}
        names = [*kinds, "hit_ratio", "misses_per_second", "misses_per_second_low", "misses_per_second_high"]
        points = self._document["points"]
        return [(name, kinds.get(name, "f64"), [point[name] for point in points]) for name in names]


class Verification(SizeResult):
    """The same, with the runs at a limit that was given."""


def program() -> str:
    """The path of the program: from NBUF_PROGRAM, this installation, or PATH."""
    if sys.platform != "linux":
        raise Error(
            f"the program nbuf needs Linux, and this is {sys.platform}: size, record and verify work only there; read "
            "a recording here with nbuf.read_trace"
        )
    named = os.environ.get("NBUF_PROGRAM")
    if named:
        return named
    for folder in (sysconfig.get_path("scripts"), os.path.dirname(sys.executable)):
        path = os.path.join(folder, "nbuf")
        if os.access(path, os.X_OK):
            return path
    user = os.path.join(os.path.expanduser("~"), ".local", "bin")
    found = shutil.which("nbuf", path=os.pathsep.join([user, os.environ.get("PATH", "")]))
    if found is None:
        raise MissingFile(
            "the program nbuf is not installed here: this package was built from its sources, without "
            "it; put nbuf on PATH, or name it with NBUF_PROGRAM"
        )
    return found


def _arguments(cmd: Command) -> list[str]:
    try:
        words = shlex.split(cmd) if isinstance(cmd, str) else [os.fspath(word) for word in cmd]
    except ValueError as error:
        raise Error(f"the command {cmd!r} cannot be read ({error}): close its quotes, or write a list of words") from None
    if not words:
        raise Error("there is no command: write a text or a list of words")
    return words


def _call(arguments: Sequence[str], stdout: int | None) -> subprocess.CompletedProcess[str]:
    """Runs the program. What it says goes on to standard error."""
    words = [program(), *arguments]
    process = subprocess.Popen(words, stdout=stdout, stderr=subprocess.PIPE, encoding="utf-8", errors="replace")
    try:
        out, said = process.communicate()
    except BaseException:
        sys.stderr.write(_end(process))
        raise
    sys.stderr.write(said)
    return subprocess.CompletedProcess(words, process.returncode, out, said)


def _end(process: subprocess.Popen[str]) -> str:
    """Ends the program by Ctrl-C, and gives it time to write what it has. What it said."""
    # A terminal has interrupted it already, and a second signal would kill its command.
    is_terminal = sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()
    for number in (0, signal.SIGINT) if is_terminal else (signal.SIGINT,):
        process.send_signal(number)
        end = time.monotonic() + _GRACE_SECONDS
        while time.monotonic() < end:
            try:
                return process.communicate(timeout=max(end - time.monotonic(), 0))[1]
            except subprocess.TimeoutExpired:
                break
            except KeyboardInterrupt:
                continue
    process.kill()
    return process.communicate()[1]


def _failed(done: subprocess.CompletedProcess[str]) -> Error:
    lines = [line for line in done.stderr.splitlines() if line.startswith("nbuf: ")]
    text = lines[-1].removeprefix("nbuf: ") if lines else f"nbuf ended with status {done.returncode}"
    return Error(text)


def _document(arguments: Sequence[str]) -> dict[str, Any]:
    done = _call(arguments, subprocess.PIPE)
    try:
        document: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise _failed(done) from None
    return document


def size(
    cmd: Command | None = None,
    *,
    pid: int | None = None,
    cgroup: str | None = None,
    unit: str | None = None,
    container: str | None = None,
    pod: str | None = None,
    seconds: float | None = None,
    target: str | None = None,
    verify: bool = True,
    options: Sequence[str] = (),
) -> SizeResult:
    """How much page cache a command needs, as `nbuf size --json -- COMMAND`. More options of it as words.

    With `pid`, `cgroup`, `unit`, `container` or `pod` instead: what runs already, watched for some seconds.
    """
    asked = {"pid": pid, "cgroup": cgroup, "unit": unit, "container": container, "pod": pod}
    running = [word for name, one in asked.items() if one is not None for word in (f"--{name}", str(one))]
    flags = [] if target is None else ["--target", target]
    if cmd is not None:
        if running or seconds is not None:
            raise Error("size takes a command, or what runs already with a number of seconds, not both")
        flags += [] if verify else ["--no-verify"]
        return SizeResult(_document(["size", "--json", *flags, *options, "--", *_arguments(cmd)]))
    if len(running) != 2:
        raise Error(f"size takes a command, or one of {', '.join(asked)}: give one of them")
    flags += [] if seconds is None else ["--for", f"{seconds}s"]
    return LiveSize(_document(["size", "--json", *running, *flags, *options]))


def verify(
    cmd: Command, limit: Size, *, samples: int = 1, options: Sequence[str] = ()
) -> Verification:
    """Runs a command under a limit, and whether it fills what was predicted: `nbuf size --verify-at`."""
    flags = ["--verify-at", size_text("limit", limit), "--samples", str(samples)]
    return Verification(_document(["size", "--json", *flags, *options, "--", *_arguments(cmd)]))


def record(
    cmd: Command | None = None,
    out: str | os.PathLike[str] | None = None,
    *,
    pid: int | None = None,
    cgroup: str | None = None,
    seconds: float | None = None,
    options: Sequence[str] = (),
) -> Trace:
    """Records what a command, a process or a cgroup asks of the page cache, as `nbuf record`."""
    if out is None:
        raise Error("record writes a file: name it with out=")
    if Path(out).exists():
        raise Error(f"{os.fspath(out)} exists: move it away, or give another name with out=")
    words = ["record", "-o", os.fspath(out), *options]
    if pid is not None:
        words += ["--pid", str(pid)]
    if cgroup is not None:
        words += ["--cgroup", cgroup]
    if seconds is not None:
        words += ["--for", f"{seconds}s"]
    if cmd is not None:
        words += ["--", *_arguments(cmd)]
    # The command writes to the output of this process.
    done = _call(words, None)
    if not Path(out).exists():
        raise _failed(done)
    return Trace([os.fspath(out)], None, "native")
