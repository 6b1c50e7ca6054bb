"""A team's folder describes the columns as the host's records do."""

import pandas as pd
import pytest
from click.testing import CliRunner
from tournament_tools import opened

from scenarios import load
from scenarios.commands.cli import cli
from scenarios.tables.dataset import load_table


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("name", ["bank", "adult"])
def test_the_hierarchies_are_those_of_the_data_set(tmp_path, name):
    records = load(name).records
    place = opened(tmp_path / "cup", dataset=load(name)).tournament.team_folder("kyoto")
    own = load_table(place / "kyoto_original.csv", place / "roles.toml").records
    assert set(own.hierarchies) >= set(records.hierarchies) & set(records.released_columns)
    for column in set(records.hierarchies) & set(records.released_columns):
        ours, theirs = records.hierarchies[column], own.hierarchies[column]
        values = own.frame[column].to_numpy()
        assert ours.height == theirs.height
        for level in range(1, ours.height + 1):
            assert list(theirs.generalize(values, level)) == list(ours.generalize(values, level)), column


def test_defend_recodes_by_one_level_with_what_a_team_holds(tmp_path):
    cup = opened(tmp_path / "cup")
    place, output = cup.tournament.team_folder("kyoto"), tmp_path / "released.csv"
    arguments = ["defend", "GlobalRecoding", "-p", "levels=1", str(place / "kyoto_original.csv")]
    done = CliRunner().invoke(cli, [*arguments, "--roles", str(place / "roles.toml"), "-o", str(output)])
    assert done.exit_code == 0, done.output
    released = pd.read_csv(output, dtype=str, keep_default_na=False)
    jobs = set(released["job"])
    assert len(jobs) > 1
    assert "*" not in jobs
    assert set(cup.tournament.records(cup.tournament.original_path("kyoto")).hierarchies) >= {"job", "age"}
