"""Where a person is declared, a report counts people: classes, targets, control people and what is isolated."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from finished_tools import few_attacks
from run_tools import invoke

from attacks import RankedAnswers
from defenses import Microdata, Mondrian
from metrics.columns.domains import CategoricalDomain, NumericDomain
from scenarios.assessment.evaluation.control_people import read_control
from scenarios.assessment.evaluation.evaluation_setting import EvaluationSetting
from scenarios.assessment.evaluation.posed_questions import QUASI, GivenSinglingOut, evaluate
from scenarios.assessment.evaluation.row_origin import fitting_records, given_origin, people_of_rows, recognized_origin
from scenarios.games.people import by_person
from scenarios.games.questions.person_questions import person_score
from scenarios.games.table_game import GivenPeople
from scenarios.tables.dataset import load_table
from scenarios.tables.released import as_csv
from scenarios.tables.roles import read_roles

ROLES = """person = "who"
identifiers = ["who"]
quasi_identifiers = ["age", "day"]
sensitive = ["ill"]
[columns.age]
type = "number"
integer = true
low = 0
high = 99
cuts = [20, 40, 60]
[columns.day]
type = "number"
integer = true
low = 0
high = 999
cuts = [250, 500, 750]
[columns.ill]
type = "category"
categories = ["a", "b", "c"]
"""


def visits(first, people, seed):
    """Up to six visits of each person, on different days and with different illnesses."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(first, first + people), rng.integers(1, 7, people))
    ages = rng.integers(0, 100, people)[who - first]
    drawn = {"day": rng.integers(0, 1000, who.size), "ill": rng.choice(["a", "b", "c"], who.size)}
    return pd.DataFrame({"who": [f"p{one}" for one in who], "age": ages, **drawn})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("visits")
    visits(0, 90, 1).to_csv(folder / "visits.csv", index=False)
    visits(100, 90, 2).to_csv(folder / "others.csv", index=False)
    (folder / "roles.toml").write_text(ROLES)
    return folder


@pytest.fixture(scope="module")
def setting(folder):
    dataset, roles = load_table(folder / "visits.csv", folder / "roles.toml"), read_roles(folder / "roles.toml")
    control, sha256 = read_control(folder / "others.csv", dataset, roles)
    return EvaluationSetting(dataset, roles, control, sha256, 1, 40)


@pytest.fixture(scope="module")
def released(setting):
    rng = np.random.default_rng(3)
    return Mondrian(k=5).apply(setting.dataset.records, rng).shuffled(rng)


def smallest(setting, release):
    """Fewest people in a class, counted without the project."""
    who = setting.dataset.records.frame["who"].to_numpy()[release.origin]
    return int(release.frame.assign(who=who).groupby(["age", "day"])["who"].nunique().min())


@pytest.mark.thorough
def test_a_shuffled_release_of_classes_tells_whose_its_rows_are(setting, released, monkeypatch):
    few_attacks(monkeypatch)
    table = setting.read("r.csv", as_csv(released.frame).encode())
    origin = recognized_origin(table.frame, setting.records.frame, table.domains)
    assert origin.kind == "unknown"
    people = people_of_rows(setting, table, origin)
    pairs = [pd.DataFrame({"class": released.frame[["age", "day"]].agg("|".join, axis=1)}) for _ in range(2)]
    pairs[0]["who"], pairs[1]["who"] = people, setting.people[released.origin]
    first, second = (one.drop_duplicates().sort_values(["class", "who"]).to_numpy().tolist() for one in pairs)
    assert first == second
    result = evaluate(setting, table, origin)
    assert result.k == smallest(setting, released) < 5
    assert "k counts the people of a class" in result.notes


def test_people_are_asked_about_with_all_their_rows(setting):
    """No person is on both sides, and each is one trial."""
    who = setting.records.frame["who"]
    members, rest = setting.members(40).frame["who"], setting.rest(40).frame["who"]
    assert (members.nunique(), len(members)) == (40, int(who.isin(members).sum()))
    assert not set(members) & set(rest)
    asked, own = setting.others(40).frame["who"], setting.auxiliary(40).frame["who"]
    assert (asked.nunique(), setting.control_size) == (40, 90)
    assert not set(asked) & set(own)


