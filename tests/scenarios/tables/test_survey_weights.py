"""Survey weights are no quasi-identifier, leave the tool unchanged, and give individual risks."""

import tomllib

import numpy as np
import pandas as pd
import pytest
from run_tools import invoke

from scenarios.tables.dataset import load_table
from scenarios.tables.review.suggestions import suggested_weight

ROLES = 'quasi_identifiers = ["a", "b", "c"]\nweight = "weight"\n'
EIGHT = {"a": [2, 3, 2, 2, 3, 3, 1, 2], "b": [3, 3, 3, 3, 3, 3, 4, 3], "c": [1, 3, 1, 2, 1, 1, 1, 1]}
WEIGHTS = [18, 45.5, 39, 17, 92, 8, 123.5, 51]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({**EIGHT, "weight": WEIGHTS}).to_csv("eight.csv", index=False)
    (tmp_path / "roles.toml").write_text(ROLES)
    return tmp_path


@pytest.mark.parametrize("name", ["fnlwgt", "pweight", "Sampling Weight", "集計用乗率", "design_weight", "Gewichtung"])
def test_names_of_weights_are_known(name):
    assert suggested_weight(name, pd.Series([120, 300, 501])).role == "weight"


@pytest.mark.parametrize(
    ("numbers", "weights"),
    [([0.5, 1.5, 1.2], True), ([110.2345, 98.7654, 123.4567], True), ([70, 81, 66], False), ([70.5, 81.2, 66], False)],
)
def test_the_weight_of_a_body_is_none_of_a_survey(numbers, weights):
    assert (suggested_weight("weight", pd.Series(numbers)) is not None) == weights


@pytest.mark.parametrize("column", [["x", "y"], [-1, 2], [1, 1], [np.nan, np.nan]])
def test_texts_negative_and_constant_numbers_are_no_weights(column):
    assert suggested_weight("pweight", pd.Series(column)) is None


def test_describe_proposes_a_weight_which_defenses_leave_as_it_is(folder):
    rng, n = np.random.default_rng(0), 200
    people = pd.DataFrame(
        {"age": rng.integers(18, 80, n), "sex": rng.choice(["f", "m"], n), "weight": rng.gamma(2, 200, n).round(4)}
    )
    people.to_csv("people.csv", index=False)
    invoke("describe", "people.csv", "-o", "people.toml")
    roles = tomllib.loads((folder / "people.toml").read_text())
    assert roles["weight"] == "weight"
    assert "weight" not in roles["quasi_identifiers"]
    assert load_table("people.csv", "people.toml").weight == "weight"
    invoke("defend", "Mondrian", "people.csv", "--roles", "people.toml", "-p", "k=5", "-o", "released.csv")
    assert sorted(pd.read_csv("released.csv")["weight"]) == sorted(people["weight"])
    risk = invoke("risk", "released.csv", "--roles", "people.toml").stdout
    assert "individual, highest" in risk


@pytest.mark.thorough
def test_risk_prints_individual_risks_and_population_uniques_in_memory_and_in_parts(folder):
    printed = invoke("risk", "eight.csv", "--roles", "roles.toml").stdout
    numbers = {line.split("  ")[0]: line.split("  ", 1)[1].split()[0] for line in printed.splitlines() if "  " in line}
    assert numbers["individual, highest"] == ".177"
    assert numbers["individual, mean"] == ".048"
    assert numbers["weights"] == ".1"
    assert invoke("risk", "eight.csv", "--roles", "roles.toml", "--memory", "1GB").stdout == printed


@pytest.mark.thorough
def test_relative_weights_need_the_size_of_the_population(folder):
    pd.DataFrame({**EIGHT, "weight": np.array(WEIGHTS) / np.mean(WEIGHTS)}).to_csv("relative.csv", index=False)
    printed = invoke("risk", "relative.csv", "--roles", "roles.toml").stdout
    assert "individual" not in printed.replace("individual risks", "")
    assert "weight: weights below 1 count no people, so they are relative; give --population-size" in printed
    scaled = invoke("risk", "relative.csv", "--roles", "roles.toml", "--population-size", "394").stdout
    assert "individual, highest  .177" in scaled


@pytest.mark.parametrize("cell", ["", "*", "0", "-3", "[1,5]"])
def test_a_weight_that_is_no_number_gives_no_individual_risk(folder, cell):
    pd.DataFrame({**EIGHT, "weight": [cell, *map(str, WEIGHTS[1:])]}).to_csv("gap.csv", index=False)
    printed = invoke("risk", "gap.csv", "--roles", "roles.toml").stdout
    assert "weight: not all cells are listed numbers above 0" in printed
    assert "individual, " not in printed


@pytest.mark.parametrize(
    ("roles", "words"),
    [
        ('quasi_identifiers = ["a", "weight"]\nweight = "weight"\n', "is the weight and stands in another role too"),
        (ROLES + '[columns.weight]\ntype = "category"\n', "weight 'weight' must be a number"),
        ('weight = "none"\n', "key 'weight': there is no column 'none'"),
    ],
)
def test_a_weight_with_another_role_or_type_is_refused(folder, roles, words):
    (folder / "roles.toml").write_text(roles)
    with pytest.raises(ValueError, match=words):
        load_table("eight.csv", "roles.toml")
