"""Candidates: scores move by 2 at most between neighbours, and public numbers decide what may be measured."""

import numpy as np
import pytest
from test_graphical_belief_propagation import marginal

from defenses.synthetic.graphical import candidates as module
from defenses.synthetic.graphical.candidates import Candidates, Growth, noise
from defenses.synthetic.graphical.estimation import MeasuredTable, NoisyMarginal, estimated

SIZES = (3, 2, 4)
TRIPLE = [(0, 1, 2)]


def table(seed=0, n=50):
    rng = np.random.default_rng(seed)
    return MeasuredTable([rng.integers(size, size=n) for size in SIZES], SIZES)


def model(of):
    return estimated(SIZES, [NoisyMarginal((0, 1), of.counts((0, 1)), 1.0)], of.n, iterations=200)


def test_replacing_a_record_moves_every_score_by_two_at_most():
    first = table()
    rows = Candidates(first, TRIPLE, [1.0] * 3, 1000).rows(model(first), np.random.default_rng(1))
    largest = 0.0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        codes = [column.copy() for column in first.codes]
        for column, size in zip(codes, SIZES, strict=True):
            column[0] = rng.integers(-1, size)
        (options, ours), (others, theirs) = (
            Candidates(each, TRIPLE, [0.9, 1.0, 1.0], 1000).scores(rows, 1.0)
            for each in (first, MeasuredTable(codes, SIZES))
        )
        assert options.tolist() == others.tolist()
        largest = max(largest, float(np.abs(ours - theirs).max()))
    assert 1 < largest <= 2 + 1e-9


def test_sets_whose_noise_exceeds_any_distance_are_left_out():
    part = Candidates(table(), TRIPLE, [1.0] * 3, 1000)
    rows = part.rows(model(table()), np.random.default_rng(0))
    # The noise on m counts is m sqrt(2 v / pi), at most 100 = 2 n. With v = 100 these are 12 cells.
    allowed = [[part.sets[option] for option in part.scores(rows, variance)[0]] for variance in (1.0, 100.0, 1e6)]
    assert allowed[0] == part.sets
    assert allowed[1] == [columns for columns in part.sets if len(columns) < 3]
    assert allowed[2] == [(0,), (1,), (2,)]
    assert noise(12, 100.0) == pytest.approx(95.7, abs=0.1)


def test_large_candidates_are_left_out_and_single_columns_never(monkeypatch):
    assert Candidates(table(), TRIPLE, [1.0] * 3, 8).sets == [(0,), (1,), (2,), (0, 1), (1, 2)]
    monkeypatch.setattr(module, "MOST_COUNTS", 20)
    assert Candidates(table(), TRIPLE, [1.0] * 3, 1000).sets == [(0,), (1,), (2,), (0, 1)]


def test_expected_counts_of_cliques_are_exact_and_others_are_drawn():
    part = table(n=5000)
    fitted = model(part)
    candidates = Candidates(part, TRIPLE, [1.0] * 3, 1000)
    rows = candidates.rows(fitted, np.random.default_rng(0))
    np.testing.assert_allclose(candidates.expected((0, 1), fitted, rows), 5000 * fitted.marginals[0, 1])
    drawn = candidates.expected((1, 2), fitted, rows)
    uniform = np.outer(marginal(fitted.marginals[0, 1], (1,)), np.full(4, 1 / 4)) * 5000
    assert drawn == pytest.approx(uniform, abs=30)


def test_a_model_grows_within_its_limit_only():
    fitted = model(table())
    measured = [NoisyMarginal((0, 1), np.zeros((3, 2)), 1.0)]
    assert Growth(fitted, measured, 1).fits((0,))
    assert Growth(fitted, measured, 6 + 8).fits((1, 2))
    assert not Growth(fitted, measured, 13).fits((1, 2))
