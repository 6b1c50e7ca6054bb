"""Refined bins: ranges inside coarse bins, the account, what is read, and audits of the counts inside bins."""

from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest
from defense_tools import apply, table
from test_spanning_trees import records as weather

from defenses import AdaptiveIterativeMechanism, MaximumSpanningTree, PrivateMarginals, RefinedBins
from defenses.dp import zcdp_rho
from defenses.synthetic import refined_bins
from defenses.synthetic.graphical.estimation import MeasuredTable
from defenses.synthetic.graphical.graphical_synthesis import GraphicalSynthesis
from defenses.synthetic.graphical.refined_column import _estimated, refined_column
from metrics import CategoricalDomain, NumericDomain
from scenarios.checks.audits.audit import Neighbours, Subject, audit
from scenarios.datasets import load

SYNTHESIZERS = (MaximumSpanningTree, AdaptiveIterativeMechanism, PrivateMarginals)
NUMBERS = ("age", "fnlwgt", "capital-gain", "capital-loss", "hours-per-week")


def adult(bins=10, rows=None):
    """Adult with bins of equal width, which are what a table without declared cuts gets; None keeps its own."""
    records = load("adult").records
    if rows is not None:
        records = records.take(np.random.default_rng(0).permutation(len(records))[:rows])
    if bins is None:
        return records
    coarse = {}
    for name in NUMBERS:
        domain = records.domains[name]
        cuts = np.ceil(np.linspace(domain.edges[0], domain.edges[-1], bins + 1)[1:-1])
        coarse[name] = replace(domain, cuts=tuple(cuts))
    return replace(records, domains={**records.domains, **coarse})


def range_errors(records, frame, ranges=200):
    """Mean error of the shares of records in random ranges of each number, in percent."""
    rng = np.random.default_rng(7)
    errors = []
    for name in NUMBERS:
        true, drawn = np.sort(records.frame[name].to_numpy(float)), np.sort(frame[name].to_numpy(float))
        low, high = np.sort(rng.choice(np.unique(true), (ranges, 2)), axis=1).T
        shares = [
            (np.searchsorted(part, high, side="right") - np.searchsorted(part, low)) / part.size
            for part in (true, drawn)
        ]
        errors.append(100 * np.abs(shares[0] - shares[1]).mean())
    return np.array(errors)


@pytest.mark.parametrize("epsilon", [1.0, pytest.param(10.0, marks=pytest.mark.long)])
def test_ranges_inside_coarse_bins(epsilon):
    """Age has dense bins already; amounts and hours have values that many people share."""
    records = adult(rows=10_000)
    plain = MaximumSpanningTree(epsilon=epsilon)
    before, after = (
        range_errors(records, apply(one, records).frame) for one in (plain, RefinedBins(synthesizer=plain))
    )
    assert (after[1:] < before[1:] / 3).all()
    assert (after < 1.5).all()
    assert before[2] > 20


