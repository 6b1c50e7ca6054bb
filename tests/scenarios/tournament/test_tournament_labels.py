"""Teams write groups by the labels of the host's hierarchies, and the published tables hold these labels."""

import numpy as np
import pandas as pd
import pytest
from tournament_tools import opened

from scenarios.tables.dataset import load_table
from scenarios.tables.released import read_released

ROLES = """
quasi_identifiers = ["zip", "job"]
sensitive = ["flu"]
[columns.zip]
type = "category"
hierarchy = { csv = "zip.csv" }
[columns.job]
type = "category"
categories = ["cook", "nurse", "pilot"]
ordered = true
"""
ZIPS = [f"{area}{number:02}" for area in ("01", "02") for number in range(20)]


@pytest.fixture
def labelled(tmp_path):
    """A tournament whose host declares labels of postcodes, and none of jobs."""
    rng = np.random.default_rng(0)
    people = {"zip": rng.choice(ZIPS, 200), "job": rng.choice(["cook", "nurse", "pilot"], 200)}
    pd.DataFrame(people).assign(flu=rng.choice(["yes", "no"], 200)).to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "roles.toml").write_text(ROLES)
    (tmp_path / "zip.csv").write_text("".join(f"{code},{code[:2]}**,*\n" for code in ZIPS))
    return opened(tmp_path / "cup", dataset=load_table(tmp_path / "people.csv", tmp_path / "roles.toml"))


@pytest.mark.thorough
def test_labels_are_read_and_published(labelled):
    for team in ("kyoto", "osaka"):
        frame = labelled.frame(team)
        labels = frame["zip"].str[:2] + "**"
        groups = "{" + labels.map(lambda label: "|".join(code for code in ZIPS if label[:2] == code[:2])) + "}"
        table = frame.assign(zip=labels if team == "kyoto" else groups)
        receipt = labelled.hand_in(team, table, measure=True)
        assert receipt.utility.record > 0.4
    labelled.publish()
    for team in ("kyoto", "osaka"):
        path = labelled.tournament.public / f"{team}_anonymized.csv"
        assert {*pd.read_csv(path, dtype=str)["zip"]} == {"01**", "02**"}
        cells = read_released(path, labelled.tournament.team_folder(team) / "roles.toml").frame["zip"]
        assert {cell.count("|") for cell in cells} == {19}


def test_groups_without_labels_have_none(labelled):
    """The default hierarchy of an ordered column numbers its groups; these numbers are no cells."""
    with pytest.raises(ValueError, match=r"row 0 .line 2., column 'job': '0' holds an unknown category"):
        labelled.hand_in("kyoto", labelled.frame("kyoto").assign(job="0"))


@pytest.mark.thorough
def test_teams_get_integers_where_values_are_missing(tmp_path):
    """Originals, candidates and published tables hold integers, and so do the bounds in the roles file."""
    ages = pd.Series(np.random.default_rng(0).integers(20, 80, 200), dtype="Int64").mask(np.arange(200) % 5 == 0)
    pd.DataFrame({"age": ages, "flu": ["yes", "no"] * 100}).to_csv(tmp_path / "people.csv", index=False)
    cup = opened(tmp_path / "cup", dataset=load_table(tmp_path / "people.csv"))
    for team in ("kyoto", "osaka"):
        cup.hand_in(team, cup.frame(team), measure=True)
    cup.publish()
    folder = cup.tournament.team_folder("kyoto")
    public = cup.tournament.public
    for path in (folder / "kyoto_original.csv", public / "osaka_candidate.csv", public / "kyoto_anonymized.csv"):
        ages = pd.read_csv(path, dtype=str)["age"]
        assert 0 < ages.isna().sum() < len(ages)
        assert ages.dropna().str.fullmatch(r"\d\d").all(), path.name
    assert ".0" not in (folder / "roles.toml").read_text()


@pytest.mark.thorough
def test_dates_are_read_and_published(tmp_path):
    """Originals and candidates hold dates, and teams write dates, months and ranges."""
    days = np.datetime64("2020-01-01") + np.random.default_rng(0).integers(0, 700, 200)
    pd.DataFrame({"day": days.astype(str), "flu": ["yes", "no"] * 100}).to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "roles.toml").write_text(
        'quasi_identifiers = ["day"]\nsensitive = ["flu"]\n'
        '[columns.day]\ntype = "date"\nlow = 2020-01-01\nhigh = 2021-12-31\n'
    )
    cup = opened(tmp_path / "cup", dataset=load_table(tmp_path / "people.csv", tmp_path / "roles.toml"))
    for team in ("kyoto", "osaka"):
        original = pd.read_csv(cup.tournament.team_folder(team) / f"{team}_original.csv", dtype=str)
        assert original["day"].str.fullmatch(r"202[01]-\d\d-\d\d").all()
        cells = original["day"] if team == "osaka" else original["day"].str[:7]
        cup.hand_in(team, original.assign(day=cells, original_row=range(len(original))), measure=True)
    with pytest.raises(ValueError, match=r"row 0 .line 2., column 'day': '2020-02-30'"):
        cup.hand_in("osaka", original.assign(day="2020-02-30", original_row=range(len(original))))
    cup.publish()
    published = pd.read_csv(cup.tournament.public / "kyoto_anonymized.csv", dtype=str)
    assert published["day"].str.fullmatch(r"202[01]-\d\d").all()
    candidates = pd.read_csv(cup.tournament.public / "kyoto_candidate.csv", dtype=str)
    assert candidates["day"].str.fullmatch(r"202[01]-\d\d-\d\d").all()
    assert "dates from 2020-01-01 to 2021-12-31" in (cup.tournament.team_folder("kyoto") / "RULES.md").read_text()
