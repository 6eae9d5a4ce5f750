"""The same accesses are the same trace, whatever holds them."""

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


def test_texts_are_the_keys_of_a_text_file(folder):
    keys = [f"user:{number % 17}" for number in range(500)] + ["12", "012"]
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


def test_a_disc_serves_a_table_as_a_file(native, requests):
    apart = ("workload", "format", "cautions")
    made = [
        {name: of for name, of in nbuf.simulate(source, size=50, disc="sata-hdd").to_dict().items() if name not in apart}
        for source in (native, requests)
    ]
    assert made[0] == made[1]
