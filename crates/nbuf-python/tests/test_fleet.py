"""Fleets: every runner gives the same, whatever happens to its workers."""

import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context

import nbuf
import numpy
import pytest
from nbuf import _nbuf
from nbuf._runners import drive, start

# Ten times what a slow machine takes.
DEADLINE_SECONDS = 120

ENGINES = {"local": [], "dask": ["dask", "distributed"], "ray": ["ray"], "spark": ["pyspark"]}


def missing(name):
    """What is to be installed for an engine."""
    modules = [module for module in ENGINES[name] if importlib.util.find_spec(module) is None]
    if modules:
        return f"pip install {' '.join(modules)}"
    return None if name != "spark" or has_java() else "install Java 17 or later"


def has_java():
    """Whether the Java that Spark would start is new enough."""
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    if not java or not os.access(java, os.X_OK):
        return False
    said = subprocess.run([java, "-version"], capture_output=True, text=True)
    version = re.search(r'version "(\d+)', said.stderr)
    return version is not None and int(version.group(1)) >= 17


def skip_without(name):
    """Of an engine that is not installed, a line says that it is skipped."""
    if needs := missing(name):
        reason = f"no engine {name}: {needs}"
        if log := os.environ.get("NBUF_SKIP_LOG"):
            with open(log, "a") as file:
                print(reason, file=file)
        pytest.skip(reason)


@pytest.fixture(scope="session")
def short_folder():
    """For the sockets of Ray, whose paths must be short."""
    with tempfile.TemporaryDirectory(prefix="nb") as folder:
        yield folder


@pytest.fixture(params=ENGINES)
def runner(request, short_folder, monkeypatch):
    """Each runner whose engine is installed."""
    skip_without(request.param)
    monkeypatch.setenv("RAY_TMPDIR", short_folder)
    return request.param


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Four volumes in a folder, from where all is done: volumes have the names that they are given by."""
    monkeypatch.chdir(tmp_path)
    volumes = tmp_path / "v"
    volumes.mkdir()
    for number, (accesses, pages) in enumerate([(20_000, 3000), (9000, 1000), (5000, 900), (2000, 100)]):
        nbuf.generate("zipf", volumes / f"{number}.oracleGeneral", accesses=accesses, pages=pages, seed=number)
    return tmp_path


@pytest.fixture
def command(program, place):
    """Starts the program in the place."""

    def start(*words):
        return subprocess.Popen(
            [os.environ["NBUF_PROGRAM"], "fleet", *words],
            cwd=place,
            env=os.environ | {"NBUF_PYTHON": sys.executable},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


def ended(process, status):
    out, said = process.communicate(timeout=DEADLINE_SECONDS)
    assert process.returncode == status, said
    return out, said


def until(what, look):
    end = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.02)
    raise AssertionError(f"no {what} in time")


def readers(path):
    """Processes, apart from this one, that have a pipe open."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            links = [os.readlink(link) for link in (process / "fd").iterdir()]
        except OSError:
            continue
        if int(process.name) != os.getpid() and str(path) in links:
            found.append(int(process.name))
    return found


def rows(place):
    return len(list((place / "out/rows").glob("*.json"))) if (place / "out/rows").exists() else 0


