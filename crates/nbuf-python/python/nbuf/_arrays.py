"""Arrays of NumPy and DataFrames of pandas as the library takes them: numbers as they are in memory."""

from __future__ import annotations

from typing import Any

from nbuf import _nbuf
from nbuf._errors import Error
from nbuf._results import library


def array(role: str, values: Any) -> Any:
    """What the library takes of values: numbers and times as they are in memory, texts as a table."""
    numpy = library("numpy")
    made = numpy.ascontiguousarray(values)
    if made.dtype.kind == "M":
        if numpy.isnat(made).any():
            raise Error(f"`{role}` has rows without a value: leave them out, or fill them")
        unit = numpy.datetime_data(made.dtype)
        return made if unit in [(one, 1) for one in ("s", "ms", "us", "ns")] else made.astype("M8[ns]")
    if made.dtype.kind not in "OUT" or made.ndim != 1:
        return made
    texts = made.tolist()
    wrong = next((one for one in texts if not isinstance(one, str)), None)
    if wrong is not None or None in texts:
        raise Error(f"`{role}` has the value {wrong!r}, which is no text: give texts alone, or whole numbers")
    return _nbuf.Frame([(role, "str", texts)])


def frame(table: Any) -> list[tuple[str, Any]]:
    """The columns of a DataFrame or a Series of pandas, which needs pyarrow to make a stream of them."""
    if not hasattr(table, "columns"):
        table = table.to_frame()
    return [(str(name), _column(str(name), table.iloc[:, at])) for at, name in enumerate(table.columns)]


def _column(name: str, series: Any) -> Any:
    """A column. Rows without a value become nulls: they are no error where the column is not used."""
    is_moment = getattr(series.dtype, "tz", None) is not None
    made = series.to_numpy("M8[ns]") if is_moment else series.to_numpy()
    missing = series.isna().tolist()
    if made.dtype.kind == "O":
        values = [None if is_missing else value for value, is_missing in zip(made.tolist(), missing)]
        types = {type(value) for value in values if value is not None}
        for kind, of in (("str", str), ("i64", int), ("bool", bool), ("f64", float)):
            if types <= {of}:
                return _nbuf.Frame([(name, kind, values)])
        names = " and ".join(sorted(one.__name__ for one in types))
        raise Error(f"`{name}` has values of the types {names}: leave the column out, or install pyarrow")
    if any(missing):
        # Only where they are matters.
        return _nbuf.Frame([(name, "f64", [None if is_missing else 0.0 for is_missing in missing])])
    return array(name, made.astype("f8") if made.dtype.kind == "f" else made)
