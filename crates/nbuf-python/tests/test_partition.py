"""Files of hours with all volumes in each become a trace of each volume, by nbuf and by DuckDB."""

import os
import re
from pathlib import Path

import duckdb
import nbuf
import numpy
import pytest

PAGE = Path(os.environ.get("NBUF_DOCS", Path(__file__).parents[3] / "docs")) / "fleet.md"
STATEMENT = re.compile(r"^```sql\n(.*?)^```$", re.M | re.S)

VOLUMES = ["7", "12", "a b", "100"]


#: The columns of each public layout, and how one request is written there.
LAYOUTS = {
    "alibaba": ("volume,op,offset,length,time", lambda r: f"{r['volume']},{'RW'[r['op']]},{r['offset']},{r['length']},{r['time']}"),
    "tencent": (
        "time,offset,length,op,volume",
        lambda r: f"{r['time']},{r['offset'] // 512},{r['length'] // 512},{r['op']},{r['volume']}",
    ),
}

#: The same columns as the statement of docs/fleet.md has them.
COLUMNS = {name: ", ".join(f"'{column}'" for column in columns.split(",")) for name, (columns, _) in LAYOUTS.items()}


@pytest.fixture(params=LAYOUTS)
def layout(request):
    return request.param


@pytest.fixture
def hours(tmp_path, layout):
    """Three files in a public layout, each with requests of all volumes."""
    random = numpy.random.default_rng(3)
    folder = tmp_path / "hours"
    folder.mkdir()
    for hour in range(3):
        # The last volume has no request in the first hour. Times repeat; the file has their order.
        times = numpy.sort(random.integers(0, 50, 3000)) + hour * 3600
        rows = zip(times, random.integers(0, len(VOLUMES) - (hour == 0), 3000), random.zipf(1.3, 3000).tolist())
        requests = [
            {
                "volume": VOLUMES[volume],
                "op": int(page % 5 == 0),
                "offset": page % 2000 * 4096,
                "length": 4096 * (1 + page % 3),
                "time": time,
            }
            for time, volume, page in rows
        ]
        (folder / f"{hour}.csv").write_text("".join(LAYOUTS[layout][1](one) + "\n" for one in requests))
    return sorted(folder.iterdir())


def whole(trace):
    drawn = nbuf.curve(trace, policy=["lru", "fifo"], sizes=[1, 10, 100, 1000])
    return [(one["policy"], one["points"]) for one in drawn.to_dict()["curves"]]


def test_a_partition_has_the_requests_of_each_volume_in_their_order(layout, hours, tmp_path):
    rows = nbuf.read_trace(hours, format=layout).to_pandas()
    made = nbuf.write_trace(
        nbuf.read_trace(hours, format=layout), tmp_path / "volumes", partition_by="volume"
    )
    assert sorted(path.name for path in made.iterdir()) == [
        "volume=100", "volume=12", "volume=7", "volume=a%20b"
    ]
    for volume in VOLUMES:
        name = volume.replace(" ", "%20")
        part = nbuf.read_trace(made / f"volume={name}" / "part-0.parquet")
        own = part.to_pandas()
        want = rows[rows["file"] == volume]
        for column in ("op", "offset_bytes", "length_bytes"):
            assert own[column].astype(str).tolist() == want[column].astype(str).tolist(), column
        assert (own["time_ns"].to_numpy() == want["time_ns"].to_numpy() - rows["time_ns"].iloc[0]).all()
    fleets = [
        nbuf.fleet([str(path) for path in hours], by="volume", format=layout, workers=1, budget=500),
        nbuf.fleet(str(made), by="directory", workers=1, budget=500),
    ]
    shares = [sorted(one.shares.values()) for one in fleets]
    assert shares[0] == shares[1] and fleets[0].rules == fleets[1].rules


def test_duckdb_makes_the_same_partition(layout, hours, tmp_path, monkeypatch):
    made = nbuf.write_trace(
        nbuf.read_trace(hours, format=layout), tmp_path / "volumes", partition_by="volume"
    )
    monkeypatch.chdir(tmp_path)
    statement = STATEMENT.search(PAGE.read_text())[1]
    # The page has the columns of Alibaba in it, and names those of Tencent after it.
    assert COLUMNS["alibaba"] in statement
    duckdb.connect().execute(statement.replace(COLUMNS["alibaba"], COLUMNS[layout]))
    for volume in VOLUMES:
        name = volume.replace(" ", "%20")
        own = whole(nbuf.read_trace(f"by/volume={name}/*.csv", format=layout))
        assert own == whole(made / f"volume={name}" / "part-0.parquet"), volume


@pytest.mark.parametrize(
    "options, words",
    [
        ({"partition_by": "host"}, "does not partition by host"),
        ({"partition_by": "file", "format": "oracleGeneral"}, "a partition needs files or volumes"),
    ],
)
def test_a_partition_that_cannot_be(layout, hours, tmp_path, options, words):
    trace = nbuf.read_trace(hours, format=layout)
    with pytest.raises(nbuf.Error, match=words):
        nbuf.write_trace(trace, tmp_path / "volumes", **options)
    assert not (tmp_path / "volumes").exists()
    (tmp_path / "volumes").mkdir()
    with pytest.raises(nbuf.Error, match="exists|is there|taken"):
        nbuf.write_trace(trace, tmp_path / "volumes", partition_by="volume")
