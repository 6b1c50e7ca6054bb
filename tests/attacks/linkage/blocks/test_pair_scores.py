"""Scores of pairs are the sums of the models' log-likelihoods, in every form of a column."""

import numpy as np
import pytest
from blocking_tools import RELEASES, learned

from attacks.linkage.blocks import pair_scores
from attacks.linkage.blocks.pair_scores import ComputedScore, NoiseScore, TableScore, column_scores, total_scores


@pytest.fixture(scope="module", params=RELEASES)
def models(request):
    return learned(300, request.param)


# Entries of the largest table, and the forms that columns then have.
FORMS = {2**23: {TableScore}, 2000: {TableScore, NoiseScore, ComputedScore}, 0: {NoiseScore, ComputedScore}}


@pytest.mark.thorough_beyond(3)
@pytest.mark.long_for("noise and replacement-8388608", "suppressed cells and noise-8388608")
@pytest.mark.parametrize("largest", FORMS)
def test_scores_are_the_sums_of_log_likelihoods(models, largest, monkeypatch):
    monkeypatch.setattr(pair_scores, "LARGEST", largest)
    scores = column_scores(models)
    assert {type(score) for score in scores} == FORMS[largest]
    rng = np.random.default_rng(1)
    rows, candidates = rng.integers(0, 300, 5000), rng.integers(0, 300, 5000)
    expected = sum(model.log_likelihood(model.column.codes[rows], model.column.values[candidates]) for model in models)
    assert total_scores(scores, rows, candidates) == pytest.approx(expected, abs=5e-3)


def test_small_columns_share_a_table(models):
    assert len(column_scores(models)) < len(models)
