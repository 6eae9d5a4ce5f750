"""The same accesses are the same trace, whatever holds them."""

import subprocess
import sys

import duckdb
import nbuf
import numpy
import pandas
import polars
import pyarrow
import pytest

FORMS = {
    "pyarrow": lambda table: table,
    "chunks": lambda table: pyarrow.concat_tables([table[:7], table[7:7], table[7:]]),
    "reader": lambda table: pyarrow.RecordBatchReader.from_batches(
        table.schema, table.to_batches(max_chunksize=999)
    ),
    "polars": polars.from_arrow,
    "pandas": lambda table: table.to_pandas(),
    "duckdb": lambda table: duckdb.from_arrow(table),
}


def drawn(source, **options):
    """Curves, and what was counted; not the names of files and format."""
    made = nbuf.curve(source, policy=["lru", "sieve", "opt"], **options).to_dict()
    apart = ("files", "format", "packing")
    return made["curves"], {name: of for name, of in made["trace"].items() if name not in apart}


@pytest.mark.parametrize("form", FORMS)
def test_each_library_gives_the_trace_of_the_file(native, requests, form):
    assert drawn(FORMS[form](requests)) == drawn(native)


@pytest.mark.parametrize("form", FORMS)
def test_each_library_gives_the_keys_of_the_file(zipf, form):
    if form == "reader":  # can be read once, and the trace then keeps it
        source = nbuf.read_trace(FORMS[form](pyarrow.table(zipf)))
        assert drawn(source) == drawn(zipf)
        return
    assert drawn(FORMS[form](pyarrow.table(zipf))) == drawn(zipf)


def test_arrays_give_the_trace_of_the_file(zipf, native, requests):
    table = pyarrow.table(zipf)
    columns = {"key": table["key"].to_numpy(), "size": table["size"].to_numpy()}
    curves, _ = drawn(nbuf.read_trace(time=table["time_ns"].to_numpy(), **columns))
    assert curves == drawn(zipf)[0]
    columns = {name: requests[name].to_numpy() for name in ("op", "task")}
    files = {"/data/a": 0, "/data/b": 1, "/data/c d": 2}
    numbers = numpy.array([files[name.as_py()] for name in requests["file"]])
    made = nbuf.read_trace(
        offset=requests["offset_bytes"].to_numpy(),
        length=requests["length_bytes"].to_numpy(),
        time=requests["time_ns"].to_numpy(),
        file=numbers,
        **columns,
    )
    assert drawn(made) == drawn(native)