@pytest.mark.thorough
def test_trials_are_people(setting, released, monkeypatch):
    few_attacks(monkeypatch)
    table = setting.read("r.csv", as_csv(released.frame).encode())
    outcomes = evaluate(setting, table, given_origin(released.origin)).outcomes
    trials = {(one.goal, one.score.trials) for one in outcomes if one.score is not None and one.goal != "singling_out"}
    # At least 100 people are asked about rows, and the table has 90.
    assert trials - {("reidentification", 90)} == {("membership", 40), ("attribute", 40), ("linkability", 40)}
    assert {one.score.control_trials for one in outcomes if one.goal == "attribute"} == {40}
    assert QUASI in {one.knows for one in outcomes if one.goal == "membership"}


@pytest.mark.thorough
def test_without_repeated_people_rows_are_people(folder, tmp_path, monkeypatch):
    """The same table, release and control with and without the line that declares the person: the same numbers."""
    few_attacks(monkeypatch)
    for name in ("visits", "others"):
        pd.read_csv(folder / f"{name}.csv").drop_duplicates("who").to_csv(tmp_path / f"{name}.csv", index=False)
    results = []
    for declared in (ROLES, ROLES.partition("\n")[2]):
        (tmp_path / "roles.toml").write_text(declared)
        dataset, roles = (
            load_table(tmp_path / "visits.csv", tmp_path / "roles.toml"),
            read_roles(tmp_path / "roles.toml"),
        )
        control, sha256 = read_control(tmp_path / "others.csv", dataset, roles)
        setting = EvaluationSetting(dataset, roles, control, sha256, 1, 40)
        release = Mondrian(k=5).apply(dataset.records, np.random.default_rng(3))
        results.append(evaluate(setting, setting.read("r.csv", as_csv(release.frame).encode())))
    assert results[0] == results[1]
    assert results[0].k == 5


def report(folder, *options):
    files = (folder / "visits.csv", folder / "released.csv", "--roles", folder / "roles.toml")
    return invoke("report", *files, "--threshold", "0.2", "-o", folder / "report.html", "--force", *options)


@pytest.mark.thorough
@pytest.mark.parametrize("kept", ["dropped", "pseudonym"])
def test_the_report_says_what_a_class_of_few_people_is(folder, setting, released, kept, monkeypatch):
    few_attacks(monkeypatch)
    names = pd.Series(setting.dataset.records.frame["who"].to_numpy()[released.origin])
    frame = released.frame
    if kept == "pseudonym":
        # Days that no longer hold the records' values leave the pseudonym to tell.
        codes = [f"p{code:032x}" for code in pd.factorize(names)[0]]
        frame = frame.assign(day=np.where(frame["day"] == "*", "*", "[0,1]"), who=codes)
    frame.to_csv(folder / "released.csv", index=False)
    said = report(folder)
    assert said.exit_code == 1
    classes = frame.assign(who=names.to_numpy()).groupby(["age", "day"])["who"]
    few = classes.nunique().min()
    assert few < 5
    assert f"smallest class of people alike {1 / few:.2f}".replace(" 0", " ") in said.output
    # The release has k = 5 of rows: what the report advises must not be what was done.
    advised = [line for line in said.output.splitlines() if "keeps it within .2 by" in line]
    assert advised
    assert all("It counts rows: make one row of each person first" in line for line in advised)
    below = names[(classes.transform("nunique") < 5).to_numpy()].nunique()
    page = (folder / "report.html").read_text()
    assert f"{below} of 90 people have a row in a class above .2." in page


