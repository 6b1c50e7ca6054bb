"""Households: their rows stay together, their risk is shown, and values that name them are noted."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from run_tools import invoke

from defenses import Microdata, Mondrian
from leaderboard.pages.number_text import measure
from metrics import equivalence_classes
from scenarios.assessment.evaluation.evaluation_setting import EvaluationSetting
from scenarios.assessment.evaluation.finished_classes import released_classes
from scenarios.assessment.evaluation.row_origin import UNRELIABLE, RowOrigin, given_origin
from scenarios.assessment.reporting.findings import group_findings
from scenarios.tables.dataset import load_table
from scenarios.tables.review.households import risk_of_rows, values_of_groups
from scenarios.tables.review.reviewed_table import ReviewedTable
from scenarios.tables.review.rows_of_people import numbers_in
from scenarios.tables.review.suggestions import BY_NAME_GROUP, suggested_identifier
from scenarios.tables.roles import read_roles


@pytest.fixture
def folder(tmp_path):
    """A table of 200 households of one to three people; an income that all members share names many of them."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 4, size=200)
    household = np.repeat(np.arange(200), sizes)
    people = pd.DataFrame({
        "HouseholdID": [f"H{number:03}" for number in household],
        "age": rng.integers(18, 80, size=household.size),
        "sex": rng.choice(["f", "m"], size=household.size),
        "HouseholdIncome": rng.integers(100, 400, size=200)[household] * 100,
    })  # fmt: skip
    people.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "roles.toml").write_text(
        'quasi_identifiers = ["age", "sex"]\nsensitive = ["HouseholdIncome"]\ngroup = "HouseholdID"\n'
    )
    return tmp_path


def expected_risk(released, origin, people):
    """Highest and mean household risk, one household at a time."""
    classes = equivalence_classes(released, ["age", "sex"])
    alone = 1 / np.bincount(classes)[classes]
    households = people["HouseholdID"].to_numpy()[origin]
    risks = [1 - np.prod(1 - alone[households == name]) for name in np.unique(households)]
    return max(risks), float(np.mean(risks))


@pytest.mark.parametrize("given", [[], ["--memory", "600MB"]], ids=["in memory", "in parts"])
def test_defend_says_the_risk_of_a_household(folder, given):
    files = ["--roles", folder / "roles.toml", "-o", folder / "r.csv", "--truth", folder / "who.csv", "--seed", "1"]
    done = invoke("defend", "Mondrian", "-p", "k=4", folder / "people.csv", *files, *given)
    assert done.exit_code == 0, done.output
    people, released = pd.read_csv(folder / "people.csv"), pd.read_csv(folder / "r.csv")
    assert "HouseholdID" not in released
    origin = pd.read_csv(folder / "who.csv").iloc[:, -1].to_numpy()
    highest, mean = (f"{value:.3f}".lstrip("0") for value in expected_risk(released, origin, people))
    assert "warning: HouseholdID: " in done.stderr
    assert "k and epsilon count members" in done.stderr
    assert f"recognized with probability {highest} at most, {mean} on average" in done.stderr


@pytest.mark.parametrize("given", [True, False], ids=["given", "by cells"])
def test_a_report_holds_the_risk_of_a_household_where_it_is_known_whose_the_rows_are(folder, given):
    dataset = load_table(folder / "people.csv", folder / "roles.toml")
    setting = EvaluationSetting(dataset, read_roles(folder / "roles.toml"))
    cells = Mondrian(k=4).apply(dataset.records, np.random.default_rng(1)).frame
    order = np.random.default_rng(2).permutation(len(cells))
    table = setting.read("r.csv", cells.iloc[order].to_csv(index=False).encode())
    origin = given_origin(order) if given else RowOrigin(UNRELIABLE, order, "")
    classes = released_classes(setting, table, origin)
    highest, mean = expected_risk(cells, np.arange(len(cells)), pd.read_csv(folder / "people.csv"))
    assert classes.groups == pytest.approx((highest, mean))
    [finding] = group_findings(classes, 0.09)
    assert (finding.value, finding.status) == (pytest.approx(highest), "above")
    assert f"{mean:.2f}".lstrip("0") in finding.meaning


