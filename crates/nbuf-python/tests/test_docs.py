"""The examples of docs/python.md run."""

import os
import pathlib
import re

import nbuf
import pytest

PAGE = pathlib.Path(os.environ.get("NBUF_DOCS", pathlib.Path(__file__).parents[3] / "docs")) / "python.md"
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```output\n(.*?)^```\n)?", re.M | re.S)
BLOCKS = list(BLOCK.finditer(PAGE.read_text()))


def test_the_page_has_examples_and_every_public_name():
    assert len(BLOCKS) > 5
    text = PAGE.read_text()
    assert not [name for name in nbuf.__all__ if name not in text]


def test_the_examples_run_one_after_the_other(tmp_path, monkeypatch, capsys):
    import matplotlib

    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in BLOCKS:
        line = PAGE.read_text()[: block.start()].count("\n") + 2
        source = block[1]
        if "nbuf.size(" in source or "nbuf.record(" in source or "nbuf.verify(" in source:
            if not os.path.exists(os.environ.get("NBUF_PROGRAM", "")):
                continue
        exec(compile("\n" * (line - 1) + source, str(PAGE), "exec"), names)
        printed = capsys.readouterr().out
        if os.environ.get("UPDATE_EXPECT") and block[2] is not None:
            PAGE.write_text(PAGE.read_text().replace(block[0], block[0].replace(block[2], printed)))
        else:
            assert block[2] is None or printed == block[2], f"line {line}"


@pytest.fixture(autouse=True)
def a_trace_is_there(tmp_path):
    nbuf.generate("zipf", tmp_path / "trace.oracleGeneral", accesses=20_000, pages=2000)
