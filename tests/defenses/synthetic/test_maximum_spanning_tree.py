"""MST: fidelity, its account, what is said of domains and small epsilons, and that nothing leaves but through noise."""

import warnings

import numpy as np
import pandas as pd
import pytest
from test_private_marginals import records

from defenses import MaximumSpanningTree, Microdata, PrivateMarginals
from defenses.dp import zcdp_rho
from defenses.synthetic import maximum_spanning_tree
from defenses.synthetic.counted_columns import MeasuredTable
from metrics.columns.domains import CategoricalDomain, NumericDomain


def released(table, epsilon=5.0, seed=1):
    return MaximumSpanningTree(epsilon=epsilon).apply(table, np.random.default_rng(seed)).frame


def chain(n=2000, seed=0, columns=6):
    """A Markov chain of binary columns: each is its predecessor with probability 0.9."""
    generator = np.random.default_rng(seed)
    values = [generator.integers(2, size=n)]
    for _ in range(columns - 1):
        values.append(np.where(generator.random(n) < 0.9, values[-1], 1 - values[-1]))
    frame = pd.DataFrame({f"c{number}": np.array(["no", "yes"], dtype=object)[v] for number, v in enumerate(values)})
    return Microdata(frame, domains={name: CategoricalDomain(("no", "yes")) for name in frame})


@pytest.mark.thorough
def test_a_chain_is_reproduced():
    table = chain()
    frame = released(table)
    for number in range(5):
        same = (frame[f"c{number}"] == frame[f"c{number + 1}"]).mean()
        assert same == pytest.approx((table.frame[f"c{number}"] == table.frame[f"c{number + 1}"]).mean(), abs=0.02)
    # Not measured, but implied by the chain.
    far = (frame["c0"] == frame["c5"]).mean()
    assert far == pytest.approx((table.frame["c0"] == table.frame["c5"]).mean(), abs=0.06)


@pytest.mark.thorough
def test_types_bounds_and_marginals():
    table = records()
    frame = released(table)
    assert len(frame) == len(table)
    assert frame["age"].dtype == np.int64
    assert frame["age"].between(0, 99).all()
    assert frame["weight"].between(40, 90).all()
    truth = table.frame["weather"].value_counts(normalize=True)
    assert np.abs(frame["weather"].value_counts(normalize=True) - truth).max() < 0.03


@pytest.mark.thorough_beyond(4)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 20.0])
@pytest.mark.parametrize("columns", [1, 2, 6])
def test_all_steps_together_spend_the_budget_at_most(monkeypatch, columns, epsilon):
    """Every reading of the records is entered: 1 / variance for counts, epsilon^2 / 8 for a choice."""
    spent = []
    measured, selected = MeasuredTable.measured, MaximumSpanningTree._selected

    def measure(self, names, variance, rng):
        spent.append(1 / float(variance))
        return measured(self, names, variance, rng)

    def select(self, scores, epsilon, sensitivity, runs, rng):
        spent.append(epsilon**2 / 8)
        return selected(self, scores, epsilon, sensitivity, runs, rng)

    monkeypatch.setattr(MeasuredTable, "measured", measure)
    monkeypatch.setattr(MaximumSpanningTree, "_selected", select)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        released(chain(columns=columns), epsilon)
    assert sum(spent) <= zcdp_rho(epsilon, 1e-6) * (1 + 1e-9)
    assert sum(spent) >= 0.99 * zcdp_rho(epsilon, 1e-6)


def test_a_small_epsilon_is_said_and_columns_are_independent():
    with pytest.warns(UserWarning, match="MaximumSpanningTree: epsilon is too small to measure associations"):
        frame = released(records(200), epsilon=0.02)
    together = pd.crosstab(frame["weather"], frame["mood"], normalize=True)
    independent = np.outer(together.sum(axis=1), together.sum(axis=0))
    assert np.abs(together - independent).to_numpy().sum() < 0.3


def test_a_large_epsilon_says_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        released(records(500), epsilon=3.0)


