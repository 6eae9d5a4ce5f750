"""Recordings of many hosts: each counts time from its own beginning, and all of a host share one cache."""

import json
from collections import OrderedDict

import nbuf
import numpy
import pyarrow
import pyarrow.parquet
import pytest


def recorded(path, started, table):
    """A recording that began at this second since 1970; 0 for one that does not say it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    nbuf.write_trace(table, path)
    rows = pyarrow.parquet.read_table(path)
    facts = json.loads(pyarrow.parquet.read_metadata(path).metadata[b"nbuf"])
    facts["started_unix_seconds"] = started
    rows = rows.replace_schema_metadata({"nbuf": json.dumps(facts)})
    pyarrow.parquet.write_table(rows, path, compression="zstd")


def requests(seed, first_ms):
    """Requests to a few files within 8 s: the first at 0, where a recording begins, the others at even or at odd
    milliseconds.
    """
    random = numpy.random.default_rng(seed)
    count = 2000
    time_ns = numpy.sort(random.choice(4000, count, replace=False)) * 2_000_000 + first_ms * 1_000_000
    time_ns[0] = 0
    return pyarrow.table(
        {
            "time_ns": time_ns,
            "op": ["read"] * count,
            "file": numpy.array(["/data/a", "/data/b"])[random.integers(0, 2, count)],
            "offset_bytes": random.zipf(1.2, count) % 200 * 4096,
            "length_bytes": [4096] * count,
        }
    )


def naive(recordings):
    """Misses of an LRU cache by size, of recordings with their beginnings."""
    rows = [
        (started * 10**9 + time, file, offset)
        for started, table in recordings
        for time, file, offset in zip(*(table[name].to_pylist() for name in ("time_ns", "file", "offset_bytes")))
    ]
    keys = [(file, offset) for _, file, offset in sorted(rows)]

    def misses(size):
        cache, missed = OrderedDict(), 0
        for key in keys:
            missed += key not in cache
            cache[key] = None
            cache.move_to_end(key)
            if len(cache) > size:
                cache.popitem(last=False)
        return missed

    return misses


def test_recordings_of_a_host_are_merged_by_the_clock(tmp_path):
    one, two, other = requests(1, 0), requests(2, 1), requests(3, 0)
    day = 1_790_000_000
    recorded(tmp_path / "host=a/x.parquet", day + 3, one)
    recorded(tmp_path / "host=a/y.parquet", day, two)
    recorded(tmp_path / "host=b/x.parquet", day + 9, other)
    fleet = nbuf.fleet(tmp_path, by="host", workers=1)
    assert fleet.is_whole
    volumes = {volume["name"]: volume for volume in fleet.to_dict()["volumes"]}
    wants = {"a": naive([(day + 3, one), (day, two)]), "b": naive([(0, other)])}
    assert sorted(volumes) == sorted(wants)
    for name, misses in wants.items():
        points = volumes[name]["points"]
        assert len(points) > 5
        assert [point["misses"] for point in points] == [misses(point["pages"]) for point in points], name
    # The beginnings matter: at once, these would be other misses.
    at_once = naive([(0, one), (0, two)])
    assert any(at_once(point["pages"]) != point["misses"] for point in volumes["a"]["points"])


def test_the_shared_cache_of_a_host_is_compared_with_partitions(tmp_path):
    one, two = requests(1, 0), requests(2, 1)
    day = 1_790_000_000
    recorded(tmp_path / "host=a/x.parquet", day + 3, one)
    recorded(tmp_path / "host=a/y.parquet", day, two)
    fleet = nbuf.fleet(tmp_path, by="host", workers=1, budget=40, partitions="file")
    assert fleet.is_whole
    shared, own = naive([(day + 3, one), (day, two)]), [naive([(0, one)]), naive([(0, two)])]
    pages = fleet.shares["a"]
    found = fleet.sharing["a"]
    assert found["shared"] == shared(pages)
    assert found["equal"] == sum(misses(pages // 2) for misses in own)
    assert found["partitioned"] == min(own[0](first) + own[1](pages - first) for first in range(pages + 1))
    assert nbuf.fleet(tmp_path, by="host", workers=1).sharing == {}
    with pytest.raises(nbuf.Error, match="partitions are of the cache that a host shares: plan by host"):
        nbuf.fleet(tmp_path, workers=1, partitions="file")


def test_a_recording_without_its_beginning_is_not_merged(tmp_path):
    recorded(tmp_path / "host=a/x.parquet", 1_790_000_000, requests(1, 0))
    recorded(tmp_path / "host=a/y.parquet", 0, requests(2, 1))
    with pytest.raises(nbuf.Error, match=r"y\.parquet does not say when it began, .* of host a .* leave it out"):
        nbuf.fleet(tmp_path, by="host", workers=1)
