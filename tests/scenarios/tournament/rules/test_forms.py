"""Forms of all teams, made from shared roles, are those that each team's own file gives."""

import numpy as np
import pandas as pd
import pytest
from tournament_tools import opened

from scenarios.tables.dataset import load_table
from scenarios.tournament.rules import sheets as forms
from scenarios.tournament.rules.log import DamagedFileError
from scenarios.tournament.rules.sheets import Forms, form_of

ROLES = """
quasi_identifiers = ["zip", "born", "age"]
sensitive = ["flu"]
[columns.zip]
type = "category"
hierarchy = { csv = "zip.csv" }
[columns.born]
type = "date"
format = "%d.%m.%Y"
low = "1940-01-01"
high = "2010-12-31"
"""
ZIPS = [f"{area}{number:02}" for area in ("01", "02") for number in range(20)]
TEAMS = ("kyoto", "osaka", "nara", "uji")


@pytest.fixture
def cup(tmp_path):
    """Four teams; few values are missing, so that not every team has one in every column."""
    rng = np.random.default_rng(0)
    people = pd.DataFrame(
        {
            "zip": rng.choice(ZIPS, 200),
            "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 18000, 200), "D"),
            "age": pd.Series(rng.integers(20, 80, 200), dtype="Int64").mask(np.arange(200) % 29 == 0),
            "flu": pd.Series(rng.choice(["yes", "no"], 200)).mask(np.arange(200) % 31 == 0),
        }
    ).assign(born=lambda frame: frame["born"].dt.strftime("%d.%m.%Y"))
    people.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "roles.toml").write_text(ROLES)
    (tmp_path / "zip.csv").write_text("".join(f"{code},{code[:2]}**,*\n" for code in ZIPS))
    dataset = load_table(tmp_path / "people.csv", tmp_path / "roles.toml")
    return opened(tmp_path / "cup", TEAMS, dataset=dataset, originals=12, candidates=24).tournament


@pytest.mark.thorough
def test_forms_are_those_of_each_file(cup):
    shared = [cup.form(team) for team in TEAMS]
    own = [form_of(load_table(cup.original_path(team), cup.roles_path), cup.settings) for team in TEAMS]
    assert shared == own
    assert len({one.with_missing for one in own}) > 1
    assert own[0].written.columns


def test_roles_are_read_once(cup, monkeypatch):
    cup.form("kyoto")
    monkeypatch.setattr(forms, "load_table", None)
    assert cup.form("osaka").domains == cup.form("kyoto").domains


@pytest.mark.thorough
def test_inferred_domains_are_those_of_each_file(cup):
    """A host who removes a domain from the roles leaves it to each file."""
    text = cup.roles_path.read_text()
    cup.roles_path.chmod(0o600)
    cup.roles_path.write_text(text[: text.index("[columns.age]")])
    domains = {team: cup.form(team).domains["age"] for team in TEAMS}
    assert len(set(map(repr, domains.values()))) > 1


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"zip,age\n0101,30\n", "there is no column 'born'"),
        (b"zip,born,age,flu\n0101,01.01.1960\n", "line 2"),
        (b"zip,born,age,flu\n\xff,01.01.1960,30,yes\n", "UTF-8|encoding|no cell|categor"),
        (b"zip,born,age,flu\n", "names columns but holds no record"),
    ],
)
def test_a_damaged_file_is_refused_in_words(cup, data, message):
    forms_of_teams = Forms(cup.roles_path, cup.settings)
    forms_of_teams.of(cup.original_path("kyoto"))
    path = cup.original_path("osaka")
    path.chmod(0o600)
    path.write_bytes(data)
    with pytest.raises(DamagedFileError, match=message):
        forms_of_teams.of(path)