@pytest.mark.thorough
def test_what_cannot_be_counted_is_not_called_within(folder, setting, released, monkeypatch):
    """Days are noise, so that neither cells nor a column tell whose a row is; each class holds ten rows."""
    few_attacks(monkeypatch)
    rows = len(setting.records) // 10 * 10
    frame = released.frame.iloc[:rows].assign(age="*", day=np.arange(rows) // 10)
    frame.to_csv(folder / "released.csv", index=False)
    said = report(folder)
    assert said.exit_code == 1
    assert "is not shown to be within .2: the interval is too wide for" in said.output
    assert "smallest class of people alike at least .10" in said.output
    assert "--truth, or a column of pseudonyms in the release, tells whose the rows are." in (
        folder / "report.html"
    ).read_text().replace("\n", " ")


@pytest.mark.thorough
def test_control_people_who_cannot_be_counted_are_refused(folder, released, monkeypatch):
    few_attacks(monkeypatch)
    released.frame.to_csv(folder / "released.csv", index=False)
    pd.read_csv(folder / "others.csv").drop(columns="who").to_csv(folder / "nameless.csv", index=False)
    said = report(folder, "--control", folder / "nameless.csv")
    assert said.exit_code == 2
    assert "nameless.csv: lacks the column 'who', which says whose row a row is" in said.output
    assert "attacks are about" not in report(folder, "--control", folder / "others.csv").output


def test_missing_people_are_people_of_their_own(setting):
    frame = setting.records.frame
    nobody = replace(setting, dataset=replace(setting.dataset, records=setting.dataset.records.with_frame(
        frame.assign(who=frame["who"].where(frame["who"] != "p1"))
    )), control=None)  # fmt: skip
    assert nobody.size == setting.size - 1 + int((frame["who"] == "p1").sum())


def test_records_that_fit_one_kind_of_row_are_taken_from_the_others():
    domains = {"age": NumericDomain(0, 99), "job": CategoricalDomain(("cook", "nurse"))}
    records = pd.DataFrame({"age": [20, 25, 40, 45, 90], "job": ["cook", "nurse"] * 2 + ["cook"]})
    rows = pd.DataFrame({"age": ["*", "[20,29]", "[40,49]", "[20,29]", "[40,49]"], "job": "*"})
    record = fitting_records(rows, records, domains)
    assert record[0] == 4
    assert set(record[[1, 3]]) == {0, 1}
    assert fitting_records(rows.assign(age="*"), records, domains) is not None
    assert fitting_records(rows.assign(age=["[0,50]", "[20,29]", "[40,49]", "*", "*"]), records, domains) is None
    assert fitting_records(rows.assign(age=["[0,9]", *rows["age"][1:]]), records, domains) is None


def test_a_person_is_right_as_often_as_the_rows():
    hits, people = by_person(
        np.array([1.0, 0.0, 1.0, 1.0]), np.array([True, True, True, False]), np.array([0, 0, 1, 2])
    )
    assert (hits, people) == (1.5, 2)
    # Any record of the right person is right, and persons of many records are guessed more often.
    records = Microdata(pd.DataFrame({"id": [0, 0, 1, 2], "age": 1}), identifiers=("id",), person="id")
    people = GivenPeople(records, records.take([]), records.take([]), np.arange(4), np.random.default_rng(1))
    scores = np.array([[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]])
    claims = RankedAnswers.from_scores(np.where(scores > 0, 1.0, -np.inf), np.random.default_rng(1))
    score = person_score(claims, np.array([0, 0, 2]), people, np.random.default_rng(1))
    assert (score.rate, score.trials) == (0.75, 2)
    assert score.chance == pytest.approx((2 / 4 + 1 / 4) / 2)


def test_a_predicate_isolates_a_person_of_several_rows(setting):
    frame = setting.records.frame
    counts = frame["who"].value_counts()
    first, second = counts.index[:2]
    predicates = [
        lambda people: (people["who"] == first).to_numpy(),
        lambda people: people["who"].isin([first, second]).to_numpy(),
        lambda people: np.zeros(len(people), dtype=bool),
    ]
    assert counts.iloc[1] > 1
    assert GivenSinglingOut().isolated(predicates, setting.records) == 1