@pytest.mark.long
def test_it_is_at_least_as_near_as_private_marginals_on_columns_with_many_rare_values():
    """Merging rare values pays where most of a domain is empty: twenty seeds of 400 rows, 40 values, 3 of them used."""
    generator = np.random.default_rng(0)
    first = generator.integers(3, size=400)
    frame = pd.DataFrame({"a": first, "b": (first + (generator.random(400) < 0.2)) % 3}).astype(str)
    many = CategoricalDomain(tuple(map(str, range(40))))
    table = Microdata(frame, domains={"a": many, "b": many})

    def distance(method, seed):
        drawn = method(epsilon=2.0).apply(table, np.random.default_rng(seed)).frame
        cells = [
            pd.crosstab(part["a"], part["b"]).reindex(index=many.categories, columns=many.categories, fill_value=0)
            for part in (frame, drawn)
        ]
        return np.abs(cells[0] - cells[1]).to_numpy().sum()

    ours, theirs = (
        [distance(method, seed) for seed in range(20)] for method in (MaximumSpanningTree, PrivateMarginals)
    )
    assert np.mean(ours) < np.mean(theirs)


def test_too_large_a_domain_names_columns_and_what_would_fit():
    frame = pd.DataFrame({"zip": ["1", "2"], "age": [3.0, 4.0]})
    domains = {
        "zip": CategoricalDomain(tuple(map(str, range(30_000)))),
        "age": NumericDomain(0, 99, integer=True, cuts=tuple(range(1, 100))),
    }
    table = Microdata(frame, domains=domains)
    with pytest.raises(
        ValueError, match=r"column 'zip' has 30,000 values, and 3,000,000 combinations with column 'age'"
    ):
        MaximumSpanningTree().check(table)
    with pytest.raises(ValueError, match="at most 10,000 values would fit"):
        released(table)


def test_undeclared_domains_are_refused():
    table = Microdata(pd.DataFrame({"x": ["a", "b"]}))
    with pytest.raises(ValueError, match="is read from the records; declare it"):
        MaximumSpanningTree().check(table)


@pytest.mark.filterwarnings("ignore:.*epsilon is too small")
def test_small_and_constant_tables():
    for n in (0, 1, 2):
        assert len(released(records(n))) == n
    constant = Microdata(
        pd.DataFrame({"x": ["a"] * 5, "y": ["b"] * 5}),
        domains={"x": CategoricalDomain(("a",)), "y": CategoricalDomain(("a", "b", "c"))},
    )
    assert released(constant, epsilon=50.0).to_numpy().tolist() == [["a", "b"]] * 5
    fewer = Microdata(
        pd.DataFrame({"x": ["7", "8"], "y": ["1", "2"]}),
        domains={name: CategoricalDomain(tuple(map(str, range(50)))) for name in "xy"},
    )
    assert released(fewer).shape == (2, 2)


def test_missing_and_unknown_values_are_never_released():
    table = records(300)
    frame = table.frame.astype({"age": float})
    frame.loc[:100, "age"] = np.nan
    frame.loc[1, "weather"] = "snow"
    drawn = released(table.with_frame(frame))
    assert drawn.notna().all().all()
    assert set(drawn["weather"]) <= {"sun", "rain"}
    assert drawn["age"].dtype == np.int64


def test_missing_values_do_not_make_rare_ones_frequent():
    table = records(3000)
    frame = table.frame.copy()
    frame.loc[::3, "mood"] = None
    drawn = released(table.with_frame(frame))
    truth = table.frame["mood"].value_counts(normalize=True)
    shares = drawn["mood"].value_counts(normalize=True)
    assert shares.get("none", 0) < 0.02
    assert shares["good"] == pytest.approx(truth["good"], abs=0.04)


def test_the_size_limit_excludes_pairs(monkeypatch):
    monkeypatch.setattr(maximum_spanning_tree, "MOST_CELLS", 3)
    with pytest.warns(UserWarning, match="too small"):
        released(chain(200))
