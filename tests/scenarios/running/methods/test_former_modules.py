"""Former module paths lead to what they named."""

import csv
import importlib
from importlib.util import find_spec
from pathlib import Path

import pytest

from scenarios.running.methods.former_modules import PACKAGES, successor
from scenarios.running.methods.methods import class_at

ROOT = Path(__file__).parents[4]
TABLE = ROOT / "scenarios" / "running" / "methods" / "former_modules.csv"


def modules(package):
    for path in (ROOT / package).rglob("*.py"):
        yield ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def test_every_successor_stands_and_no_former_path_does():
    present = {module for package in PACKAGES for module in modules(package)}
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len({row["former"] for row in rows})
    assert [row["module"] for row in rows if row["module"] not in present] == []
    assert [row["former"] for row in rows if row["former"] in present] == []


@pytest.mark.parametrize(
    ("former", "name"),
    [
        ("scenarios.choosing.confirmation", "confirmed_bounds"),
        ("scenarios.large.rowwise.steps", "Step"),
        ("leaderboard.report", "Section"),
        ("metrics.cells", "read_cells"),
        ("scenarios.cli", "cli"),
    ],
)
def test_a_former_path_gives_the_object_itself(former, name):
    found = getattr(importlib.import_module(former), name)
    assert found is getattr(importlib.import_module(successor(former)), name)


def test_a_stored_class_is_found_by_its_former_module():
    assert class_at("scenarios.files.toml_file:TomlTable") is class_at("scenarios.tables.toml.toml_file:TomlTable")


def test_what_never_was_a_module_stays_unknown():
    assert find_spec("scenarios.nowhere") is None
    with pytest.raises(ModuleNotFoundError, match=r"scenarios\.tables\.parts\.nowhere"):
        importlib.import_module("scenarios.large.nowhere")
