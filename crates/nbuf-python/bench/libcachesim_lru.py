"""Requests a second of LRU at one size, by nbuf and by libcachesim, of the same keys of a DataFrame.

pip install nbuf libcachesim pandas numpy; python libcachesim_lru.py [REQUESTS]
"""

import os
import statistics
import sys
import tempfile
import time

import libcachesim
import nbuf
import polars

REQUESTS = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
KEYS, SIZE, RUNS = 1_000_000, 100_000, 3


def by_nbuf(frame, _):
    return nbuf.simulate(frame[["key"]], size=SIZE).hit_ratio


def by_rows(frame, _):
    """What there is for a DataFrame: a request for each row, in Python."""
    cache = libcachesim.LRU(SIZE)
    request, hits = libcachesim.Request(), 0
    request.obj_size = 1
    for key in frame["key"].tolist():
        request.obj_id = key
        hits += cache.get(request)
    return hits / len(frame)


def by_file(_, path):
    """The same keys from a file that is there already: its reader is in C."""
    cache = libcachesim.LRU(SIZE)
    reader = libcachesim.TraceReader(path, libcachesim.TraceType.ORACLE_GENERAL_TRACE)
    return 1 - cache.process_trace(reader)[0]


def main():
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "zipf.oracleGeneral")
    trace = nbuf.generate("zipf", path, accesses=REQUESTS, pages=KEYS)
    frame = polars.DataFrame(trace).select("key").to_pandas()
    print("| way | requests/s | hit ratio |\n|---|---|---|")
    ways = [("nbuf, DataFrame", by_nbuf), ("libcachesim, DataFrame", by_rows), ("libcachesim, file", by_file)]
    found = {name: [] for name, _ in ways}
    for _ in range(RUNS):
        for name, way in ways:
            begin = time.perf_counter()
            ratio = way(frame, path)
            found[name].append((REQUESTS / (time.perf_counter() - begin), ratio))
    for name, runs in found.items():
        rate = statistics.median(rate for rate, _ in runs)
        print(f"| {name} | {rate / 1e6:.2f} M | {runs[0][1]:.6f} |")


main()
