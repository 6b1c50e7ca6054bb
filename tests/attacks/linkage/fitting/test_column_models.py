"""Column models in single precision."""

import numpy as np
import pandas as pd
import pytest

from attacks import ExpectationMaximizationLinkage, Knowledge
from attacks.base.sides import shared_columns
from attacks.linkage.fitting.column_models import ColumnModels
from attacks.linkage.fitting.column_tables import ColumnTables, exchanged
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


def exchanged_numbers(window, rows=150, people=300):
    """Numbers of two skewed columns, each exchanged with one of near rank; the release and the attacker's knowledge."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {name: rng.lognormal(8, 1.5, people).round(2) for name in ("wealth", "debt", "income", "rent")}
    )
    released = table.iloc[:rows].reset_index(drop=True)
    for name in released:
        order = np.argsort(released[name].to_numpy())
        near = order[np.argsort(np.arange(rows) + rng.uniform(0, window * rows, rows))]
        released.loc[order, name] = released[name].to_numpy()[near]
    return MicrodataRelease(released, np.arange(rows)), Knowledge(table, Microdata(table))


@pytest.mark.thorough
def test_exchanges_are_measured_in_ranks():
    release, knowledge = exchanged_numbers(0.1)
    assert exchanged(shared_columns(release, knowledge))
    claims = ExpectationMaximizationLinkage().run(release, knowledge, np.random.default_rng(0))
    right = (claims.best(np.random.default_rng(0)) == np.arange(150)).mean()
    first = claims.ranking(np.random.default_rng(0)) == 0
    assert right > 0.9  # .35 if noise were measured in the unit of the column
    assert claims.confidence[first].mean() == pytest.approx(right, abs=0.05)


@pytest.mark.parametrize("kind", ["noise", "integers of small range", "means"])
def test_other_numbers_are_measured_in_their_unit(kind):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.integers(0, 60 if kind == "integers of small range" else 10**6, 200)})
    released = table.iloc[:100].astype(float).reset_index(drop=True)
    if kind == "noise":
        released["x"] += rng.normal(0, 1000, 100).round()
    if kind == "means":
        released["x"] = released["x"].groupby(released["x"].rank() // 3).transform("mean").round()
    knowledge = Knowledge(table, Microdata(table, domains={"x": NumericDomain(-(10**5), 2 * 10**6)}))
    assert not exchanged(shared_columns(MicrodataRelease(released, np.arange(100)), knowledge))