def test_a_runner_gives_the_same_when_workers_die(runner, command, place):
    """A worker that is killed is replaced; a task that kills each of its workers is named."""
    want = nbuf.fleet("v", workers=1).checksum
    late, poison = place / "v/late.oracleGeneral", place / "poison.bin"
    nbuf.generate("zipf", late, accesses=500, pages=100)
    data = late.read_bytes()
    both = nbuf.fleet("v", workers=1).checksum
    assert both != want
    late.unlink()
    pipes = []
    for path in (late, poison):
        os.mkfifo(path)
        # Held open, so that a worker waits for what is to be read.
        pipes.append(os.open(path, os.O_RDWR))
    files = sorted(str(path.relative_to(place)) for path in (place / "v").iterdir())
    fleet = command(*files, "poison.bin", "--out", "out", "--on", runner, "--workers", "1", "--json")
    try:
        # Both pipes are empty, so that they are the last tasks, in an order that the names decide.
        first = until("a reader", lambda: readers(late) or readers(poison))
        assert rows(place) == 4
        is_late = bool(readers(late))
        if is_late:
            os.kill(first[0], signal.SIGKILL)
            until("another reader", lambda: set(readers(late)) - set(first))
            os.write(pipes[0], data)
            os.close(pipes[0])
        killed = set()

        def next_one():
            for pid in set(readers(poison)) - killed:
                killed.add(pid)
                os.kill(pid, signal.SIGKILL)
            return readers(late) if not is_late else fleet.poll() is not None

        until("the end", next_one)
        if not is_late:
            os.write(pipes[0], data)
            os.close(pipes[0])
    finally:
        os.close(pipes[1])
    out, said = ended(fleet, 1)
    document = json.loads(out)
    (failure,) = document["failures"]
    assert failure["input"] == str(poison) and "poisoned" in failure["error"]
    assert len(killed) >= 3, said
    assert document["checksum"] == both


def test_policies_hosts_and_time_are_asked_for(place):
    plain = nbuf.fleet("v", workers=1)
    fleet = nbuf.fleet("v", workers=1, policies=["lru", "sieve"], policy_size=90)
    assert (fleet.checksum, plain.regrets, plain.later) == (plain.checksum, {}, {})
    each = [{one["policy"]: one["misses"] for one in volume["policies"]} for volume in fleet.to_dict()["volumes"]]
    for policy, regret in fleet.regrets.items():
        assert regret == sum(misses[policy] - min(misses.values()) for misses in each)
    for volume in fleet.to_dict()["volumes"]:
        lru = nbuf.curve(volume["name"], policy="lru", sizes=["90p"]).to_dict()["curves"][0]["points"][0]
        assert lru["misses"] == volume["policies"][0]["misses"]
    with pytest.raises(nbuf.Error, match="nonsense"):
        nbuf.fleet("v", policies=["nonsense"])
    with pytest.raises(nbuf.Error, match="no host is known"):
        nbuf.fleet("v", by="host")
    for host, text in [("a", "0,R,0,4096,0\n0,R,0,4096,9000000\n"), ("b", "0,R,4096,4096,5\n")]:
        (place / f"h/host={host}").mkdir(parents=True)
        (place / f"h/host={host}/x.csv").write_text(text)
    hosts = nbuf.fleet("h", by="host", format="alibaba", until="2s", budget=4, workers=1)
    assert sorted(hosts.shares) == ["a", "b"]
    # Nothing is hit before, so the split of before shares all of the memory out.
    assert hosts.later == {"best": 0, "before": 0, "equal": 0}
    with pytest.raises(nbuf.Error, match="budget"):
        nbuf.fleet("v", until="2s")


def test_an_empty_plan_is_done_at_once(runner, place):
    """The engine starts and ends, and no row is asked for."""
    reports = []
    if runner == "local":
        (place / "tasks.jsonl").write_text("")
        worker = [sys.executable, "-c", "raise SystemExit(9)"]
        with pytest.raises(nbuf.Error, match="has no plan: make one"):
            _nbuf.fleet_local(place / "tasks.jsonl", 1, worker, progress=lambda *step: reports.append(step))
    else:
        with start(runner, 1) as engine:
            drive(engine, str(place), [], lambda *row: reports.append(row))
    assert reports == []


def test_a_runner_continues_what_was_interrupted(runner, command, place):
    want = nbuf.fleet("v", workers=1).checksum
    pipe = place / "waits.bin"
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDWR)
    fleet = command("v", "waits.bin", "--out", "out", "--on", runner, "--workers", "1")
    at_work = until("a reader", lambda: readers(pipe))
    fleet.send_signal(signal.SIGINT)
    _, said = ended(fleet, 130)
    os.close(end)
    assert "4 tasks are done and kept, 1 left" in said
    until("the end of the worker", lambda: not readers(pipe))
    assert at_work
    # Nothing is left to be done: no engine is started for that.
    out, _ = ended(command("v", "--out", "out", "--on", runner, "--json"), 0)
    assert json.loads(out)["checksum"] == want


