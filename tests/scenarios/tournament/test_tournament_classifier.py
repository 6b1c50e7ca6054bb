"""The classifier among the parts of a table's utility, as the leaderboard has it."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tournament_tools import opened, score

from leaderboard import pooled_utility
from metrics.table_utility import TableUtility, prediction_target
from scenarios import load
from scenarios.commands.cli import cli
from scenarios.running.methods.invented_people import people
from scenarios.tables.dataset import load_table
from scenarios.tables.seeds import generator
from scenarios.tournament.host.boards import Board, write_reports
from scenarios.tournament.rules.checking import check

ROWS = 150


@pytest.fixture(scope="module")
def cup(tmp_path_factory):
    """A tournament whose originals are enough for a classifier to learn from."""
    return opened(
        tmp_path_factory.mktemp("classifier") / "cup", ("kyoto", "osaka"), originals=ROWS, candidates=2 * ROWS
    )


def scrambled(frame, target):
    """A table in which the target is exchanged at random."""
    return frame.assign(**{target: np.random.default_rng(0).permutation(frame[target])})


@pytest.mark.thorough
def test_the_part_is_the_boards(cup):
    place = cup.tournament.team_folder("kyoto")
    records = load_table(place / "kyoto_original.csv", place / "roles.toml").records
    others = load_table(place / "others.csv", place / "roles.toml").records
    domains = {name: records.domain(name) for name in records.released_columns}
    target = prediction_target(records.sensitive, domains)
    assert target == "y"
    frame = cup.frame("kyoto")
    table = frame[list(domains)].astype(str).mask(np.random.default_rng(1).random((ROWS, len(domains))) < 0.3, "*")
    utility = TableUtility(records.frame, domains, others.frame, target, np.random.default_rng(0))
    expected = pooled_utility([utility.score(table)]).components["classifier"]
    measured = cup.tournament.originals("kyoto").utility(table, frame["original_row"].to_numpy())
    assert measured.components["classifier"] == pytest.approx(expected, abs=1e-3)
    assert 0 < expected < 1
    assert measured.table == pytest.approx(np.mean(list(measured.components.values())))


@pytest.mark.thorough
def test_a_table_that_predicts_nothing_loses_the_part(cup):
    frame = cup.frame("kyoto")
    tables = (frame, scrambled(frame, "y"))
    kept, lost = (cup.hand_in("kyoto", table, measure=True).utility.components for table in tables)
    assert kept["classifier"] == 1
    assert lost["classifier"] < 0.5
    assert lost["marginals"] == kept["marginals"] == 1


@pytest.mark.thorough
@pytest.mark.usefixtures("one_baseline")
def test_rules_check_and_report_show_the_part(cup):
    place = cup.tournament.team_folder("kyoto")
    assert "predicts `y` of the people in `others.csv`" in (place / "RULES.md").read_text()
    path = cup.file("kyoto", scrambled(cup.frame("kyoto"), "y"))
    shown = check(path, place / "kyoto_original.csv").utility
    assert shown == cup.hand_in("kyoto", scrambled(cup.frame("kyoto"), "y"), measure=True).utility
    arguments = ["tournament", "check", str(path), "--original", str(place / "kyoto_original.csv")]
    assert f"classifier {shown.components['classifier']:.3f}" in CliRunner().invoke(cli, arguments).stdout
    content = json.loads(CliRunner().invoke(cli, [*arguments, "--format", "json"]).stdout)
    assert content["components"]["classifier"] == shown.components["classifier"]
    cup.publish()
    write_reports(Board(cup.tournament.state(), score(cup.tournament, 1.0, 1)))
    assert f"classifier {shown.components['classifier']:.3f})" in (place / "report.md").read_text()


def without_others(cup):
    """The same tournament after the teams lost the other people's records."""
    for path in (Path(cup.tournament.folder) / "teams").rglob("others.csv"):
        path.unlink()
    return cup


def test_without_other_people_the_part_is_left_out(tmp_path):
    cup = without_others(opened(tmp_path / "cup"))
    cup.hand_in("kyoto", cup.frame("kyoto"))
    path = cup.tournament.team_folder("kyoto") / "kyoto_anonymized.csv"
    done = CliRunner().invoke(
        cli, ["tournament", "check", str(path), "--original", str(path.with_name("kyoto_original.csv"))]
    )
    assert "no classifier tested: there is no others.csv" in done.stdout


@pytest.mark.thorough
def test_a_tournament_that_takes_all_records_has_no_classifier(tmp_path):
    records = load("bank").records
    from dataclasses import replace

    few = replace(load("bank"), records=records.take(np.arange(120)))
    cup = opened(tmp_path / "cup", ("kyoto", "osaka"), dataset=few)
    assert not cup.tournament.others_path.exists()
    assert "classifier" not in (cup.tournament.team_folder("kyoto") / "RULES.md").read_text()
    assert "classifier" not in cup.hand_in("kyoto", cup.frame("kyoto"), measure=True).utility.components


@pytest.mark.thorough
def test_without_a_target_the_part_is_left_out(tmp_path):
    table = people(300, generator(0, "own"))
    table.frame.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "roles.toml").write_text('identifiers = ["name"]\n')
    cup = opened(tmp_path / "cup", dataset=load_table(tmp_path / "people.csv", tmp_path / "roles.toml"))
    assert cup.tournament.others_path.is_file()
    assert "classifier" not in (cup.tournament.team_folder("kyoto") / "RULES.md").read_text()
    assert "classifier" not in cup.hand_in("kyoto", cup.frame("kyoto"), measure=True).utility.components


@pytest.mark.thorough
def test_the_order_of_rows_does_not_matter(cup_of_two_orders):
    first, second = cup_of_two_orders
    assert first == second


@pytest.fixture
def cup_of_two_orders(tmp_path):
    cup = opened(tmp_path / "cup", ("kyoto", "osaka"), originals=ROWS, candidates=2 * ROWS)
    frame: pd.DataFrame = scrambled(cup.frame("kyoto"), "job")
    return [cup.hand_in("kyoto", table, measure=True).utility.components for table in (frame, frame.iloc[::-1])]