@pytest.mark.long
@pytest.mark.parametrize("method", SYNTHESIZERS)
@pytest.mark.parametrize(("bins", "bound"), [(10, 0.15), (None, 1.1)])
def test_range_counts_on_all_of_adult(method, bins, bound):
    """Means of five seeds, or two of AIM. The bound on fine bins allows for the share that is missing elsewhere."""
    records = adult(bins)
    seeds = range(2 if method is AdaptiveIterativeMechanism else 5)
    for epsilon in (1.0, 10.0):
        before, after = (
            np.mean([range_errors(records, apply(one, records, seed).frame) for seed in seeds], axis=0)
            for one in (method(epsilon=epsilon), RefinedBins(synthesizer=method(epsilon=epsilon)))
        )
        assert after.mean() < bound * before.mean()
        assert after[4] < 0.4 * before[4]


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("method", SYNTHESIZERS)
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_all_steps_together_spend_the_budget(monkeypatch, method, share):
    """Every reading of the records is entered: 1 / variance for counts, epsilon^2 / 8 for a choice."""
    spent = []
    measured, selected, fitted = MeasuredTable.measured, GraphicalSynthesis._selected, PrivateMarginals._fitted

    def measure(self, names, variance, rng):
        spent.append(1 / float(variance))
        return measured(self, names, variance, rng)

    def select(self, scores, epsilon, sensitivity, runs, rng):
        spent.append(epsilon**2 / 8)
        return selected(self, scores, epsilon, sensitivity, runs, rng)

    def fit(self, table, rho, names, rng):
        spent.append(rho)
        return fitted(self, table, rho, names, rng)

    monkeypatch.setattr(MeasuredTable, "measured", measure)
    monkeypatch.setattr(GraphicalSynthesis, "_selected", select)
    # It spends exactly what it is given, as its own test shows.
    monkeypatch.setattr(PrivateMarginals, "_fitted", fit)
    apply(RefinedBins(synthesizer=method(epsilon=2.0), share=share), weather(400))
    assert sum(spent) == pytest.approx(zcdp_rho(2.0, 1e-6), rel=1e-9)
    # Integers from 0 to 99 in bins of at most 50 are divided twice, and fractions three times.
    assert spent[:5] == pytest.approx([share * zcdp_rho(2.0, 1e-6) / 5] * 5)


def test_without_coarse_bins_the_whole_budget_goes_to_the_synthesizer():
    domains = {"x": NumericDomain(0, 3, integer=True, cuts=(1, 2, 3)), "y": CategoricalDomain(("a", "b"))}
    records = table(domains, x=[0, 1, 2, 3] * 20, y=["a", "b"] * 40)
    for seed in range(3):
        first = apply(RefinedBins(synthesizer=PrivateMarginals(epsilon=3.0)), records, seed).frame
        pd.testing.assert_frame_equal(first, apply(PrivateMarginals(epsilon=3.0), records, seed).frame)


@pytest.mark.thorough
def test_types_bounds_and_the_guarantee():
    method = RefinedBins(synthesizer=AdaptiveIterativeMechanism(epsilon=3.0, delta=1e-5))
    frame = apply(method, weather(500)).frame
    assert frame["age"].dtype == np.int64
    assert frame["age"].between(0, 99).all()
    assert frame["weight"].between(40, 90).all()
    assert frame["weight"].nunique() > 400
    assert method.guarantee(weather(5)) == AdaptiveIterativeMechanism(epsilon=3.0, delta=1e-5).guarantee(weather(5))
    assert RefinedBins().guarantee(weather(5)).epsilon == 1.0


@pytest.mark.thorough
def test_nothing_is_read_from_records_but_through_noise():
    """Numbers outside the bounds, missing values and types leave no trace beyond the nearest cell."""
    frame = weather(300).frame.astype({"age": float})
    frame.loc[0, "age"] = np.nan
    frame.loc[1, "age"] = 1e9
    first, second = (apply(RefinedBins(), one).frame for one in (weather(300), weather(300).with_frame(frame)))
    assert second["age"].dtype == first["age"].dtype
    assert second["age"].max() <= 99
    assert second.notna().all().all()


@pytest.mark.filterwarnings("ignore:.*epsilon is too small")
def test_bad_input():
    with pytest.raises(ValueError, match="synthesizer must be MaximumSpanningTree, AdaptiveIterativeMechanism or"):
        RefinedBins(synthesizer=3)
    for share in (0, 1, -0.1, np.nan, "1"):
        with pytest.raises(ValueError, match="share"):
            RefinedBins(share=share)
    with pytest.raises(ValueError, match="is read from the records; declare it"):
        RefinedBins().check(table(x=[1, 2, 3]))

    constant = {
        "x": NumericDomain(5, 5),
        "y": NumericDomain(0, 1e6, cuts=(1,)),
        "z": NumericDomain(0, 99, True, (0.5,)),
    }
    for rows in (0, 1, 3):
        released = apply(RefinedBins(), table(constant, x=[5.0] * rows, y=[0.5] * rows, z=[7] * rows)).frame
        assert len(released) == rows
        assert (released["x"] == 5).all()


