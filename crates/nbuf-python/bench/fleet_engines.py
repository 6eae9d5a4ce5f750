"""The same fleet by every runner, and by a pool of processes over the same function and rows.

pip install nbuf 'dask[distributed]' 'pyspark[sql]' ray
python fleet_engines.py FOLDER [ACCESSES] [VOLUMES] [ROUNDS]

FOLDER keeps the volumes, so that a second call measures only. Six of the volumes have a twentieth of the accesses each.
"""

import importlib.util
import json
import os
import resource
import shutil
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

import nbuf
from nbuf import _nbuf
from nbuf._fleet import _MODULE
from nbuf._runners import drive, start, work

FOLDER = sys.argv[1]
ACCESSES, VOLUMES, ROUNDS = (
    int(float(sys.argv[at])) if len(sys.argv) > at else usual for at, usual in ((2, 1e9), (3, 2000), (4, 5))
)
ASK = {"hit_ratio": 0.9, "budget": None, "miss_ms": None, "miss_price": None, "gib_price": None}
GIANTS, GIANT_SHARE, WORKERS = 6, 0.05, 2


def make(number):
    """A volume: Zipf keys, a hundredth of the accesses distinct at most."""
    small = ACCESSES * (1 - GIANTS * GIANT_SHARE) / (VOLUMES - GIANTS)
    accesses = int(ACCESSES * GIANT_SHARE if number < GIANTS else small)
    path = os.path.join(FOLDER, f"{number:04}.u32le")
    if not os.path.exists(path):
        nbuf.generate("zipf", path + ".part", accesses=accesses, pages=max(accesses // 20, 10), seed=number, format="u32le")
        os.rename(path + ".part", path)
    return accesses


def spec(out):
    return {
        "inputs": [FOLDER],
        "out": out,
        "by": "file",
        "format": "u32le",
        "page_bytes": 4096,
        "split": "auto",
        "workers": WORKERS,
        "memory": None,
        "policies": [],
        "policy_size": "10%",
        "until": None,
    }


def pool(out, rows):
    """What is compared with: an executor of Python's own library."""
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as executor:
        list(executor.map(one, [(out, row) for _, row in rows]))


def one(task):
    out, row = task
    return work(out, [row])


@contextmanager
def nothing():
    yield None


def run(name, workers=WORKERS):
    """Seconds of the start and of the work, and the checksum."""
    out = os.path.join(FOLDER, ".out")
    shutil.rmtree(out, ignore_errors=True)
    _nbuf.fleet_plan(json.dumps(spec(out)))
    tasks = _nbuf.fleet_tasks(out)
    rows = _nbuf.fleet_left(tasks)
    began = time.perf_counter()
    is_engine = name in ("dask", "ray", "spark")
    with start(name, workers) if is_engine else nothing() as engine:
        started = time.perf_counter()
        if name == "pool":
            pool(out, rows)
        elif name == "local":
            _nbuf.fleet_local(tasks, workers, [sys.executable, "-c", _MODULE, "--serve"])
        else:
            drive(engine, out, rows, lambda row, error: None)
        ended = time.perf_counter()
    document = json.loads(_nbuf.fleet_reduce(out, json.dumps(ASK)))
    shutil.rmtree(out)
    assert not document["failures"], document["failures"][:1]
    return started - began, ended - started, document["checksum"], len(rows)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as executor:
        accesses = sum(executor.map(make, range(VOLUMES), chunksize=8))
    modules = {"dask": "distributed", "ray": "ray", "spark": "pyspark"}
    engines = [name for name, module in modules.items() if importlib.util.find_spec(module)]
    names = ["pool", "local", *engines]
    found = {name: [] for name in names}
    for _ in range(ROUNDS):
        for name in names:
            found[name].append(run(name))
            print(name, *found[name][-1], file=sys.stderr, flush=True)
    alone = run("local", 1)[1]
    base = statistics.median(seconds for _, seconds, *_ in found["pool"])
    checksums = {checksum for runs in found.values() for _, _, checksum, _ in runs}
    tasks = found["pool"][0][3]
    print(f"{accesses:,} accesses, {VOLUMES:,} volumes, {tasks:,} tasks; checksums: {', '.join(checksums)}\n")
    print("| runner | seconds | to the pool | start, seconds |\n|---|---|---|---|")
    for name, runs in found.items():
        work_s = sorted(seconds for _, seconds, *_ in runs)
        median = statistics.median(work_s)
        starts = statistics.median(seconds for seconds, *_ in runs)
        print(f"| {name} | {median:.1f} ({work_s[0]:.1f} to {work_s[-1]:.1f}) | {median / base:.2f} | {starts:.1f} |")
    local = statistics.median(seconds for _, seconds, *_ in found["local"])
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"\nOne worker takes {alone:.1f} s: two are {alone / local:.2f} times as fast.")
    print(f"The largest process had {most:.0f} MiB.")


if __name__ == "__main__":
    main()