@pytest.mark.parametrize("unnamed", [0, 30])
def test_risk_of_a_release_with_its_households_is_that_of_the_households(folder, unnamed):
    people = pd.read_csv(folder / "people.csv")
    (folder / "released.toml").write_text(
        'quasi_identifiers = ["age", "sex"]\nunprotected = ["HouseholdID"]\ngroup = "HouseholdID"\n'
    )
    people["age"] = people["age"] // 20 * 20
    released = people.drop(columns="HouseholdIncome")
    # A row that names no household is one of its own.
    people.loc[: unnamed - 1, "HouseholdID"] = [f"own {number}" for number in range(unnamed)]
    released.loc[: unnamed - 1, "HouseholdID"] = None
    released.to_csv(folder / "coarse.csv", index=False)
    highest, mean = (f"{value:.3f}".lstrip("0") for value in expected_risk(people, np.arange(len(people)), people))
    for given in ([], ["--memory", "600MB"]):
        done = invoke("risk", folder / "coarse.csv", "--roles", folder / "released.toml", *given)
        shown = {line[:20].strip(): line.split()[2] for line in done.stdout.splitlines() if line.startswith("group, ")}
        assert shown == {f"group, highest      {highest}"[:20].strip(): highest, "group, mean": mean}, done.output


def test_risk_of_a_release_without_its_households_says_that_theirs_is_not_measured(folder):
    pd.read_csv(folder / "people.csv").drop(columns="HouseholdID").to_csv(folder / "coarse.csv", index=False)
    roles = (folder / "roles.toml").read_text() + 'identifiers = ["HouseholdID"]\n'
    (folder / "named.toml").write_text(roles)
    for given in ([], ["--memory", "600MB"]):
        done = invoke("risk", folder / "coarse.csv", "--roles", folder / "named.toml", *given)
        assert "risks are those of single members: the release does not name its groups (HouseholdID)" in done.stderr
        # The column is no person, of whom rows would have to be counted.
        assert "if people have several" not in done.output
    (folder / "ungrouped.toml").write_text(roles.replace('group = "HouseholdID"\n', ""))
    done = invoke("risk", folder / "coarse.csv", "--roles", folder / "ungrouped.toml")
    assert "'HouseholdID' repeats in the original table" in done.stderr


def test_a_split_keeps_households_together(folder):
    files = ["-o", folder / "a.csv", "--control", folder / "b.csv", "--roles", folder / "roles.toml", "--seed", "1"]
    assert invoke("split", folder / "people.csv", *files).exit_code == 0
    released, control = (set(pd.read_csv(folder / name)["HouseholdID"]) for name in ("a.csv", "b.csv"))
    assert (len(released | control), released & control) == (200, set())


def test_people_in_two_households_keep_them_in_one_part(tmp_path):
    # Person p links households a and b; c stands alone.
    pd.DataFrame({"who": list("ppqr"), "home": list("abac")}).to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "roles.toml").write_text('person = "who"\ngroup = "home"\n')
    files = ["-o", tmp_path / "x.csv", "--control", tmp_path / "y.csv", "--roles", tmp_path / "roles.toml"]
    assert invoke("split", tmp_path / "t.csv", *files, "--share", "0.5", "--seed", "1").exit_code == 0
    parts = [sorted(pd.read_csv(tmp_path / name)["home"]) for name in ("x.csv", "y.csv")]
    assert sorted(parts, key=len) == [["c"], ["a", "a", "b"]]


def test_describe_proposes_the_group(folder):
    done = invoke("describe", folder / "people.csv", "-o", folder / "described.toml")
    text = (folder / "described.toml").read_text()
    assert 'group = "HouseholdID"' in text, done.output
    assert "person =" not in text
    people = pd.read_csv(folder / "people.csv").rename(columns={"HouseholdID": "Customer ID"})
    people.to_csv(folder / "others.csv", index=False)
    invoke("describe", folder / "others.csv", "-o", folder / "others.toml")
    assert "group =" not in (folder / "others.toml").read_text()


@pytest.mark.parametrize("name", ["Family No", "hh_id", "household_number", "familyid"])
def test_numbers_of_households_are_known_by_their_names(name):
    suggested = suggested_identifier(name, pd.Series([f"H{number % 60}" for number in range(200)]))
    assert suggested is not None
    assert suggested.reason == BY_NAME_GROUP


@pytest.mark.parametrize("name", ["Number of families", "household size", "householder"])
def test_what_counts_members_numbers_no_households(name):
    assert suggested_identifier(name, pd.Series([f"H{number % 60}" for number in range(200)])) is None


