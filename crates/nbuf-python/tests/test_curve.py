"""Curves from Python are those of the program, to the digit."""

import nbuf
import numpy
import pandas
import pytest

KEYS = ["lru", "fifo", "clock", "sieve", "arc", "s3-fifo", "w-tinylfu", "opt", "v1:busy=3"]


@pytest.mark.parametrize("policy", KEYS)
def test_each_policy_over_keys_is_as_the_program_says(document, zipf, policy):
    want = document("curve", "--json", "--policy", policy, "--size", "10,10%,1000", *zipf.files)
    assert nbuf.curve(zipf.files[0], policy=policy, sizes=[10, "10%", 1000]).to_dict() == want


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, ["--policy", "lru"]),
        ({"policy": ["lru", "opt"]}, []),
        ({"policy": "all", "sizes": "64KiB,1MiB"}, ["--policy", "all", "--size", "64KiB,1MiB"]),
        ({"page": ["512", 4096]}, ["--policy", "lru", "--page", "512,4KiB"]),
        ({"writes": "around"}, ["--policy", "lru", "--writes", "around"]),
        ({"by": "file"}, ["--by", "file"]),
        ({"by": "task"}, ["--by", "task"]),
        ({"by": "op", "window": 1000}, ["--by", "op", "--window", "1000"]),
        ({"unit": "request"}, ["--policy", "lru", "--unit", "request"]),
        ({"sizes": "64KiB", "unit": "object"}, ["--policy", "lru", "--size", "64KiB", "--unit", "object"]),
        ({"warmup": 0.1}, ["--policy", "lru", "--warmup", "10%"]),
        ({"warmup": 100}, ["--policy", "lru", "--warmup", "100"]),
        ({"sample": 0.5, "seed": 3}, ["--policy", "lru", "--sample", "0.5", "--seed", "3"]),
        ({"target": "hit=0.3"}, ["--policy", "lru", "--target", "hit=0.3"]),
        ({"threads": 1}, ["--policy", "lru", "--threads", "1"]),
    ],
)
def test_each_option_is_the_option_of_the_program(document, native, options, words):
    assert nbuf.curve(native, **options).to_dict() == document("curve", "--json", *words, native)


def test_the_other_verbs_are_those_of_the_program(program, document, folder, native, zipf):
    assert nbuf.stat(native).to_dict() == document("trace", "stat", "--json", native)
    pattern = ["trace", "generate", "zipf", "-n", 20_000, "--keys", 2000, "-o", folder / "again"]
    program(*pattern)
    assert (folder / "again").read_bytes() == open(zipf.files[0], "rb").read()
    words = ["--policy", "lru", "--size", "1MiB", "--disc", "sata-ssd"]
    want = document("replay", "--json", *words, native)
    assert nbuf.simulate(native, size="1MiB", disc="sata-ssd").to_dict() == want


def test_the_table_has_the_counts_of_the_document(zipf):
    curve = nbuf.curve(zipf, policy=["lru", "opt"], sizes=[1, 100])
    rows = curve.to_polars().select("policy", "size_pages", "accesses", "hits").rows()
    want = [
        (one["policy"], point["pages"], point["accesses"], point["accesses"] - point["misses"])
        for one in curve.to_dict()["curves"]
        for point in one["points"]
    ]
    assert rows == want and len(rows) == 4
    assert list(curve.to_pandas()["hits"]) == [row[3] for row in rows]


def test_points_are_found_by_size_and_by_hit_ratio(zipf):
    curve = nbuf.curve(zipf, sizes=[1, 10, 100, 1000])
    points = curve.points()
    assert curve.at(99).size_pages == 10
    assert curve.inverse(points[2].hit_ratio).size_pages == 100
    assert [curve.at(size).size_pages for size in ("100", "100p", "100P", 100)] == [100] * 4
    with pytest.raises(nbuf.Error, match="begins above 0"):
        curve.at(0)
    with pytest.raises(nbuf.Error, match="no size of the curve"):
        curve.inverse(1.0)


def test_a_number_of_pages_is_of_pages_of_the_curve(native):
    curve = nbuf.curve(native, sizes=["7p", "100p"], page="64KiB")
    assert [point.size_pages for point in curve.points()] == [7, 100]
    assert curve.at("100p").size_bytes == 100 * 65536 == curve.at("6400KiB").size_bytes
    assert nbuf.allocate([curve], "100p").shares == nbuf.allocate([curve], 100).shares


def test_a_knee_is_that_of_the_curve_and_a_target_is_exact(zipf, native):
    curve = nbuf.curve(zipf)
    corners = curve.to_dict()["curves"][0]["corners"]
    advice = nbuf.knee(curve)
    assert (advice.floor_pages, advice.knee_pages, advice.ceiling_pages) == tuple(corners.values())
    needed = nbuf.knee(curve, hit_ratio=0.5)
    assert needed.is_met and nbuf.knee(zipf, hit_ratio=0.5).size_pages == needed.size_pages
    assert nbuf.simulate(zipf, size=needed.size_pages).hit_ratio >= 0.5
    assert nbuf.simulate(zipf, size=needed.size_pages - 1).hit_ratio < 0.5
    assert nbuf.knee(native).size_bytes == nbuf.knee(native).size_pages * 4096


