"""Plans of blocking passes keep their budget and their guarantee of recall."""

import numpy as np
import pytest
from blocking_tools import RELEASES, coded, linked

from attacks.linkage.blocks.answers_in_blocks import blocked_search
from attacks.linkage.blocks.blocking_pass import BlockingPass, blocking_plan, covers, members, patterns, search_column
from attacks.linkage.blocks.pair_scores import column_scores
from attacks.linkage.blocks.sampled_learning import among_all, learned_models

ROWS, PAIRS = 2000, 500


@pytest.fixture(scope="module", params=[pytest.param(RELEASES[0], marks=pytest.mark.long), *RELEASES[1:]])
def planned(request):
    frame, cells, truth = linked(ROWS, request.param)
    learned = learned_models(coded(frame, cells), np.random.default_rng(0))
    columns = [search_column(model) for model in learned.models]
    return learned, blocking_plan(columns, learned.bits, PAIRS, np.random.default_rng(1)), truth


@pytest.mark.thorough
@pytest.mark.long_for("suppressed cells and noise")
def test_passes_propose_as_many_candidates_as_planned_and_as_often_the_right_one(planned):
    _, plan, truth = planned
    right, pairs = np.zeros(ROWS, dtype=bool), 0
    for one in plan.passes:
        search = BlockingPass([plan.search[column] for column in one], np.arange(ROWS))
        row, position = members(search.ranges(np.arange(ROWS))[0])
        right[row[search.order[position] == truth[row]]] = True
        pairs += row.size
    assert 0 < plan.pairs <= PAIRS
    # Counted on 400 sampled rows.
    assert pairs / ROWS == pytest.approx(plan.pairs, rel=0.3)
    assert right.mean() == pytest.approx(plan.recall, abs=0.03)
    assert plan.recall > 0.95


@pytest.mark.thorough
@pytest.mark.long_for("suppressed cells and noise")
def test_a_smaller_budget_finds_less(planned):
    learned, plan, _ = planned
    columns = [search_column(model) for model in learned.models]
    small = blocking_plan(columns, learned.bits, 50, np.random.default_rng(1))
    assert small.pairs <= 50
    assert small.recall <= plan.recall


@pytest.mark.thorough_beyond(1)
def test_the_search_finds_the_likeliest_candidates(planned):
    learned, plan, _ = planned
    near, pairs = blocked_search(plan, column_scores(learned.models), np.zeros(ROWS))
    assert pairs == pytest.approx(plan.pairs * ROWS, rel=0.3)
    rows = np.arange(0, ROWS, 10)
    everybody = among_all(learned.models, rows, 1)
    best = near.candidate[rows, 0] == everybody.candidate[:, 0]
    tied = np.abs(near.log_likelihood[rows, 0] - everybody.log_likelihood[:, 0]) < 1e-2
    assert (best | tied).mean() > 0.96
    filled = near.log_likelihood > -1e8
    pairs = (np.arange(ROWS)[:, None] * ROWS + near.candidate)[filled]
    assert np.unique(pairs).size == pairs.size
    assert (np.diff(near.log_likelihood, axis=1) <= 2e-3).all()


@pytest.mark.thorough_beyond(1)
def test_candidates_that_no_pass_proposes_have_about_the_expected_likelihood(planned):
    learned, plan, _ = planned
    near, _ = blocked_search(plan, column_scores(learned.models), np.zeros(ROWS))
    highest = near.log_likelihood[:, 0]
    some = np.flatnonzero(highest > -1e8)[:300]
    whole = among_all(learned.models, some, ROWS)
    total = np.logaddexp.reduce(whole.log_likelihood, axis=1)
    ours = np.logaddexp(np.logaddexp.reduce(near.log_likelihood[some], axis=1), near.elsewhere[some])
    # Columns are taken as independent, which they are not quite.
    assert np.median(np.abs(ours - total)) < 0.1
    assert np.mean(np.abs(ours - total) < 1) > 0.9


@pytest.mark.thorough
def test_nothing_is_searched_by_columns_that_tell_nothing():
    frame, cells, _ = linked(2000, RELEASES[0], columns=["sex", "marital"])
    learned = learned_models(coded(frame, cells), np.random.default_rng(0))
    columns = [search_column(model) for model in learned.models]
    plan = blocking_plan(columns, learned.bits, 20, np.random.default_rng(1))
    assert plan.recall < 0.1
    assert plan.pairs <= 20


def test_patterns_and_what_passes_cover():
    table = patterns(2)
    assert table.tolist() == [[False, False], [True, False], [False, True], [True, True]]
    assert covers(((0,), (1, 0)), table).tolist() == [[False, True, False, True], [False, False, False, True]]
    assert covers((), table).shape == (0, 4)
