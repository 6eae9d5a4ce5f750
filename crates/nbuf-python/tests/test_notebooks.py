"""The notebooks of docs/notebooks run from their first cell to their last."""

import importlib.util
import os
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "docs" / "notebooks"
MODULES = ["nbclient", "nbformat", "ipykernel"]


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.ipynb")))
def test_a_notebook_runs(name, tmp_path, monkeypatch, program):
    missing = [module for module in MODULES if importlib.util.find_spec(module) is None]
    reason = f"no notebooks: pip install {' '.join(missing)}" if missing else None
    if name == "live-service" and os.geteuid() != 0:
        reason = "no right to watch a service: the notebook live-service runs as root"
    if reason:
        if log := os.environ.get("NBUF_SKIP_LOG"):
            with open(log, "a") as file:
                print(reason, file=file)
        pytest.skip(reason)
    import nbclient
    import nbformat

    for variable in ("NBUF_TRACE", "NBUF_TRACES"):
        monkeypatch.delenv(variable, raising=False)
    # The file of the service is on a disc: a cache in front of memory would not be asked.
    monkeypatch.setenv("NBUF_NOTEBOOK_DIR", str(FOLDER.parents[1] / "target"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", 4)
    committed = [cell.get("outputs", []) for cell in notebook.cells]
    client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    for cell, before in zip(notebook.cells, committed):
        kinds = [sorted(one.get("data", {})) for one in cell.get("outputs", []) if one["output_type"] != "stream"]
        assert kinds == [sorted(one.get("data", {})) for one in before if one["output_type"] != "stream"], cell.source
        # What is counted is the same everywhere.
        if name != "live-service":
            texts = [one.get("data", {}).get("text/plain") for one in cell.get("outputs", [])]
            wanted = [one.get("data", {}).get("text/plain") for one in before]
            assert texts == wanted, cell.source
