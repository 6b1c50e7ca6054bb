"""The notebooks of the documentation run from top to bottom, and the repository holds them without outputs."""

import json
import os
import re

import pytest
from run_tools import ROOT, fork_or_start

pytestmark = pytest.mark.waits

FEWER = {"plays=3": "plays=1", "jobs=2": "jobs=1", '"Rounding", "Mondrian", "GaussianCopula"': '"Mondrian"'}
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs(path):
    content = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    assert code
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


def start_kernel(command, *, env, **options):
    """Start a kernel as a fork that has the packages loaded."""
    # The parent of a fork is the server; a kernel ends as soon as its parent is not the process of this number.
    variables = {name: text for name, text in env.items() if name != "JPY_PARENT_PID"}
    return fork_or_start(command, modules=["ipykernel.kernelapp"], env=variables, **options)


@pytest.mark.thorough
@pytest.mark.long_for("own_attack")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path, monkeypatch):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    monkeypatch.setattr("jupyter_client.launcher.Popen", start_kernel)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        # One play of one worker shows all that three plays of two show, and three defenses all that five show.
        for asked, fewer in FEWER.items():
            cell["source"] = cell["source"].replace(asked, fewer)
    nbclient.NotebookClient(notebook, timeout=200, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    kinds = {kind for output in shown for kind in output.get("data", {})}
    assert "text/html" in kinds
    assert not [output for output in shown if output.output_type == "error" or output.get("name") == "stderr"]
    check = CHECKS.get(path.stem)
    assert check is not None, "add a check of what the notebook shows"
    check(shown, kinds, tmp_path)


def _own_table(shown, kinds, folder):
    assert "image/svg+xml" in kinds
    gate = next(output.text for output in shown if output.get("name") == "stdout")
    assert "fails  | table on table, decoys=hard | advantage of " in gate
    assert "passes | " in gate


def _own_attack(shown, kinds, folder):
    best = shown[-1]["data"]["text/html"]
    # The own attack is the better one on the defense that replaces values at random, in both variants.
    assert best.count("my_attack:MostLikely") >= 2
    assert not re.search(r"RetentionReplacement retention=0.5</td>\s*<td>NearestNeighbour", best)


def _reading_a_board(shown, kinds, folder):
    assert "image/svg+xml" in kinds
    assert "\\caption{bank, decoys=hard." in shown[-1].text
    assert {"board.db", "board.html", "figure.svg"} <= {file.name for file in folder.iterdir()}


CHECKS = {"own_table": _own_table, "own_attack": _own_attack, "reading_a_board": _reading_a_board}
