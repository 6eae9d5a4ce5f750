"""The notebooks of docs/notebooks run from their first cell to their last."""

import importlib.util
import os
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "docs" / "notebooks"
MODULES = ["nbclient", "nbformat", "ipykernel"]


def skip_for(reason):
    """A line says that it is skipped."""
    if log := os.environ.get("NBUF_SKIP_LOG"):
        with open(log, "a") as file:
            print(reason, file=file)
    pytest.skip(reason)


@pytest.fixture
def executed(tmp_path):
    """Runs a notebook; the notebook and the outputs that are committed."""
    if missing := [module for module in MODULES if importlib.util.find_spec(module) is None]:
        skip_for(f"no notebooks: pip install {' '.join(missing)}")
    import nbclient
    import nbformat

    def run(name):
        notebook = nbformat.read(FOLDER / f"{name}.ipynb", 4)
        committed = [cell.get("outputs", []) for cell in notebook.cells]
        client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
        client.execute()
        return notebook, committed

    return run


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.ipynb")))
def test_a_notebook_runs(name, tmp_path, monkeypatch, program, executed):
    if name == "live-service" and os.geteuid() != 0:
        skip_for("no right to watch a service: the notebook live-service runs as root")
    for variable in ("NBUF_TRACE", "NBUF_TRACES"):
        monkeypatch.delenv(variable, raising=False)
    # The file of the service is on a disc: a cache in front of memory would not be asked.
    monkeypatch.setenv("NBUF_NOTEBOOK_DIR", str(FOLDER.parents[1] / "target"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    notebook, committed = executed(name)
    for cell, before in zip(notebook.cells, committed):
        kinds = [sorted(one.get("data", {})) for one in cell.get("outputs", []) if one["output_type"] != "stream"]
        assert kinds == [sorted(one.get("data", {})) for one in before if one["output_type"] != "stream"], cell.source
        # What is counted is the same everywhere.
        if name != "live-service":
            texts = [one.get("data", {}).get("text/plain") for one in cell.get("outputs", [])]
            wanted = [one.get("data", {}).get("text/plain") for one in before]
            assert texts == wanted, cell.source


def test_the_notebook_of_a_cache_takes_a_trace_of_production(monkeypatch, executed):
    """A million requests to a cache of Twitter. The trace is not part of the repository."""
    folder = Path(os.environ.get("NBUF_TRACES", FOLDER.parents[2] / "shared" / "traces"))
    trace = folder / "twitter" / "twitter_cluster52.csv.zst"
    if not trace.exists():
        skip_for(f"no sample trace {trace}; NBUF_TRACES may name their folder")
    monkeypatch.setenv("NBUF_TRACE", str(trace))
    notebook, _ = executed("kv-cache")
    outputs = [one for cell in notebook.cells for one in cell.get("outputs", [])]
    assert not [one for one in outputs if one["output_type"] == "error"]
    assert "requests=1000000" in outputs[0]["data"]["text/plain"]
    assert any("image/png" in one.get("data", {}) for one in outputs)
    (said,) = [one["text"] for one in outputs if one["output_type"] == "stream"]
    assert said.count("% of requests hit") == 2
