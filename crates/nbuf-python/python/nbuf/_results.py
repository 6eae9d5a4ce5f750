"""What functions return: the document of `--json`, and one table of it."""

from __future__ import annotations

import html
import importlib
from collections.abc import Sequence
from typing import Any

from nbuf import _nbuf
from nbuf._errors import MissingLibrary

# A name, a type (u64, i64, f64, bool, str) and the values of a column.
Column = tuple[str, str, list[Any]]


def library(name: str) -> Any:
    """A library that is imported where it is used, and not with nbuf."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingLibrary(f"{name} is not installed: pip install {name}") from error


class Result:
    """A document and its table. Any library that takes Arrow streams takes it as a table."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    def to_dict(self) -> dict[str, Any]:
        """The document that the program prints with `--json`."""
        return self._document

    def _columns(self) -> Sequence[Column]:
        """One row: the fields of the document that are numbers or texts."""
        kinds = {bool: "bool", int: "i64", float: "f64", str: "str"}
        return [
            (name, kinds[type(value)], [value])
            for name, value in self._document.items()
            if type(value) in kinds
        ]

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return _nbuf.Frame(list(self._columns())).__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame."""
        columns = self._columns()
        return library("pandas").DataFrame({name: values for name, _, values in columns})

    def to_polars(self) -> Any:
        """The table as a polars.DataFrame."""
        return library("polars").DataFrame(self)

    def _rows_shown(self) -> int:
        return 60

    def _repr_html_(self) -> str:
        return table(self._columns(), self._rows_shown())


def table(columns: Sequence[Column], most: int) -> str:
    """A table in HTML, of the first rows."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name, _, _ in columns)
    rows = list(zip(*(values for _, _, values in columns)))
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(shown(value))}</td>" for value in row) + "</tr>"
        for row in rows[:most]
    )
    more = f"<p>{len(rows) - most} more rows</p>" if len(rows) > most else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def shown(value: Any) -> str:
    """A value for people."""
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)