def test_results_are_charts_in_notebooks(zipf):
    import xml.etree.ElementTree

    curve = nbuf.compare(zipf, policies=["lru", "arc"], sizes="1..2000")
    chart = xml.etree.ElementTree.fromstring(curve._repr_html_())
    lines = [one for one in chart.iter() if one.tag.endswith("polyline")]
    assert [len(one.get("points").split()) for one in lines] == [len(curve.points(p)) for p in ("lru", "arc")]
    assert "<table>" in nbuf.stat(zipf)._repr_html_()


def test_a_plot_has_a_line_for_each_policy(zipf):
    import matplotlib

    matplotlib.use("Agg")
    curve = nbuf.curve(zipf, policy=["lru", "opt"], sample=None)
    axes = nbuf.plot(curve)
    for line, policy in zip(axes.get_lines(), ("lru", "opt"), strict=True):
        assert list(line.get_ydata()) == [point.hit_ratio for point in curve.points(policy)]
    sampled = nbuf.curve(zipf, sample=0.5)
    assert len(nbuf.plot(curve, sampled).collections) == 1


def test_a_plot_has_a_line_for_each_page_size(native):
    import matplotlib

    matplotlib.use("Agg")
    curve = nbuf.curve(native, page=[4096, 65536])
    drawn = [list(line.get_ydata()) for line in nbuf.plot(curve).get_lines()]
    assert len(drawn) == 2 and drawn[0] != drawn[1]


@pytest.fixture(scope="module")
def objects(folder):
    """A CSV of objects with times to live and costs, and the same as a table."""
    random = numpy.random.default_rng(9)
    count = 4000
    keys = random.zipf(1.3, count) % 500
    table = pandas.DataFrame(
        {
            "key": keys,
            "size": 100 + keys * 7 % 900,
            "time": numpy.arange(count) * 0.5,
            "ttl": keys % 4 * 100,
            "origin_ms": (keys % 10 + 1) / 4,
        }
    )
    path = folder / "objects.csv"
    table.to_csv(path, index=False)
    return path, table


@pytest.mark.parametrize(
    "options",
    [
        {"ttl": "trace", "expired": "free"},
        {"ttl": "trace,10m"},
        {"ttl": 30},
        {"admit": "threshold:bytes=500"},
        {"admit": ["probability:p=0.5", "tinylfu"]},
        {"cost": "origin_ms", "policy": ["lru", "gdsf"]},
    ],
)
def test_a_table_of_objects_is_the_trace_of_the_file(objects, options):
    path, table = objects
    options = {"sizes": ["4KiB", "64KiB"], "unit": "object", "seed": 3, **options}
    csv = nbuf.read_trace(path, format="csv:key=key,size=size,time=time,ttl=ttl" if "cost" not in options else "csv")
    want = nbuf.curve(csv, **options)
    made = nbuf.curve(table, **options)
    assert made.to_dict()["curves"] == want.to_dict()["curves"]
    without = nbuf.curve(table, sizes=["4KiB", "64KiB"], unit="object", policy=options.get("policy", "lru"))
    if "cost" not in options:
        assert made.at("4KiB").misses != without.at("4KiB").misses
    else:
        assert without.at("4KiB").miss_cost is None and made.at("4KiB").miss_cost > 0
        missed = nbuf.curve(table, **{**options, "sizes": ["1GiB"], "policy": "lru"}).points()[0].miss_cost
        assert missed == pytest.approx(table.drop_duplicates("key")["origin_ms"].sum(), rel=1e-6)


def test_costs_and_times_to_live_that_cannot_be(objects):
    _, table = objects
    with pytest.raises(nbuf.Error, match="no column of the table has the costs"):
        nbuf.curve(nbuf.read_trace(table), sizes=["4KiB"], unit="object", cost="origin_ms")
    with pytest.raises(nbuf.Error, match="has -1, and costs are 0 or more"):
        nbuf.curve(table.assign(origin_ms=-1.0), sizes=["4KiB"], unit="object", cost="origin_ms")
    with pytest.raises(nbuf.Error, match="no time to live"):
        nbuf.curve(table, sizes=["4KiB"], ttl="soon")


def test_prefetches_are_counted(native):
    point = nbuf.curve(native, prefetch="next", sizes=[64]).points()[0]
    counts = point.prefetch
    assert counts["prefetches"] == counts["useful"] + counts["useless"] + counts["unused"] > 0
    assert counts["device_reads"] == point.misses + counts["prefetches"]
    assert nbuf.curve(native, sizes=[64]).points()[0].prefetch is None
