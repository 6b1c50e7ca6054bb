"""Private synthesizers at the limits: domains too large, a small epsilon, constants, fewer rows than classes."""

import tomllib

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from defense_tools import apply, table

from defenses import AdaptiveIterativeMechanism, MaximumSpanningTree, PrivateMarginals, PrivBayes, RefinedBins
from metrics import CategoricalDomain, NumericDomain
from scenarios.commands.cli import cli

METHODS = (MaximumSpanningTree, AdaptiveIterativeMechanism, PrivateMarginals, PrivBayes)
ROLES = """
quasi_identifiers = ["number", "other"]
[columns.number]
type = "number"
integer = true
low = 1
high = 3000
cuts = {cuts}
[columns.other]
type = "number"
integer = true
low = 1
high = 3000
cuts = {cuts}
"""


def released(method, records, epsilon, seed=0):
    return apply(method(epsilon=epsilon), records, seed).frame


def call(folder, *arguments, code=0):
    names = [str(folder / name) if name.endswith((".csv", ".toml")) else name for name in arguments]
    result = CliRunner().invoke(cli, names)
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.integers(1, 3001, (250, 2)), columns=["number", "other"]).to_csv(tmp_path / "t.csv", index=False)
    for name, cuts in (("fine", list(range(2, 3001))), ("coarse", [1000, 2000])):
        (tmp_path / f"{name}.toml").write_text(ROLES.format(cuts=cuts))
    return tmp_path


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("method", ["MaximumSpanningTree", "AdaptiveIterativeMechanism", "RefinedBins"])
def test_a_domain_too_large_for_exact_inference_names_columns_and_what_would_fit(folder, method):
    command = "defend", method, "t.csv", "-o", "released.csv", "--roles"
    output = call(folder, *command, "fine.toml", code=2)
    assert output.count("\n") == 1
    assert "column 'number' has 3,000 values, and 9,000,000 combinations with column 'other'" in output
    assert "declare coarser bins or categories for column 'number'; at most 333 values would fit" in output
    assert not (folder / "released.csv").exists()
    call(folder, *command, "coarse.toml")
    # What the message recommends fits.
    cuts = np.linspace(1, 3001, 334).astype(int)[1:-1].tolist()
    roles = ROLES.format(cuts="[1000, 2000]").replace("[1000, 2000]", str(cuts), 1)
    assert len(tomllib.loads(roles)["columns"]["number"]["cuts"]) == 332
    (folder / "recommended.toml").write_text(ROLES.format(cuts=cuts))
    call(folder, *command, "recommended.toml", "--force")


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("method", METHODS)
def test_an_epsilon_too_small_is_said_and_columns_are_independent(method):
    """Two equal columns of three values agree in a third of the rows; 0.2 is 6 standard deviations of 200 rows."""
    letters = CategoricalDomain(("a", "b", "c"))
    values = np.array(["a", "b", "c"], dtype=object)[np.random.default_rng(0).integers(3, size=200)]
    records = table({"x": letters, "y": letters}, x=values, y=values)
    with pytest.warns(UserWarning, match=f"{method.__name__}: epsilon is too small to measure associations"):
        frame = released(method, records, 0.01)
    shares = frame["x"].value_counts(normalize=True) * frame["y"].value_counts(normalize=True)
    assert abs((frame["x"] == frame["y"]).mean() - shares.sum()) < 0.2
    assert (released(method, records, 50.0)["x"] == released(method, records, 50.0)["y"]).mean() > 0.9


def test_defend_says_that_epsilon_is_too_small(folder):
    command = "defend", "PrivateMarginals", "-p", "epsilon=0.001", "t.csv", "--roles", "coarse.toml", "-o", "r.csv"
    output = call(folder, *command)
    (line,) = [line for line in output.splitlines() if "epsilon" in line and "guaranteed" not in line]
    assert line.startswith("warning: PrivateMarginals: epsilon is too small to measure associations")
    assert len(pd.read_csv(folder / "r.csv")) == 250


@pytest.mark.thorough_beyond(3)
@pytest.mark.filterwarnings("ignore:.*epsilon is too small")
@pytest.mark.parametrize("method", METHODS)
def test_constant_columns(method):
    """A domain of one value, a constant among several values, and a constant number."""
    domains = {"one": CategoricalDomain(("a",)), "same": CategoricalDomain(("a", "b")), "number": NumericDomain(7, 7)}
    records = table(domains, one=["a"] * 50, same=["b"] * 50, number=[7.0] * 50)
    for epsilon in (0.01, 50.0):
        frame = released(method, records, epsilon)
        assert (frame["one"] == "a").all()
        assert (frame["number"] == 7).all()
    assert (frame["same"] == "b").all()
    assert (apply(RefinedBins(), records).frame["number"] == 7).all()


@pytest.mark.thorough_beyond(1)
@pytest.mark.filterwarnings("ignore:.*epsilon is too small")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_fewer_rows_than_classes(method, rows):
    names = tuple(map(str, range(40)))
    domains = {"x": CategoricalDomain(names), "y": CategoricalDomain(names), "z": NumericDomain(0, 1, cuts=(0.5,))}
    records = table(domains, x=list(names[:rows]), y=list(names[:rows]), z=[0.2] * rows)
    for epsilon in (0.1, 100_000.0):
        frame = released(method, records, epsilon)
        assert frame.shape == (rows, 3)
        assert set(frame["x"]) <= set(names)
    # Little noise remains.
    assert set(frame["x"]) <= set(names[:rows])
