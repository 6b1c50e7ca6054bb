"""Column models learned from a sample of rows."""

import numpy as np
import pytest
from blocking_tools import RELEASES, coded, linked

from attacks.linkage.blocks.sampled_learning import among_all, finite_log_sum, learned_models

PEOPLE = 600


@pytest.fixture(scope="module", params=RELEASES[:2])
def learning(request):
    frame, cells, truth = linked(PEOPLE, request.param)
    return request.param, learned_models(coded(frame, cells), np.random.default_rng(0)), truth


@pytest.mark.thorough
@pytest.mark.long_for("noise and replacement")
def test_the_mechanism_is_learned(learning):
    way, learned, _ = learning
    models = {model.column.name: model for model in learned.models}
    rate = 0.2 if way == RELEASES[0] else 0.3
    # 600 rows: the standard error of a share is .019.
    assert models["occupation"].shares[2] == pytest.approx(rate, abs=0.06)
    if way == RELEASES[0]:
        assert models["born"].deviation == pytest.approx(400, rel=0.1)
        assert models["age"].shares[1] > 0.9
    else:
        assert models["zip"].shares[0] > 0.98


@pytest.mark.thorough_beyond(1)
def test_information_ranks_columns(learning):
    _, learned, _ = learning
    bits = {model.column.name: bits for model, bits in zip(learned.models, learned.bits, strict=True)}
    assert bits["occupation"] > bits["education"] > bits["sex"] > 0


def test_rows_find_their_candidates_among_all(learning):
    _, learned, truth = learning
    rows = np.arange(0, PEOPLE, 6)
    near = among_all(learned.models, rows, 20)
    best = np.take_along_axis(near.candidate, near.log_likelihood.argmax(axis=1)[:, None], axis=1)[:, 0]
    assert (best == truth[rows]).mean() > 0.9
    everything = among_all(learned.models, rows, PEOPLE)
    assert np.logaddexp(finite_log_sum(near.log_likelihood), near.elsewhere) == pytest.approx(
        finite_log_sum(everything.log_likelihood), abs=1e-3
    )


@pytest.mark.thorough
def test_a_shuffled_column_tells_nothing():
    frame, cells, _ = linked(300, RELEASES[0])
    cells["occupation"] = np.random.default_rng(3).permutation(cells["occupation"])
    learned = learned_models(coded(frame, cells), np.random.default_rng(0))
    position = list(frame.columns).index("occupation")
    assert learned.models[position].shares[2] > 0.9
    assert learned.bits[position] < 0.3


def test_the_sum_of_nothing_is_finite():
    assert finite_log_sum(np.full((2, 3), -np.inf)).tolist() == [-1e9, -1e9]
