"""Each mistake is one clear exception."""

import nbuf
import numpy
import pyarrow
import pytest

TABLES = [
    ({"key": [1.5]}, "`key` is of the type Float64"),
    ({"key": [1, None]}, "`key` has 1 rows without a value"),
    ({"lbn": [1], "n": [2]}, 'no column key, or offset_bytes and length_bytes among lbn, n: name it, such as columns='),
    ({"offset": [1], "n": [1]}, "no column length_bytes among"),
    ({"key": [1], "size": ["a"]}, "`size` is of the type Utf8"),
    ({"key": [1], "size": [-1]}, "`size` has negative numbers"),
    ({"key": [1], "op": ["leap"]}, "operation leap"),
    ({"key": [1], "op": [99]}, "operation 99"),
    ({"key": [[1]]}, "`key` is of the type List"),
    ({"key": pyarrow.DictionaryArray.from_arrays([0, 1], ["a", None])}, "`key` has 1 rows without a value"),
    ({"key": [1], "task": [2**32]}, "has the task 4294967296"),
    ({"key": [1, 2], "time": [1_700_000_000, 1_700_000_001]}, "look like seconds since 1970"),
    ({"key": [1, 2], "time": [1_700_000_000_000] * 2}, "look like milliseconds since 1970"),
    ({"volume": [0, 1], "block": [5, 5]}, "keys and files are two columns"),
]


@pytest.mark.parametrize(("columns", "words"), TABLES)
def test_a_table_that_is_no_trace(columns, words):
    with pytest.raises(nbuf.Error, match=words.replace("(", r"\(")):
        nbuf.curve(pyarrow.table(columns))


MISTAKES = [
    (lambda zipf: nbuf.curve(zipf, policy="lruu"), "no policy `lruu`"),
    (lambda zipf: nbuf.curve(zipf, sizes="3x"), "`3x` is not a size"),
    (lambda zipf: nbuf.curve(zipf, page="10%"), "is a share"),
    (lambda zipf: nbuf.curve(zipf, writes="never"), "`never`"),
    (lambda zipf: nbuf.curve(zipf, window="1y"), "1y is no window"),
    (lambda zipf: nbuf.curve(zipf, unit="byte"), "`byte` is no unit"),
    (lambda zipf: nbuf.curve(zipf, by="file"), "cannot split|names no"),
    (lambda zipf: nbuf.curve([]), "list of traces is empty"),
    (lambda zipf: nbuf.curve(7), "cannot be read from int"),
    (lambda zipf: nbuf.curve(numpy.zeros((2, 2), "u8")), "has not one dimension"),
    (lambda zipf: nbuf.curve(numpy.zeros(0, "u8")), "has no requests"),
    (lambda zipf: nbuf.curve(numpy.array([1j])), "has the type"),
    (lambda zipf: nbuf.read_trace(key=numpy.array(["a", None], dtype=object)), "no text"),
    (lambda zipf: nbuf.read_trace(key=[1], time=numpy.array(["NaT"], "M8[s]")), "without a value"),
    (lambda zipf: nbuf.knee(nbuf.curve(zipf), page=8192), "drawn already, without page"),
    (lambda zipf: nbuf.read_trace(key=[1, 2], size=[1]), "different lengths: key has 2, size has 1"),
    (lambda zipf: nbuf.read_trace(zipf, key=[1]), "not both"),
    (lambda zipf: nbuf.read_trace(pyarrow.table({"a": [1]}), columns={"kye": "a"}), "no role `kye`"),
    (lambda zipf: nbuf.simulate(zipf, size=10, disc="floppy"), "floppy"),
    (lambda zipf: nbuf.generate("zapf", "/tmp/never"), "`zapf`"),
    (lambda zipf: nbuf.write_trace(zipf, "/tmp/never"), "has keys, and a native trace has bytes"),
    (lambda zipf: nbuf.write_trace(zipf, zipf.files[0], format="oracleGeneral"), "exists|is there"),
    (lambda zipf: nbuf.read_trace(zipf.files[0], format="csv").to_polars(), "csv"),
    (lambda zipf: nbuf.read_trace(zipf, columns={"key": "a"}), "names those of a table"),
    (lambda zipf: nbuf.distances([1.0, 2.0]), "these are float64"),
    (lambda zipf: nbuf.record(["true"], zipf.files[0]), "exists: move it away"),
]


@pytest.mark.parametrize(("mistake", "words"), MISTAKES)
def test_a_mistake_of_the_caller(zipf, mistake, words):
    with pytest.raises(nbuf.Error, match=words) as raised:
        mistake(zipf)
    assert "\n" not in str(raised.value)


def test_missing_files_are_pythons_error_too(folder):
    for missing in (folder / "none.parquet", str(folder / "*.none")):
        with pytest.raises(FileNotFoundError, match="none") as raised:
            nbuf.curve(missing)
        assert isinstance(raised.value, nbuf.Error)


SYNTHETIC = [
    (lambda: nbuf.curve("zipf:nonsense=1"), "zipf:nonsense=1 is a synthetic workload, .*there is none of this name"),
    (lambda: nbuf.stat("uniform:"), "uniform: is a synthetic workload, .*nbuf.generate"),
    (lambda: nbuf.simulate("loop:keys=5", size=10), "loop:keys=5 is a synthetic workload"),
    (lambda: nbuf.curve("nonsense:keys=5"), "cannot open nonsense:keys=5"),
]


@pytest.mark.parametrize(("mistake", "words"), SYNTHETIC)
def test_a_missing_file_with_the_name_of_a_synthetic_workload(mistake, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=words) as raised:
        mistake()
    assert isinstance(raised.value, nbuf.Error) and "\n" not in str(raised.value)


def test_a_file_may_have_the_name_of_a_synthetic_workload(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "zipf:nonsense=1").write_text("0,R,0,4096,1\n")
    assert nbuf.stat(nbuf.read_trace("zipf:nonsense=1", format="alibaba")).requests == 1


def test_a_wrong_setting_of_a_synthetic_workload_is_named():
    with pytest.raises(nbuf.Error, match="`nonsense=1` is no option of zipf") as raised:
        nbuf.simulate("zipf:nonsense=1", size=10, disc="nvme-ssd")
    assert not isinstance(raised.value, FileNotFoundError)
    assert nbuf.simulate("zipf:keys=100,requests=1000", size=10, disc="nvme-ssd").hit_ratio > 0


def test_a_damaged_footer_names_the_file(native, folder):
    damaged = folder / "damaged.parquet"
    data = native.read_bytes()
    damaged.write_bytes(data[:-500] + bytes(492) + data[-8:])
    with pytest.raises(nbuf.Error, match="damaged.parquet"):
        nbuf.curve(damaged)


def test_a_library_that_is_not_there_is_named(monkeypatch, zipf):
    import sys

    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(nbuf.MissingLibrary, match="pip install polars"):
        nbuf.curve(zipf).to_polars()


def test_a_key_that_is_named_stands_for_itself():
    table = pyarrow.table({"volume": [0, 1, 0, 1], "block": [5, 5, 5, 5]})
    keys = nbuf.read_trace(table, columns={"key": "block"})
    assert [point.hits for point in nbuf.curve(keys, sizes=[1]).points() if point.size_pages == 1] == [3]
