"""Mixture models of columns: probabilities, means over all candidates, and estimates."""

import numpy as np
import pandas as pd
import pytest
from blocking_tools import RELEASES, coded, linked
from name_tools import mistyped_release

from attacks.linkage.blocks.column_mixture import POINTS, ColumnMixture
from attacks.linkage.blocks.run_coded_column import run_coded_column, with_text_errors
from metrics import CategoricalDomain, NumericDomain


@pytest.fixture(scope="module", params=[*RELEASES, "typing errors"])
def models(request):
    if request.param == "typing errors":
        release, knowledge, _ = mistyped_release(200, np.random.default_rng(1), share=0.4)
        cells = release.frame.mask(np.random.default_rng(2).random(release.frame.shape) < 0.1, "*")
        domains = knowledge.domains(list(cells))
        columns = [run_coded_column(name, cells[name], knowledge.candidates[name], domains[name]) for name in cells]
        models = [ColumnMixture(column) for column in with_text_errors(columns, domains)]
        assert all(model.column.errors is not None for model in models)
        return models
    frame, cells, _ = linked(400, request.param)
    return [ColumnMixture(column) for column in coded(frame, cells)]


@pytest.mark.thorough_beyond(2)
def test_tables_and_pairs_agree(models):
    for model in models:
        cells = np.arange(model.column.cells)
        positions = np.arange(model.column.size)
        table = model.log_likelihoods(cells)
        np.testing.assert_allclose(table, model.log_likelihood(cells[:, None], positions[None, :]), rtol=0, atol=2e-3)
        assert np.isfinite(table).all()


@pytest.mark.thorough_beyond(2)
def test_means_are_those_over_all_candidates(models):
    for model in models:
        cells = np.arange(model.column.cells)
        table = model.parts(cells[:, None], model.column.values[None, :])
        means = model.mean_parts(cells)
        assert means.kept == pytest.approx(table.kept.mean(axis=1), rel=1e-6, abs=1e-12)
        assert means.replaced == pytest.approx(table.replaced.mean(axis=1))
        # Noise is averaged over 500 candidates that stand for all.
        assert means.disturbed.sum() == pytest.approx(table.disturbed.mean(axis=1).sum(), rel=0.05)


def test_windows_split_the_mean(models):
    for model in models:
        share = model.column.over_runs(model.column.share)
        inner, outer = model.window_parts(share, 2.0, 0.0)
        means = model.mean_parts(np.arange(model.column.cells))
        mistyped = 0 if model.noisy else means.disturbed
        assert inner + outer == pytest.approx(means.kept + means.replaced + mistyped)
        assert (outer >= 0).all()


def test_probabilities_of_categories_add_up_to_one():
    released = pd.Series(["a", "b", "{a|b}", "*", "a", "c"])
    people = pd.Series(["a", "b", "c", "a"])
    model = ColumnMixture(run_coded_column("x", released, people, CategoricalDomain(("a", "b", "c"))))
    cells = np.arange(model.column.cells)
    # The smoothed frequencies of replaced cells add up to 1, and each value that occurs has cells that cover it.
    total = np.exp(model.log_likelihoods(cells))[:, :3].sum(axis=0)
    assert total == pytest.approx(np.ones(3), abs=1e-5)


def test_a_suppressed_cell_tells_nothing():
    released = pd.Series(["a", "b", "*", "*", "a", "c"])
    model = ColumnMixture(run_coded_column("x", released, pd.Series(list("abca")), CategoricalDomain(("a", "b", "c"))))
    suppressed = model.log_likelihoods(np.array([model.column.codes[2]]))
    assert np.ptp(suppressed) < 1e-6


@pytest.mark.parametrize("people", [[5.0] * 3, [np.nan, 5.0, 5.0]])
def test_constant_columns_and_missing_values(people):
    model = ColumnMixture(run_coded_column("x", pd.Series(["5", "5"]), pd.Series(people), NumericDomain(0, 9)))
    assert np.isfinite(model.log_likelihoods(np.arange(model.column.cells))).all()


def test_an_update_sets_shares_and_deviation():
    rng = np.random.default_rng(1)
    numbers = rng.normal(0, 10, 200)
    model = ColumnMixture(run_coded_column("x", pd.Series(numbers), pd.Series(numbers), NumericDomain(-99, 99)))
    before = model.deviation
    assert model.update(5, 90, 5, 90 / 4) > 0
    assert model.shares == pytest.approx([0.05, 0.9, 0.05])
    assert model.deviation == pytest.approx(before / 2)
    assert model.update(0, 0, 0, 0) == 0


def test_noise_is_averaged_over_every_value_where_there_are_few():
    values = np.arange(float(POINTS))
    model = ColumnMixture(run_coded_column("x", pd.Series(values), pd.Series(values), NumericDomain(0, 999)))
    model.deviation = 2.0
    cells = np.arange(model.column.cells)
    every = model.parts(cells[:, None], model.column.values[None, :]).disturbed.mean(axis=1)
    assert model.mean_parts(cells).disturbed == pytest.approx(every)


def test_two_values_have_the_probabilities_of_their_pairs():
    model = ColumnMixture(run_coded_column("x", pd.Series([1, 5, 9]), pd.Series([1, 9, 9]), NumericDomain(0, 9)))
    cells, positions = np.arange(model.column.cells), np.arange(model.column.size)
    pairs = model.log_likelihood(cells[:, None], positions)
    assert model.log_likelihoods(cells) == pytest.approx(pairs, abs=1e-5)
