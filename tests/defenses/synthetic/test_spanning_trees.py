"""MST: fidelity, its account, what is said of domains and small epsilons, and that nothing leaves but through noise."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest

from defenses import Curator, MaximumSpanningTree, PrivateMarginals
from defenses.base.microdata import Microdata
from defenses.dp import zcdp_epsilon, zcdp_rho
from defenses.synthetic import spanning_trees
from defenses.synthetic.graphical.estimation import MeasuredTable
from defenses.synthetic.spanning_trees import Budget
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


def maximum_spanning_tree_released(table, epsilon=5.0, seed=1):
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
    frame = maximum_spanning_tree_released(table)
    for number in range(5):
        same = (frame[f"c{number}"] == frame[f"c{number + 1}"]).mean()
        assert same == pytest.approx((table.frame[f"c{number}"] == table.frame[f"c{number + 1}"]).mean(), abs=0.02)
    # Not measured, but implied by the chain.
    far = (frame["c0"] == frame["c5"]).mean()
    assert far == pytest.approx((table.frame["c0"] == table.frame["c5"]).mean(), abs=0.06)


@pytest.mark.thorough
def test_types_bounds_and_marginals():
    table = records()
    frame = maximum_spanning_tree_released(table)
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
        maximum_spanning_tree_released(chain(columns=columns), epsilon)
    assert sum(spent) <= zcdp_rho(epsilon, 1e-6) * (1 + 1e-9)
    assert sum(spent) >= 0.99 * zcdp_rho(epsilon, 1e-6)


def test_a_small_epsilon_is_said_and_columns_are_independent():
    with pytest.warns(UserWarning, match="MaximumSpanningTree: epsilon is too small to measure associations"):
        frame = maximum_spanning_tree_released(records(200), epsilon=0.02)
    together = pd.crosstab(frame["weather"], frame["mood"], normalize=True)
    independent = np.outer(together.sum(axis=1), together.sum(axis=0))
    assert np.abs(together - independent).to_numpy().sum() < 0.3


def test_a_large_epsilon_says_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        maximum_spanning_tree_released(records(500), epsilon=3.0)


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
        maximum_spanning_tree_released(table)


def test_undeclared_domains_are_refused_of_maximum_spanning_tree():
    table = Microdata(pd.DataFrame({"x": ["a", "b"]}))
    with pytest.raises(ValueError, match="is read from the records; declare it"):
        MaximumSpanningTree().check(table)


@pytest.mark.filterwarnings("ignore:.*epsilon is too small")
def test_small_and_constant_tables():
    for n in (0, 1, 2):
        assert len(maximum_spanning_tree_released(records(n))) == n
    constant = Microdata(
        pd.DataFrame({"x": ["a"] * 5, "y": ["b"] * 5}),
        domains={"x": CategoricalDomain(("a",)), "y": CategoricalDomain(("a", "b", "c"))},
    )
    assert maximum_spanning_tree_released(constant, epsilon=50.0).to_numpy().tolist() == [["a", "b"]] * 5
    fewer = Microdata(
        pd.DataFrame({"x": ["7", "8"], "y": ["1", "2"]}),
        domains={name: CategoricalDomain(tuple(map(str, range(50)))) for name in "xy"},
    )
    assert maximum_spanning_tree_released(fewer).shape == (2, 2)


def test_missing_and_unknown_values_are_never_released():
    table = records(300)
    frame = table.frame.astype({"age": float})
    frame.loc[:100, "age"] = np.nan
    frame.loc[1, "weather"] = "snow"
    drawn = maximum_spanning_tree_released(table.with_frame(frame))
    assert drawn.notna().all().all()
    assert set(drawn["weather"]) <= {"sun", "rain"}
    assert drawn["age"].dtype == np.int64


def test_missing_values_do_not_make_rare_ones_frequent():
    table = records(3000)
    frame = table.frame.copy()
    frame.loc[::3, "mood"] = None
    drawn = maximum_spanning_tree_released(table.with_frame(frame))
    truth = table.frame["mood"].value_counts(normalize=True)
    shares = drawn["mood"].value_counts(normalize=True)
    assert shares.get("none", 0) < 0.02
    assert shares["good"] == pytest.approx(truth["good"], abs=0.04)


def test_the_size_limit_excludes_pairs(monkeypatch):
    monkeypatch.setattr(spanning_trees, "MOST_CELLS", 3)
    with pytest.warns(UserWarning, match="too small"):
        maximum_spanning_tree_released(chain(200))