def test_a_value_that_only_one_household_has_is_noted(folder):
    people = pd.read_csv(folder / "people.csv")
    homes = people.groupby("HouseholdIncome")["HouseholdID"].nunique()
    rows = int((people["HouseholdIncome"].map(homes) == 1).sum())
    done = invoke("validate", folder / "people.csv", "--roles", folder / "roles.toml")
    assert f"{rows} of {len(people)} rows hold a value that no other group has" in done.stdout + done.stderr
    records = Microdata(people, ("HouseholdID",), ("age", "sex"), group="HouseholdID")
    own = people.assign(HouseholdIncome=np.arange(len(people)))
    assert list(values_of_groups(records, own)) == []
    visits = pd.DataFrame({"who": list("aabbcc"), "age": range(6), "device": [7, 7, 8, 8, 9, 9], "ill": list("xyxyxy")})
    (note,) = values_of_groups(Microdata(visits, ("who",), ("age",), person="who"), visits)
    assert "device: the rows of a person (who) share it, and 6 of 6 rows hold a value that no other person" in str(note)


def test_rows_without_a_group_are_alone():
    records = Microdata(pd.DataFrame({"home": ["a", None, "a", None]}), ("home",), group="home")
    assert numbers_in(records, "home").tolist() == [0, 1, 0, 2]
    assert ReviewedTable(SimpleNamespace(records=records)).groups.words == "4 rows of 3 groups, up to 2 rows a group"
    alone = Microdata(pd.DataFrame({"home": ["a", "b"]}), ("home",), group="home")
    assert ReviewedTable(SimpleNamespace(records=alone)).groups is None
    classes, homes = np.array([0, 0, 1, 1]), np.array([0, 0, 1, 2])
    assert risk_of_rows(classes, homes, np.arange(4)) == pytest.approx((0.75, (0.75 + 0.5 + 0.5) / 3))


@pytest.mark.parametrize("method", [["Mondrian", "--memory", "600MB"], ["Mondrian"], ["CellSuppression"]])
def test_the_risk_of_a_household_counts_people_who_have_several_rows_once(tmp_path, method):
    """Wholly suppressed rows are in no class."""
    rng = np.random.default_rng(4)
    who = np.repeat(np.arange(40), rng.integers(1, 5, size=40))
    ages = [*rng.integers(20, 24, size=who.size - 2), 80, 90]
    table = pd.DataFrame({"who": who, "home": who // 3, "age": ages, "ill": rng.choice(["x", "y"], who.size)})
    table.astype(str).radd("n").assign(age=ages).to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "r.toml").write_text(
        'person = "who"\ngroup = "home"\nidentifiers = ["who", "home"]\nquasi_identifiers = ["age"]\n'
        'sensitive = ["ill"]\n[columns.age]\ntype = "number"\ninteger = true\nlow = 0\nhigh = 99\n'
    )
    files = ["--roles", tmp_path / "r.toml", "-o", tmp_path / "out.csv", "--truth", tmp_path / "who.csv", "--seed", "1"]
    name, *given = method
    done = invoke("defend", name, "-p", "k=2", tmp_path / "t.csv", *files, *given)
    assert done.exit_code == 0, done.output
    rows = table.iloc[pd.read_csv(tmp_path / "who.csv")["record"]].assign(
        age=pd.read_csv(tmp_path / "out.csv", dtype=str)["age"].to_numpy()
    )
    rows = rows[rows["age"] != "*"]
    people = rows.groupby("age")["who"].nunique()
    risks = [
        1 - np.prod([1 - 1 / people[own["age"]].min() for _, own in home.groupby("who")])
        for _, home in rows.groupby("home")
    ]
    highest, mean = measure(max(risks)), measure(np.mean(risks))
    assert f"recognized with probability {highest} at most, {mean} on average" in done.stderr
    assert ("the smallest class holds 1 person" in done.stderr) == (people.min() == 1)
    assert ("*" in (tmp_path / "out.csv").read_text()) == (name == "CellSuppression")


def test_a_column_is_no_person_and_group_at_once(folder):
    (folder / "both.toml").write_text('person = "HouseholdID"\ngroup = "HouseholdID"\n')
    done = invoke("validate", folder / "people.csv", "--roles", folder / "both.toml")
    assert done.exit_code == 2
    assert "column 'HouseholdID' is person and group" in done.stderr
