"""Differentially private synthetic rows: budget, fidelity, and that nothing but noise leaves the records."""

import math

import numpy as np
import pandas as pd
import pytest

from defenses import Curator, PrivateMarginals
from defenses.base.microdata import Microdata
from defenses.dp import zcdp_epsilon, zcdp_rho
from defenses.synthetic.private_marginals import Budget
from metrics.columns.domains import CategoricalDomain, NumericDomain


def records(n=3000, seed=0):
    generator = np.random.default_rng(seed)
    weather = generator.choice(["sun", "rain"], n, p=[0.7, 0.3])
    follows = np.where(generator.random(n) < 0.9, weather, "sun")
    return Microdata(
        pd.DataFrame(
            {
                "weather": weather,
                "mood": np.where(follows == "sun", "good", "bad"),
                "age": generator.integers(0, 100, n),
                "weight": generator.uniform(40, 90, n),
            }
        ),
        domains={
            "weather": CategoricalDomain(("sun", "rain")),
            "mood": CategoricalDomain(("good", "bad", "none")),
            "age": NumericDomain(0, 99, integer=True, cuts=(20, 50)),
            "weight": NumericDomain(40, 90, cuts=(50, 60, 70)),
        },
    )


def released(table, epsilon=5.0, seed=1):
    return PrivateMarginals(epsilon=epsilon).apply(table, np.random.default_rng(seed)).frame


def test_marginals_and_the_one_association_survive():
    table = records()
    frame = released(table)
    for name in ("weather", "mood"):
        truth = table.frame[name].value_counts(normalize=True)
        shares = frame[name].value_counts(normalize=True)
        assert np.abs(shares.sub(truth, fill_value=0)).max() < 0.03
    assert frame["age"].between(0, 99).all()
    assert frame["age"].dtype == np.int64
    assert frame["weight"].between(40, 90).all()
    together = ((frame["weather"] == "sun") == (frame["mood"] == "good")).mean()
    truth = ((table.frame["weather"] == "sun") == (table.frame["mood"] == "good")).mean()
    assert together == pytest.approx(truth, abs=0.05)


def test_at_a_small_epsilon_columns_stay_independent():
    with pytest.warns(UserWarning, match="PrivateMarginals: epsilon is too small to measure associations"):
        frame = released(records(200), epsilon=0.05)
    assert len(frame) == 200
    together = pd.crosstab(frame["weather"], frame["mood"], normalize=True)
    independent = np.outer(together.sum(axis=1), together.sum(axis=0))
    assert np.abs(together - independent).to_numpy().sum() < 0.4


@pytest.mark.parametrize("columns", [1, 2, 17])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 20.0])
def test_the_three_steps_spend_the_budget(columns, epsilon):
    rho = zcdp_rho(epsilon, 1e-6)
    budget = Budget(rho, columns)
    single = 2 * columns / (2 * float(budget.single))
    choices = (columns - 1) * budget.choice**2 / 8
    pairs = (columns - 1) * 2 / (2 * float(budget.pair))
    assert single + choices + pairs == pytest.approx(rho)
    assert zcdp_epsilon(single + choices + pairs, 1e-6) <= epsilon * (1 + 1e-6)


def test_nothing_is_read_from_records_but_through_noise():
    """The largest number, a category of one record, and which cells are missing leave no trace beyond the bins."""
    table = records(300)
    frame = table.frame.astype({"age": float})
    frame.loc[0, "age"] = np.nan
    frame.loc[1, "age"] = 1e9
    frame.loc[2, "weather"] = "snow"
    odd = table.with_frame(frame)
    first, second = released(table), released(odd)
    assert second["age"].dtype == first["age"].dtype
    assert second["age"].max() <= 99
    assert set(second["weather"]) <= {"sun", "rain"}
    assert second.notna().all().all()


@pytest.mark.thorough
def test_noise_is_scaled_to_the_claim():
    """Counts of one column on neighbours: the likelier event's rate stays within e^epsilon (false alarm 1e-4)."""
    from scipy import stats

    domain = {"x": CategoricalDomain(("a", "b"))}
    one = Microdata(pd.DataFrame({"x": ["a"] * 10}), domains=domain)
    other = Microdata(pd.DataFrame({"x": ["b"] + ["a"] * 9}), domains=domain)

    def hits(table, epsilon):
        mechanism = PrivateMarginals(epsilon=epsilon, delta=1e-3)
        return sum(
            (mechanism.apply(table, np.random.default_rng([seed, 7])).frame["x"] == "a").all() for seed in range(120)
        )

    def exceeds(epsilon):
        first, second = hits(one, epsilon), hits(other, epsilon)
        low = stats.beta.ppf(5e-5, first, 120 - first + 1)
        return low > math.exp(1.0) * stats.beta.ppf(1 - 5e-5, second + 1, 120 - second) + 1e-3

    assert not exceeds(1.0)
    # A mechanism that spends twenty times what it claims is caught.
    assert exceeds(20.0)


@pytest.mark.parametrize("bad", [0, -1.0, math.nan, math.inf, "1", True])
def test_bad_parameters_are_refused(bad):
    with pytest.raises(ValueError, match="epsilon"):
        PrivateMarginals(epsilon=bad)
    with pytest.raises(ValueError, match="delta"):
        PrivateMarginals(delta=bad)


def test_undeclared_domains_are_refused():
    table = Microdata(pd.DataFrame({"x": ["a", "b"]}))
    with pytest.raises(ValueError, match="is read from the records; declare it"):
        PrivateMarginals().apply(table, np.random.default_rng(0))
    with pytest.raises(ValueError, match="is read from the records; declare it"):
        PrivateMarginals().check(table)


def test_small_tables():
    for n in (0, 1, 2):
        frame = released(records(n))
        assert len(frame) == n
    single = Microdata(pd.DataFrame({"x": ["a"] * 5}), domains={"x": CategoricalDomain(("a",))})
    assert released(single)["x"].tolist() == ["a"] * 5
    guarantee = PrivateMarginals(epsilon=2.0).guarantee(records(5))
    assert (guarantee.epsilon, guarantee.delta) == (2.0, 1e-6)
    assert Curator().kind != PrivateMarginals().kind
