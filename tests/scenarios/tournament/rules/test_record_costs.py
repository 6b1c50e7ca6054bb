"""The check of a table says which columns cost how much of the utility of its records."""

import json

import numpy as np
import pytest
from run_tools import invoke

from scenarios.tournament.rules.checking import OriginFit
from scenarios.tournament.rules.folder import csv_bytes
from scenarios.tournament.rules.sheets import read_sheet
from scenarios.tournament.rules.submission_utility import RecordCosts


def costs(cup, frame):
    originals = cup.tournament.originals("kyoto")
    sheet = read_sheet("a.csv", csv_bytes(frame), cup.tournament.form("kyoto"))
    costs = originals.record_costs(sheet.frame, sheet.origin)
    return costs, originals.utility(sheet.frame, sheet.origin).record


@pytest.mark.thorough
def test_costs_add_up_to_what_the_records_lose(cup):
    frame = cup.frame("kyoto").astype(object)
    none, utility = costs(cup, frame)
    assert (utility, none.words()) == (1, "")
    frame["age"] = "[18,95]"
    frame.loc[:9, "job"] = "*"
    frame = frame.iloc[:-3]
    found, utility = costs(cup, frame)
    assert utility > 0
    assert sum(found.columns.values()) + found.left_out == pytest.approx(1 - utility)
    assert [name for name, _ in found.dearest] == sorted(found.columns, key=lambda one: -found.columns[one])[:2]
    assert found.columns["marital"] == pytest.approx(0)
    assert found.left_out > 0


@pytest.mark.thorough
def test_a_cell_without_information_costs_more_than_the_commonest_value(cup):
    frame = cup.frame("kyoto").astype(object)
    starred, commonest = frame.assign(balance="*"), frame.assign(housing=frame["housing"].mode()[0])
    assert costs(cup, starred)[0].columns["balance"] > 0
    with_star = costs(cup, frame.assign(housing="*"))[0].columns["housing"]
    assert with_star > costs(cup, commonest)[0].columns["housing"] > 0


def test_the_words_name_three_columns_the_sum_and_the_rows_left_out():
    four = RecordCosts({"a": 0.1, "b": 0.3, "c": 0.2, "d": 0.0}, 0.05, {"a": 1, "b": 30, "c": 0, "d": 0})
    assert four.words() == (
        "columns that cost the records most utility: b 0.300 (30 cells are *), c 0.200, a 0.100 (1 cell is *); "
        "all 4 columns 0.600; originals without a row cost 0.050"
    )


@pytest.mark.thorough
def test_a_wrong_order_of_origins_is_doubted(cup):
    scale, form = cup.tournament.originals("kyoto"), cup.tournament.form("kyoto")

    def doubt(frame):
        sheet = read_sheet("a.csv", csv_bytes(frame), form)
        return OriginFit.of(scale, sheet, scale.best_origin(sheet.frame, np.random.default_rng(1))).words()

    frame = cup.frame("kyoto").astype(object)
    coarse = frame.assign(age="*", balance="*", job="*")
    wrong = {"original_row": np.roll(frame["original_row"], 11)}
    for table in (frame, coarse):
        assert doubt(table) == ""
        assert doubt(table.assign(**wrong)).startswith(
            "warning: rows resemble the originals that original_row names no"
        )
    # Equal rows and rows without an origin fit all originals alike.
    assert doubt(frame.assign(**frame.iloc[0].drop("original_row"), **wrong)) == ""
    assert doubt(frame.assign(original_row="")) == ""


@pytest.mark.thorough
@pytest.mark.usefixtures("one_baseline")
def test_the_command_and_json_say_it(cup):
    frame = cup.frame("kyoto").astype(object).assign(job="*")
    path, original = cup.file("kyoto", frame), cup.tournament.team_folder("kyoto") / "kyoto_original.csv"
    shown = invoke("tournament", "check", path, "--original", original).stdout
    assert "columns that cost the records most utility: job 0." in shown
    assert "(30 cells are *)" in shown
    content = json.loads(invoke("tournament", "check", path, "--original", original, "--format", "json").stdout)
    assert content["warning"] == ""
    assert content["record_costs"]["job"] > 0
    assert np.isclose(sum(content["record_costs"].values()), 1 - content["utility_record"])