def test_structural_zeros_inside_a_bin():
    domains = {"age": NumericDomain(0, 99, integer=True), "income": NumericDomain(0, 9999, integer=True)}
    rng = np.random.default_rng(0)
    age = rng.integers(0, 100, 1000)
    records = table(domains, age=age, income=np.where(age < 15, 0, rng.integers(0, 9000, 1000)))
    first, second = {"age": "[0,15)", "income": "[1,9999]"}, {"age": "40"}
    method = RefinedBins(synthesizer=MaximumSpanningTree(epsilon=5.0, structural_zeros=[first]))
    frame = apply(method.set_params(structural_zeros=[second]), records).frame
    assert not ((frame["age"] < 15) & (frame["income"] > 0)).any()
    assert not (frame["age"] == 40).any()
    assert (frame["age"] < 15).any()


def halves(which, n=1000):
    """First (0) or second (1) of two neighbouring tables: one person holds 12 or 3."""
    values = [3] * (n // 2) + [12] * (n // 2)
    values[-1] = (12, 3)[which]
    return table({"x": NumericDomain(0, 15, integer=True)}, x=values)


def differences(variance, records, runs, rng):
    """Estimated counts of 3 less those of 12, shape (runs, 1)."""
    counts = [refined_column(records, "x", records.domains["x"], variance, rng).counts for _ in range(runs)]
    return np.array([[part[3] - part[12]] for part in counts])


@pytest.mark.long
@pytest.mark.parametrize(("fraction", "runs"), [(4, 500), pytest.param(2, 40_000, marks=pytest.mark.long)])
def test_a_fraction_of_the_noise_inside_bins_is_caught(fraction, runs):
    """The one level of these numbers is a Gaussian mechanism of the whole budget; bounds hold with 99.9 %."""
    variance = 1 / Fraction(zcdp_rho(1.0, 0.05))

    def audited(part):
        pair = Neighbours("a number", *(partial(differences, variance / part, halves(which)) for which in (0, 1)))
        return audit(Subject("counts", 1.0, 0.05, (pair,), tight=False), runs=runs, rng=np.random.default_rng(0))

    assert audited(1).holds
    assert not audited(fraction**2).holds


def nineties(defense, records, runs, rng):
    """Whether a released person is near 90, shape (runs, 1)."""
    ages = [defense.apply(records, rng).frame["age"] for _ in range(runs)]
    return np.array([[float(age.between(85, 95).any())] for age in ages])


@pytest.mark.thorough
def test_counts_inside_bins_without_noise_are_caught(monkeypatch):
    """Neighbouring tables differ in whether anybody is 90; bounds hold with 99.9 %."""
    domain = {"age": NumericDomain(0, 99, integer=True, cuts=(50,))}
    tables = [table(domain, age=[10] * 800 + [60] * 79 + [last]) for last in (60, 90)]
    defense = RefinedBins(synthesizer=PrivateMarginals(delta=0.05))
    pair = Neighbours("one age", *(partial(nineties, defense, records) for records in tables))
    examined = Subject(repr(defense), 1.0, 0.05, (pair,), tight=False)
    assert audit(examined, runs=70, rng=np.random.default_rng(0)).holds
    noiseless = lambda records, name, bins, v, rng: refined_column(records, name, bins, v / 10_000, rng)  # noqa: E731
    monkeypatch.setattr(refined_bins, "refined_column", noiseless)
    assert not audit(examined, runs=70, rng=np.random.default_rng(0)).holds


def test_projection_keeps_the_total():
    """The cells of a divided cell hold what it holds."""
    noisy = np.array([900.0, -20.0, 30.0, 5.0])
    assert _estimated(noisy, 100.0, 1000.0).sum() == pytest.approx(1000)
    # Pure noise is shrunk to equal counts, and structure is kept.
    assert _estimated(np.array([3.0, -4.0, 5.0, 0.0]), 100.0, 40.0) == pytest.approx([10] * 4)
    assert _estimated(noisy, 100.0, 1000.0)[0] > 900