#: The program that a cluster cannot be without.
HEARTS = {"dask": "dask_scheduler", "ray": "raylet", "spark": "java"}


def heart(name, above):
    """The process of a cluster that this one has started, however far below it."""
    parents = {}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        parents[int(process.name)] = (parent, os.path.basename(words[0]))
    for pid, (parent, program) in parents.items():
        while program == HEARTS[name] and parent in parents:
            if parent == above:
                return pid
            parent = parents[parent][0]


@pytest.mark.parametrize("name", HEARTS)
def test_a_cluster_that_dies_is_one_error_and_finished_tasks_stay(name, command, place, short_folder, monkeypatch):
    skip_without(name)
    want = nbuf.fleet("v", workers=1).checksum
    pipe, file = place / "waits.bin", place / "scheduler.json"
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDWR)
    monkeypatch.setenv("RAY_TMPDIR", short_folder)
    # Ray notices the death of a node after half a minute, if it is not asked for more.
    for variable, value in (("period_ms", "500"), ("timeout_ms", "2000"), ("failure_threshold", "3")):
        monkeypatch.setenv(f"RAY_health_check_{variable}", value)
    own = []
    if name == "dask":
        for part, *words in (["scheduler", "--port", "0", "--host", "127.0.0.1"], ["worker", "--nthreads", "1", "--no-nanny"]):
            words = [f"distributed.cli.dask_{part}", *words, "--no-dashboard", "--scheduler-file", str(file)]
            own.append(subprocess.Popen([sys.executable, "-m", *words], stderr=subprocess.DEVNULL))
        text = until("a scheduler", lambda: file.exists() and file.read_text())
        monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", json.loads(text)["address"])
    fleet = command("v", "waits.bin", "--out", "out", "--on", name, "--workers", "1")
    try:
        until("a reader", lambda: rows(place) == 4 and readers(pipe))
        os.kill(own[0].pid if own else heart(name, fleet.pid), signal.SIGKILL)
        _, said = ended(fleet, 125)
    finally:
        for process in own:
            process.kill()
            process.wait()
    until("the end of the worker", lambda: not readers(pipe))
    os.close(end)
    error = [line for line in said.splitlines() if line.startswith("nbuf: ")][-1]
    assert error.startswith(f"nbuf: {name} failed: ") and error.endswith("the same command continues"), said
    assert rows(place) == 4
    out, _ = ended(command("v", "--out", "out", "--json"), 0)
    assert json.loads(out)["checksum"] == want


