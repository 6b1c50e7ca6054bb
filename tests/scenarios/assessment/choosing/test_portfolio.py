"""The portfolio fits the table, or says why not."""

import numpy as np
import pytest
from own_table_tools import ROLES, write_table

from scenarios.assessment.choosing.choice import CHEAP
from scenarios.assessment.choosing.goals import KINDS, is_of
from scenarios.assessment.choosing.portfolio import FEWEST, read_portfolio
from scenarios.running.methods.methods import find
from scenarios.tables.dataset import load_table
from scenarios.tables.toml.scenario_file import scenario_path, scenario_tables


def written(folder, rows=100, roles=ROLES):
    return load_table(*write_table(folder, rows, roles))


def labels(portfolio):
    return {entry.name for entry in portfolio.plan.defenses}


def test_every_group_of_people_has_its_part_of_the_table(tmp_path):
    game = read_portfolio(written(tmp_path)).plan.games[0]
    assert (game.originals, game.others, game.auxiliary, game.held_out) == (40, 40, 10, 10)


def test_large_tables_are_sampled(tmp_path):
    game = read_portfolio(written(tmp_path, rows=9000)).plan.games[0]
    assert (game.originals, game.others, game.auxiliary, game.held_out) == (1000, 1000, 1000, 1000)


def test_all_questions_are_asked_of_a_full_table(tmp_path):
    portfolio = read_portfolio(written(tmp_path))
    assert len(portfolio.plan.games) == 5
    assert {"Mondrian", "PrivateMarginals", "RetentionReplacement", "Constant"} < labels(portfolio)


def test_a_goal_selects_questions_and_attacks(tmp_path):
    portfolio = read_portfolio(written(tmp_path), goals=["attributes"])
    assert {entry.method.goal for entry in portfolio.plan.attacks} == {"attribute"}
    assert len(portfolio.plan.games) == 1


def test_what_cannot_be_asked_is_noted(tmp_path):
    portfolio = read_portfolio(written(tmp_path, roles=ROLES.replace('sensitive = ["illness"]', "")))
    assert len(portfolio.plan.games) == 4
    assert any(note.startswith("attributes are not asked about: sensitive: ") for note in portfolio.notes)


@pytest.mark.parametrize("sensitive", [True, False])
def test_sensitive_columns_ask_for_their_diversity_or_closeness(tmp_path, sensitive):
    roles = ROLES if sensitive else ROLES.replace('sensitive = ["illness"]', "")
    portfolio = read_portfolio(written(tmp_path, roles=roles))
    asked = {name for entry in portfolio.plan.defenses for name in entry.parameters if name in ("l", "t")}
    assert asked == ({"l", "t"} if sensitive else set())
    assert any("Mondrian k=5 l=2" in note for note in portfolio.notes) is not sensitive


def test_settings_that_do_not_fit_are_noted(tmp_path):
    portfolio = read_portfolio(written(tmp_path))
    assert any(note.startswith("not played: ") and "Mondrian" not in note for note in portfolio.notes) == (
        len(labels(portfolio)) < len({table["use"] for table in scenario_tables(scenario_path("portfolio"))["defense"]})
    )
    # 100 people of a class are more than the 40 who are released.
    assert all(entry.parameters.get("k", 0) <= 40 for entry in portfolio.plan.defenses if entry.name == "Mondrian")


@pytest.mark.thorough
def test_kinds_select_families(tmp_path):
    dataset = written(tmp_path)
    everything = read_portfolio(dataset).plan.defenses
    selected = {kind: labels(read_portfolio(dataset, only=[kind])) for kind in KINDS}
    assert all(selected.values())
    assert selected["grouping"] == {"Mondrian", "Incognito", "Microaggregation", "GowerMicroaggregation"}
    private = {"PrivateMarginals", "MaximumSpanningTree", "AdaptiveIterativeMechanism", "PrivBayes"}
    others = {"IndependentMarginals", "GaussianCopula", "ClassificationTrees", "NeighbourInterpolation"}
    assert selected["synthetic"] == private | others
    assert selected["real-rows"] == {entry.name for entry in everything} - selected["synthetic"]
    assert labels(read_portfolio(dataset, only=["ldp", "pram"])) == selected["ldp"] | selected["pram"]


@pytest.mark.thorough
def test_rows_stem_from_people_unless_the_family_is_synthetic(tmp_path):
    records = written(tmp_path).records
    for entry in read_portfolio(written(tmp_path)).plan.defenses:
        origin = entry.method.apply(records, np.random.default_rng(1)).origin
        assert (origin >= 0).all() == is_of(entry, "real-rows"), entry.name


@pytest.mark.thorough
def test_columns_to_keep_stay_as_they_are(tmp_path):
    dataset = written(tmp_path)
    kept = labels(read_portfolio(dataset, keep=["illness"]))
    assert {"Identity", "Mondrian"} < kept
    assert not kept & {"PrivateMarginals", "GaussianCopula", "IndependentMarginals"}
    # It randomizes quasi-identifiers only.
    assert "RetentionReplacement" in kept
    assert "RetentionReplacement" not in labels(read_portfolio(dataset, keep=["job"]))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"keep": ["salary"]}, "--keep.*salary"),
        ({"people": 51}, "--people must be from 20 to 50, half of the table's 100 rows, got 51"),
        ({"people": 3}, "--people must be from 20"),
    ],
)
def test_bad_input(tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        read_portfolio(written(tmp_path), **changes)


def test_a_small_table_is_refused(tmp_path):
    with pytest.raises(ValueError, match="the table has 49 rows; 50 are needed"):
        read_portfolio(written(tmp_path, rows=49))
    with pytest.raises(ValueError, match="the table has 1 rows; 50 are needed"):
        read_portfolio(written(tmp_path, rows=1), people=20)
    assert read_portfolio(written(tmp_path, rows=50)).people == FEWEST


def test_a_goal_that_cannot_be_asked_about_is_refused(tmp_path):
    dataset = written(tmp_path, roles=ROLES.replace('sensitive = ["illness"]', ""))
    with pytest.raises(ValueError, match="--goal attributes: sensitive: the table has no sensitive column"):
        read_portfolio(dataset, goals=["attributes"])


def test_every_goal_has_a_cheap_attack():
    attacks = {table["use"] for table in scenario_tables(scenario_path("portfolio"))["attack"]}
    assert set(CHEAP) < attacks
    assert {find(name, "attacks").goal for name in CHEAP} == {find(name, "attacks").goal for name in attacks}
