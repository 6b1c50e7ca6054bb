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


def test_labels_are_read_and_published(labelled):
    for team in ("kyoto", "osaka"):
        frame = labelled.frame(team)
        labels = frame["zip"].str[:2] + "**"
        groups = "{" + labels.map(lambda label: "|".join(code for code in ZIPS if label[:2] == code[:2])) + "}"
        receipt = labelled.hand_in(team, frame.assign(zip=labels if team == "kyoto" else groups))
        assert receipt.utility.record > 0.4
    labelled.publish()
    for team in ("kyoto", "osaka"):
        path = labelled.tournament.public / f"{team}_anonymized.csv"
        assert {*pd.read_csv(path, dtype=str)["zip"]} == {"01**", "02**"}
        cells = read_released(path, labelled.tournament.team_folder(team) / "roles.toml").frame["zip"]
        assert {cell.count("|") for cell in cells} == {19}


def test_groups_without_labels_have_none(labelled):
    """The default hierarchy of an ordered column numbers its groups; these numbers are no cells."""
    with pytest.raises(ValueError, match="row 0, column 'job': '0' is not a cell of this column"):
        labelled.hand_in("kyoto", labelled.frame("kyoto").assign(job="0"))