def test_the_runner_may_change_between_two_halves(runner, command, place):
    want = nbuf.fleet("v", workers=1).checksum
    ended(command("plan", "v", "--out", "out", "--split", "time:2"), 0)
    plan = (place / "out/tasks.jsonl").read_text().splitlines(keepends=True)
    (place / "out/half.jsonl").write_text("".join(plan[:4]))
    if runner == "local":
        ended(command("work", "--tasks", "out/half.jsonl"), 0)
    else:
        words = [sys.executable, "-m", "nbuf.fleet", "--on", runner, "--tasks", "out/half.jsonl", "--workers", "2"]
        done = subprocess.run(words, cwd=place, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        lines = [line for line in done.stdout.splitlines() if line.startswith("done")]
        assert sorted(lines) == ["done 1", "done 2", "done 3", "done 4"]
    assert rows(place) == 4
    other = "local" if runner != "local" else next((name for name in ENGINES if name != "local" and not missing(name)), "local")
    out, _ = ended(command("v", "--out", "out", "--split", "time:2", "--on", other, "--workers", "2", "--json"), 0)
    assert json.loads(out)["checksum"] == want


def test_an_engine_that_is_not_there_is_one_line(command, place, tmp_path):
    environment = {"NBUF_PYTHON": str(tmp_path / "no-python")}
    before = os.environ | environment
    process = subprocess.run(
        [os.environ["NBUF_PROGRAM"], "-q", "fleet", "v", "--out", "out", "--on", "dask"],
        cwd=place,
        env=before,
        capture_output=True,
        text=True,
    )
    assert process.returncode == 125
    assert "cannot start" in process.stderr and "pip install nbuf[dask]" in process.stderr


class Mortal:
    """An engine that does rows at once, and whose workers die on one row."""

    deaths = (ArithmeticError,)
    most = 3

    def __init__(self, poison):
        self._poison = poison
        self.tasks = []

    def submit(self, work, out, rows):
        future = Future()
        numbers = [json.loads(row)["number"] for row in rows]
        self.tasks.append(numbers)
        try:
            if self._poison in numbers:
                raise ArithmeticError
            future.set_result(work(out, rows))
        except Exception as error:
            future.set_exception(error)
        return future

    def slots(self):
        return 1


@pytest.mark.parametrize("poison", [0, 1, 3, 6, 9, None])
def test_only_the_row_that_workers_die_on_is_poisoned(poison, monkeypatch):
    given_up = []
    monkeypatch.setattr(_nbuf, "fleet_work", lambda out, row: "bad" if json.loads(row)["number"] == 2 else None)
    monkeypatch.setattr(_nbuf, "fleet_give_up", lambda out, row, error: given_up.append(json.loads(row)["number"]))
    accesses = [700] + [50] * 9
    rows = [(at, json.dumps({"number": at, "estimated_accesses": many})) for at, many in enumerate(accesses)]
    engine, reports = Mortal(poison), []
    drive(engine, "out", rows, lambda number, error: reports.append((number, error)))
    found = dict(reports)
    assert len(reports) == len(found) == len(rows)
    assert [at for at, error in found.items() if error and "poisoned" in error] == given_up
    assert given_up == ([] if poison is None else [poison])
    assert {at: error for at, error in found.items() if at not in given_up and error} == {2: "bad"}
    # A giant is a task of its own, and the last rows are, so that no worker waits long for another.
    assert engine.tasks[0] == [0] and max(map(len, engine.tasks)) == 3
    assert [7] in engine.tasks and [8] in engine.tasks and [9] in engine.tasks


def test_spark_joins_a_session_and_leaves_it_running(place):
    """What goes wrong on a worker is one line, and the session goes on."""
    skip_without("spark")
    want = nbuf.fleet("v", workers=1).checksum
    script = """
import nbuf, os, sys
from nbuf._runners import drive, spark, start
os.environ["PYSPARK_PYTHON"] = sys.executable
from pyspark.sql import SparkSession
session = SparkSession.builder.master("local[2]").config(map=spark._LOCAL).getOrCreate()
print(nbuf.fleet("v", engine="spark").checksum)
try:
    with start("spark", 1) as engine:
        drive(engine, ".", [(1, '{"estimated_accesses": 1}')], print)
except nbuf.Error as error:
    print(error)
print(session.range(7).count())
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=place, capture_output=True, text=True)
    checksum, error, count = done.stdout.splitlines()
    assert (checksum, count) == (want, "7"), done.stderr
    assert "line 1 of ./tasks.jsonl" in error and "make the plan again" in error


def test_ray_joins_a_session_and_leaves_it_running(place, short_folder, monkeypatch):
    """In a notebook a session often runs already. After Ctrl-C, too, it goes on, without the task."""
    skip_without("ray")
    monkeypatch.setenv("RAY_TMPDIR", short_folder)
    want = nbuf.fleet("v", workers=1).checksum
    os.mkfifo(place / "waits.bin")
    end = os.open(place / "waits.bin", os.O_RDWR)
    script = """
import nbuf, os, ray, signal, threading
ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
print(nbuf.fleet("v", engine="ray").checksum, ray.is_initialized())
threading.Timer(3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    nbuf.fleet(["v", "waits.bin"], engine="ray", out="out")
except KeyboardInterrupt:
    # One processor: the task that waits has left it.
    print("interrupted", ray.get(ray.remote(lambda: 7).remote(), timeout=60))
"""
    try:
        done = subprocess.run([sys.executable, "-c", script], cwd=place, capture_output=True, text=True, timeout=DEADLINE_SECONDS)
    finally:
        os.close(end)
    assert done.stdout.splitlines() == [f"{want} True", "interrupted 7"], done.stderr


def test_spark_without_java_is_one_line(place, monkeypatch):
    skip_without("spark")
    monkeypatch.setenv("JAVA_HOME", "nowhere")
    with pytest.raises(nbuf.Error, match="JAVA_HOME is nowhere, which has no bin/java"):
        nbuf.fleet("v", engine="spark")
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", "nowhere")
    with pytest.raises(nbuf.Error, match="Spark needs Java, and there is no `java`"):
        nbuf.fleet("v", engine="spark")


def test_the_function_is_the_program(document, place):
    want = document("fleet", "v", "--out", "want", "--budget", "4MiB", "--miss-ms", "5", "--json")
    got = nbuf.fleet("v", budget="4MiB", miss_ms=5)
    assert got.to_dict() == want
    assert nbuf.fleet(["v/0.oracleGeneral", "v/[123].oracleGeneral"], split="time:3").checksum == got.checksum
    table = got.to_polars()
    assert table["name"].to_list() == [one["name"] for one in want["volumes"]]
    assert sum(got.shares.values()) <= 1024 and got.is_whole and not got.failures


def test_files_that_are_left_out_are_a_warning(place):
    want = nbuf.fleet("v", workers=1).checksum
    for number in range(2):
        (place / f"v/note{number}.txt").write_text("no trace")
    os.link(place / "v/0.oracleGeneral", place / "v/again.oracleGeneral")
    with pytest.warns(UserWarning) as caught:
        assert nbuf.fleet("v", workers=1).checksum == want
    said = [str(one.message) for one in caught]
    assert said[0].startswith("left out 2 files of no known format, such as ") and "note" in said[0]
    assert said[1].startswith("left out 1 file that other inputs name too, such as ") and len(said) == 2
    assert {one.filename for one in caught} == {__file__}


def test_an_executor_is_an_engine(place):
    want = nbuf.fleet("v").checksum
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert nbuf.fleet("v", engine=pool, workers=2).checksum == want


def test_a_budget_over_curves_is_that_of_the_fleet(place):
    fleet = nbuf.fleet("v", budget=1000)
    curves = {name: nbuf.curve(str(name)) for name in [f"v/{number}.oracleGeneral" for number in range(4)]}
    split = nbuf.allocate(curves, 1000)
    assert split.bound_misses <= split.rules["best"]
    assert split.gap_to_bound == pytest.approx((split.rules["best"] - split.bound_misses) / split.bound_misses)
    assert nbuf.fleet("v").gap_to_bound is None
    assert fleet.rules["best"] <= split.rules["best"] <= min(split.rules.values())
    # A curve has fewer points than the fleet, and so the split is a little worse.
    assert split.rules["best"] <= 1.05 * fleet.rules["best"]
    for name, pages in split.shares.items():
        assert curves[name].at(max(pages, 1)).misses >= 0
    assert nbuf.allocate(list(curves.values()), 1000).rules == split.rules


def test_a_merged_curve_is_the_sum(zipf):
    loop = nbuf.curve(numpy.array([7, 8, 9] * 100), sizes=[2, 3, 2000])
    other = nbuf.curve(zipf, sizes=[2, 3, 2000])
    both = nbuf.merge([loop, other])
    for size in (2, 3, 2000):
        assert both.at(size).hits == loop.at(size).hits + other.at(size).hits
    halves = nbuf.merge({"loop": loop, "other": other}, how="partitioned")
    assert halves.points()[-1].misses == loop.points()[-1].misses + other.points()[-1].misses
    for wrong, words in [("shared", "traces together"), ("sum", "no way to merge")]:
        with pytest.raises(nbuf.Error, match=words):
            nbuf.merge([loop, other], how=wrong)
    for options in ({}, {"hit_ratio": 0.5}):
        with pytest.raises(nbuf.Error, match="a merged curve has no trace"):
            nbuf.knee(both, **options)
    with pytest.raises(nbuf.Error, match="no curves"):
        nbuf.allocate([], 5)


def test_the_module_of_the_runners_stays_a_function():
    words = "import nbuf, nbuf.fleet\ntry:\n    nbuf.fleet('nowhere', out='x')\nexcept nbuf.Error as error:\n    print(error)"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert "cannot use nowhere" in done.stdout