@pytest.mark.parametrize("kind", ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8"])
def test_numbers_of_each_type_are_keys(kind):
    keys = numpy.random.default_rng(1).integers(0, 100, 3000).astype(kind)
    want = nbuf.curve(keys.astype("u8")).to_dict()
    assert nbuf.curve(keys).to_dict()["curves"] == want["curves"]
    assert nbuf.curve(pandas.DataFrame({"page": keys})).to_dict()["curves"] == want["curves"]
    assert nbuf.curve(keys[::-1][::-1][::1]).to_dict()["curves"] == want["curves"]


def test_a_series_and_a_chosen_part_of_a_frame_are_keys():
    keys = numpy.random.default_rng(2).integers(0, 50, 2000)
    want = nbuf.curve(keys).to_dict()["curves"]
    frame = pandas.DataFrame({"lbn": keys})
    chunks = pyarrow.chunked_array([keys[:700], keys[700:]])
    for series in (polars.Series(keys), pandas.Series(keys), frame["lbn"], chunks):
        assert nbuf.curve(series).to_dict()["curves"] == want
    assert nbuf.curve(polars.Series("lbn", keys)).to_dict()["curves"] == want
    even = frame["lbn"] % 2 == 0
    assert nbuf.curve(frame[even]).to_dict()["curves"] == nbuf.curve(keys[keys % 2 == 0]).to_dict()["curves"]
    texts = [f"k{key}" for key in keys]
    counts = nbuf.curve(pyarrow.table({"key": texts})).to_dict()["curves"]
    for series in (polars.Series(texts), pandas.Series(texts), numpy.array(texts), numpy.array(texts, dtype=object)):
        assert nbuf.curve(series).to_dict()["curves"] == counts


def test_arrays_are_times_and_words(requests, native):
    columns = {name: requests[f"{name}_bytes"].to_numpy() for name in ("offset", "length")}
    words = numpy.array(["read", "write", "", "", "", "", "discard"])[requests["op"].to_numpy()]
    moments = requests["time_ns"].to_numpy()
    for time in (moments.astype("M8[ns]"), moments.astype("M8[ns]").astype("M8[us]")):
        for file in (requests["file"].to_numpy(zero_copy_only=False), numpy.array(requests["file"].to_pylist())):
            made = nbuf.read_trace(
                op=words, time=time, file=file, task=requests["task"].to_numpy(), **columns
            )
            assert drawn(made) == drawn(native)
    assert nbuf.stat(nbuf.read_trace(key=[1, 2], time=numpy.array(["2020-01-01", "2020-01-02"], "M8[D]"))).accesses == 2


def test_what_nothing_needs_may_be_of_any_type(zipf):
    table = pyarrow.table({"key": [1, 2, 1], "time": ["monday"] * 3, "task": ["worker-1"] * 3})
    assert nbuf.stat(table).accesses == 3
    with pytest.raises(nbuf.Error, match="`time` is of the type Utf8"):
        nbuf.read_trace(table, columns={"time": "time"})


def test_numbers_of_numpy_are_numbers(native):
    small = {"page": numpy.int64(8192), "warmup": numpy.int64(100), "sizes": [numpy.int32(10)], "seed": numpy.uint8(3)}
    plain = {"page": 8192, "warmup": 100, "sizes": [10], "seed": 3}
    assert nbuf.curve(native, **small).to_dict() == nbuf.curve(native, **plain).to_dict()
    share = nbuf.curve(native, warmup=numpy.float32(0.5), sample=numpy.float32(0.5)).to_dict()
    assert share == nbuf.curve(native, warmup=0.5, sample=0.5).to_dict()


def test_a_trace_becomes_a_frame_without_pyarrow(native, zipf, monkeypatch):
    import sys

    want = [pyarrow.table(trace).to_pydict() for trace in (nbuf.read_trace(native), zipf)]
    # Texts of pandas are pyarrow's, which imports a part of itself when it is first asked.
    pyarrow.chunked_array([[1]]).take(pyarrow.array([0]))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    got = [trace.to_pandas() for trace in (nbuf.read_trace(native), zipf)]
    assert [{name: frame[name].tolist() for name in frame} for frame in got] == want


def test_a_frame_becomes_a_trace_without_pyarrow(native, requests, zipf):
    """In a process of its own: what has imported pyarrow keeps it."""
    frame = requests.to_pandas()
    made = zipf.to_pandas()[["key", "size"]]
    script = f"""
import sys
sys.modules["pyarrow"] = None
import nbuf, numpy, pandas
def misses(source, **options):
    print([point.misses for point in nbuf.curve(source, sizes=[10, 100], **options).points()])
frame = pandas.read_csv("{native}.frame")
misses(frame)
frame["time"] = pandas.to_datetime(frame.pop("time_ns"), utc=True)
frame["note"] = [None] + ["x"] * (len(frame) - 1)
frame["gap"] = [float("nan")] + [1.5] * (len(frame) - 1)
misses(frame)
keys = pandas.read_csv("{native}.keys")
misses(keys)
misses(keys["key"])
misses(keys["key"].astype("Int64"))
misses(keys.rename(columns={{"key": "lbn"}})["lbn"])
misses(nbuf.read_trace(keys.rename(columns={{"key": "lbn"}}), columns={{"key": "lbn"}}))
misses(pandas.DataFrame({{"key": [f"k{{key}}" for key in keys["key"]]}}))
for wrong in ({{"key": ["a", None]}}, {{"key": [1, 2], "time": pandas.to_datetime(["2020-01-01", None])}}, {{"key": [1, "a"]}}):
    try:
        nbuf.curve(pandas.DataFrame(wrong))
    except nbuf.Error as error:
        print(error)
"""
    frame.to_csv(f"{native}.frame", index=False)
    made.to_csv(f"{native}.keys", index=False)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    requested, keyed = ([str([p.misses for p in nbuf.curve(one, sizes=[10, 100]).points()])] for one in (native, zipf))
    assert lines[:2] == requested * 2 and lines[2:8] == keyed * 6
    # pandas 3 has a type of its own for texts.
    wrong = ["`key` has 1 rows with", "`time` has 1 rows with", "`key` has values of the types int and str"]
    assert len(lines) == 8 + len(wrong) and all(words in line for line, words in zip(lines[8:], wrong)), lines[8:]


def test_texts_are_the_keys_of_a_text_file(folder):
    keys = [f"user:{number % 17}" for number in range(500)] + ["12", "012", "0", "00"]
    path = folder / "names.keys"
    path.write_text("".join(key + "\n" for key in keys))
    want = nbuf.curve(nbuf.read_trace(path, format="keys")).to_dict()["curves"]
    for table in (
        pyarrow.table({"key": keys}),
        pyarrow.table({"key": pyarrow.array(keys).dictionary_encode()}),
        polars.DataFrame({"key": keys}),
        pandas.DataFrame({"key": keys}, dtype="category"),
    ):
        assert nbuf.curve(table).to_dict()["curves"] == want


def test_columns_are_named_and_operations_are_words(requests, native):
    words = ["read", "W", "x", "x", "x", "x", "discard"]
    table = requests.rename_columns(["ts", "what", "volume", "start", "bytes", "task"])
    table = table.set_column(1, "what", pyarrow.array([words[op.as_py()] for op in table["what"]]))
    roles = {"offset": "start", "length": "bytes", "op": "what", "time": "ts"}
    assert drawn(nbuf.read_trace(table, columns=roles)) == drawn(native)
    moments = requests["time_ns"].cast(pyarrow.timestamp("ns")).cast(pyarrow.timestamp("us"))
    table = requests.drop_columns("time_ns").append_column("time", moments)
    assert drawn(table) == drawn(native)


def test_rows_of_a_trace_are_the_trace_again(native, zipf, folder):
    for trace in (nbuf.read_trace(native), zipf):
        assert drawn(pyarrow.table(trace)) == drawn(trace)
        assert drawn(trace.to_polars()) == drawn(trace)
        assert drawn(trace.to_pandas()) == drawn(trace)
    path = nbuf.write_trace(pyarrow.table(zipf), folder / "again.oracleGeneral", format="oracleGeneral")
    assert drawn(path)[0] == drawn(zipf)[0]


def test_what_the_kernel_did_is_no_request(requests):
    kernel = requests.slice(0, 50).set_column(
        1, "op", pyarrow.array([4, 5, 7, 9, 4] * 10, pyarrow.uint8())
    )
    mixed = pyarrow.concat_tables([requests.slice(0, 10), kernel, requests.slice(10)])
    assert drawn(mixed) == drawn(requests)


def test_lists_and_patterns_are_one_trace(folder, zipf):
    nbuf.generate("loop", folder / "part1.oracleGeneral", accesses=1000, pages=100)
    nbuf.generate("scan", folder / "part2.oracleGeneral", accesses=1000, pages=100)
    parts = [str(folder / f"part{number}.oracleGeneral") for number in (1, 2)]
    want = nbuf.curve(parts).to_dict()
    assert want["trace"]["files"] == parts and want["trace"]["requests"] == 2000
    assert nbuf.curve(folder / "part*.oracleGeneral").to_dict() == want


def test_traces_of_files_are_paths(folder, native, zipf):
    """What `merge` recommends for a shared cache."""
    one = nbuf.generate("zipf", folder / "shared-1", accesses=1000, pages=100, seed=1)
    two = nbuf.generate("zipf", folder / "shared-2", accesses=1000, pages=100, seed=2)
    paths = [*one.files, *two.files]
    want = nbuf.curve(nbuf.read_trace(paths, format="oracleGeneral")).to_dict()
    assert nbuf.curve([one, two]).to_dict() == want == nbuf.curve((trace for trace in (one, two))).to_dict()
    fleet = nbuf.fleet([one, two], workers=1)
    assert fleet.checksum == nbuf.fleet(paths, format="oracleGeneral", workers=1).checksum
    assert nbuf.fleet(one, workers=1).checksum == nbuf.fleet(one.files, format="oracleGeneral", workers=1).checksum
    frame = pandas.DataFrame({"page": [1, 2, 1]})
    for table in (frame, nbuf.read_trace(frame), pyarrow.table(frame)):
        for call in (nbuf.fleet, lambda table: nbuf.fleet([table]), lambda table: nbuf.curve([one, table])):
            with pytest.raises(nbuf.Error, match="a table is no file: write it with nbuf.write_trace"):
                call(table)
    with pytest.raises(nbuf.Error, match="several formats"):
        nbuf.curve([one, nbuf.read_trace(two.files[0], format="csv")])


def test_a_disc_serves_a_table_as_a_file(native, requests):
    apart = ("workload", "format", "warnings")
    made = [
        {name: of for name, of in nbuf.simulate(source, size=50, disc="sata-hdd").to_dict().items() if name not in apart}
        for source in (native, requests)
    ]
    assert made[0] == made[1]
