"""Column models in single precision."""

import numpy as np
import pandas as pd
import pytest

from attacks import ExpectationMaximizationLinkage, Knowledge
from attacks.base.sides import shared_columns
from attacks.linkage.fitting.column_models import ColumnModels
from attacks.linkage.fitting.column_tables import ColumnTables
from attacks.linkage.linkage_answers import matching_posterior
from defenses import Microdata, MicrodataRelease
from metrics import NumericDomain


def columns_of(scale, rows=40, people=60):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"wealth": scale * rng.lognormal(0, 1, people), "job": rng.choice(["a", "b", "c"], people)},
    )
    noise = scale * rng.normal(0, 0.01, rows)
    released = table.iloc[:rows].assign(wealth=np.abs(table["wealth"].iloc[:rows] + noise))
    domains = {"wealth": NumericDomain(0, 1000 * scale)}
    release = MicrodataRelease(released.reset_index(drop=True), np.arange(rows))
    return release, Knowledge(table, Microdata(table, domains=domains))


def after_rounds(release, knowledge, rounds=3):
    models = ColumnModels(shared_columns(release, knowledge))
    evidence = models.log_likelihood(np.float64)
    for _ in range(rounds):
        models.maximize(matching_posterior(evidence))
        evidence = models.log_likelihood(np.float64)
    return models, evidence


def test_single_precision_changes_little(monkeypatch):
    release, knowledge = columns_of(1000.0)
    models, evidence = after_rounds(release, knowledge)
    assert models.precision is np.float32
    monkeypatch.setattr(ColumnTables, "precision", np.float64)
    double, exact = after_rounds(release, knowledge)
    assert double.precision is np.float64
    assert evidence == pytest.approx(exact, abs=1e-3)
    assert models.fit.shares == pytest.approx(double.fit.shares, abs=1e-4)


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize("scale", [1e-25, 1e-9, 1.0, 1e9, 1e25])
def test_people_are_found_whatever_the_unit(scale):
    release, knowledge = columns_of(scale)
    with np.errstate(over="raise", invalid="raise"):
        models, evidence = after_rounds(release, knowledge)
    assert models.precision is (np.float64 if scale in (1e-25, 1e25) else np.float32)
    assert np.isfinite(evidence).all()
    claims = ExpectationMaximizationLinkage().run(release, knowledge, np.random.default_rng(0))
    assert (claims.best(np.random.default_rng(0)) == np.arange(40)).mean() > 0.7


def test_counts_are_those_of_the_posterior():
    release, knowledge = columns_of(1.0)
    columns = shared_columns(release, knowledge)
    posterior = matching_posterior(np.random.default_rng(1).normal(0, 2, (40, 60)))
    for column, counts, tables in zip(
        columns, ColumnModels(columns).expected_counts(posterior), ColumnModels(columns).tables, strict=True
    ):
        expected = np.zeros(tables.given_kept.shape)
        np.add.at(expected, np.ix_(column.cells.codes, column.codes), posterior)
        assert counts.reshape(expected.shape, order=tables.order) == pytest.approx(expected, abs=1e-5)
