"""Former module paths lead to what they named."""

import csv
import importlib
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from defenses.dp import Exponential, Laplace
from defenses.federated import EqualSplit, SecureAggregation
from defenses.ldp import CountMeanSketch, OptimizedUnaryEncoding, PiecewiseMechanism, SubsetSelection
from scenarios.games.table_game import QuestionGame
from scenarios.running.methods.former_modules import PACKAGES, class_successor, successor
from scenarios.running.methods.methods import class_at, source_name

ROOT = Path(__file__).parents[4]
EARLIER = Path(__file__).with_name("earlier_classes.txt")
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
        ("scenarios.tables.parts.rowwise.steps", "Step"),
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


def test_every_class_of_before_is_found_or_names_its_successor():
    lost = []
    for line in EARLIER.read_text(encoding="utf-8").splitlines():
        module, *classes = line.split()
        for name in (f"{module}:{each}" for each in classes):
            try:
                class_at(name)
            except ValueError as error:
                today, _, thing = class_successor(name).partition(":")
                if f"{today}:{thing}" not in str(error) or not hasattr(importlib.import_module(today), thing):
                    lost.append(name)
    assert lost == []


def test_a_class_that_became_a_function_names_it():
    with pytest.raises(ValueError, match=r"steps:Recoded': its successor is defenses\.base\.blocks:recoded_step$"):
        class_at("scenarios.large.rowwise.steps:Recoded")
    assert class_at("scenarios.games.candidates_game:CandidatesGame") is QuestionGame


def test_what_never_was_a_module_stays_unknown():
    assert find_spec("scenarios.nowhere") is None
    with pytest.raises(ModuleNotFoundError, match=r"scenarios\.tables\.parts\.nowhere"):
        importlib.import_module("scenarios.large.nowhere")


@pytest.mark.parametrize(
    ("part", "module"),
    [
        (EqualSplit(clients=3), "defenses.federated.splits"),
        (SecureAggregation(), "defenses.federated.secure_aggregation"),
        (PiecewiseMechanism(epsilon=1.0), "defenses.ldp.piecewise_mechanism"),
        (OptimizedUnaryEncoding(epsilon=1.0, d=4), "defenses.ldp.unary_encoding"),
        (SubsetSelection(epsilon=1.0, d=4), "defenses.ldp.subset_selection"),
        (CountMeanSketch(), "defenses.ldp.count_mean_sketch"),
        (Exponential(), "defenses.dp.exponential"),
        (Laplace(), "defenses.dp.laplace"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_part_keeps_the_name_from_which_seeds_derive(part, module):
    assert source_name(part) == f"{module}:{type(part).__name__}"


def test_no_name_of_a_package_is_a_former_module():
    """Importing a former module would set the package's attribute of that name to the module."""
    former = {line.split(",")[0] for line in TABLE.read_text(encoding="utf-8").splitlines()}
    faces = [path for package in PACKAGES for path in (ROOT / package).rglob("__init__.pyi")]
    pattern = re.compile(r"^from \S+ import \w+ as (\w+)$", re.MULTILINE)
    names = {
        f"{'.'.join(path.parent.relative_to(ROOT).parts)}.{name}"
        for path in faces
        for name in pattern.findall(path.read_text(encoding="utf-8"))
    }
    assert faces
    assert not names & former
