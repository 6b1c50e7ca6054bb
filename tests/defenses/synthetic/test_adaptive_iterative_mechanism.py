"""AIM: fidelity on workloads, its account, its limit on models, and what is said of domains and small epsilons."""

import warnings

import numpy as np
import pandas as pd
import pytest
from test_spanning_trees import chain, records

from defenses import AdaptiveIterativeMechanism, MaximumSpanningTree, Microdata
from defenses.dp import zcdp_rho
from defenses.synthetic import adaptive_iterative_mechanism
from defenses.synthetic.graphical.estimation import MeasuredTable
from metrics.columns.domains import CategoricalDomain, NumericDomain


def released(table, epsilon=5.0, seed=1, **parameters):
    return AdaptiveIterativeMechanism(epsilon=epsilon, **parameters).apply(table, np.random.default_rng(seed)).frame


def parity(n=2000, seed=0):
    """Three binary columns of which any two are independent, and the third is their parity in nine of ten records."""
    generator = np.random.default_rng(seed)
    a, b = generator.integers(2, size=(2, n))
    frame = pd.DataFrame({"a": a, "b": b, "c": a ^ b ^ (generator.random(n) < 0.1)}).astype(str)
    return Microdata(frame, domains={name: CategoricalDomain(("0", "1")) for name in frame})


def odd(frame):
    return (frame.astype(int).sum(axis=1) % 2).mean()


@pytest.mark.thorough
def test_a_dependence_of_three_columns_is_found_that_no_tree_of_pairs_holds():
    table = parity()
    assert odd(table.frame) == pytest.approx(0.1, abs=0.02)
    assert odd(released(table)) == pytest.approx(odd(table.frame), abs=0.02)
    tree = MaximumSpanningTree(epsilon=5.0).apply(table, np.random.default_rng(1)).frame
    assert odd(tree) == pytest.approx(0.5, abs=0.05)


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
    together = ((frame["weather"] == "sun") == (frame["mood"] == "good")).mean()
    truth = ((table.frame["weather"] == "sun") == (table.frame["mood"] == "good")).mean()
    assert together == pytest.approx(truth, abs=0.03)


@pytest.mark.thorough_beyond(5)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 20.0])
@pytest.mark.parametrize("columns", [1, 2, 6])
def test_all_rounds_together_spend_the_budget(monkeypatch, columns, epsilon):
    """Every reading of the records is entered: 1 / variance for counts, epsilon^2 / 8 for a choice.

    A repeated selection is part of the one that it repeats.
    """
    spent = []
    measured, selected = MeasuredTable.measured, AdaptiveIterativeMechanism._selected

    def measure(self, names, variance, rng):
        spent.append(1 / float(variance))
        return measured(self, names, variance, rng)

    def select(self, scores, epsilon, sensitivity, runs, rng):
        assert sensitivity == 2
        spent.append(epsilon**2 / 8)
        return selected(self, scores, epsilon, sensitivity, runs, rng)

    monkeypatch.setattr(MeasuredTable, "measured", measure)
    monkeypatch.setattr(AdaptiveIterativeMechanism, "_selected", select)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        released(chain(columns=columns), epsilon)
    assert sum(spent) == pytest.approx(zcdp_rho(epsilon, 1e-6), rel=1e-9)


def test_a_small_epsilon_is_said_and_columns_are_independent():
    with pytest.warns(UserWarning, match="AdaptiveIterativeMechanism: epsilon is too small to measure associations"):
        frame = released(records(200), epsilon=0.02)
    together = pd.crosstab(frame["weather"], frame["mood"], normalize=True)
    independent = np.outer(together.sum(axis=1), together.sum(axis=0))
    assert np.abs(together - independent).to_numpy().sum() < 0.3


@pytest.mark.parametrize("epsilon", [2.0**-20, 1e-5])
def test_the_smallest_epsilon_gives_independent_columns(epsilon):
    """The epsilon of a selection is then below what the exponential mechanism computes."""
    with pytest.warns(UserWarning, match="AdaptiveIterativeMechanism: epsilon is too small to measure associations"):
        frame = released(records(50), epsilon=epsilon, delta=1e-9)
    assert len(frame) == 50


def test_a_large_epsilon_says_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        released(records(500), epsilon=3.0)


def test_the_workload_decides_what_is_kept():
    table = chain(n=1000)
    frame = released(table, epsilon=2.0, workload=[["c1", "c0"], ["c2"]])
    assert (frame["c0"] == frame["c1"]).mean() == pytest.approx(0.9, abs=0.03)
    # No set of the workload holds these two.
    assert (frame["c1"] == frame["c2"]).mean() == pytest.approx(0.5, abs=0.07)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("most_cells", [20, 40, 10_000])
def test_the_model_stays_within_its_limit(monkeypatch, most_cells):
    cells = []
    estimated = adaptive_iterative_mechanism.estimated

    def watched(*arguments, **options):
        model = estimated(*arguments, **options)
        cells.append(sum(belief.size for belief in model.beliefs))
        return model

    monkeypatch.setattr(adaptive_iterative_mechanism, "estimated", watched)
    released(chain(), epsilon=50.0, most_cells=most_cells)
    assert max(cells) <= most_cells
    assert max(cells) > (12 if most_cells == 20 else 20)


def test_the_workload_is_checked():
    with pytest.raises(ValueError, match="workload must hold lists of different column names, got 'c0'"):
        AdaptiveIterativeMechanism(workload=["c0"])
    with pytest.raises(ValueError, match="workload must hold"):
        AdaptiveIterativeMechanism(workload=[["c0", "c0"]])
    with pytest.raises(ValueError, match="workload must hold lists of different column names, got 7"):
        AdaptiveIterativeMechanism(workload=[7])
    for workload in ([], 3, "c0"):
        with pytest.raises(ValueError, match="workload must be a list of at least one list of column names, got"):
            AdaptiveIterativeMechanism(workload=workload)
    with pytest.raises(ValueError, match="workload: there is no released column 'age'"):
        AdaptiveIterativeMechanism(workload=[["c0", "age"]]).check(chain())
    with pytest.raises(ValueError, match="most_cells"):
        AdaptiveIterativeMechanism(most_cells=0)


def test_too_large_a_domain_names_columns_and_what_would_fit():
    frame = pd.DataFrame({"zip": ["1", "2"], "age": [3.0, 4.0], "sex": ["f", "m"]})
    domains = {
        "zip": CategoricalDomain(tuple(map(str, range(30_000)))),
        "age": NumericDomain(0, 99, integer=True, cuts=tuple(range(1, 100))),
        "sex": CategoricalDomain(("f", "m")),
    }
    table = Microdata(frame, domains=domains)
    AdaptiveIterativeMechanism().check(table)
    with pytest.raises(
        ValueError, match=r"workload: columns 'age' \(100 values\), 'zip' \(30,000 values\) have 3,000,000"
    ):
        AdaptiveIterativeMechanism(workload=[["age", "zip"]]).check(table)
    with pytest.raises(ValueError, match="1,000 values in each of these columns would fit"):
        AdaptiveIterativeMechanism(workload=[["age", "zip"]]).check(table)
    with pytest.raises(ValueError, match="column 'zip' has 30,000 values, and 60,000 combinations with column 'sex'"):
        AdaptiveIterativeMechanism(most_cells=50_000).check(table)


def test_undeclared_domains_are_refused():
    table = Microdata(pd.DataFrame({"x": ["a", "b"]}))
    with pytest.raises(ValueError, match="is read from the records; declare it"):
        AdaptiveIterativeMechanism().check(table)


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


@pytest.mark.long
def test_the_workload_error_is_below_that_of_a_spanning_tree():
    """A chain whose columns also depend on their grandparents: three seeds, all triples."""
    generator = np.random.default_rng(3)
    values = [generator.integers(3, size=3000) for _ in range(2)]
    for _ in range(4):
        noise = generator.integers(3, size=3000)
        values.append(np.where(generator.random(3000) < 0.8, (values[-1] + values[-2]) % 3, noise))
    frame = pd.DataFrame({f"c{number}": column.astype(str) for number, column in enumerate(values)})
    table = Microdata(frame, domains={name: CategoricalDomain(("0", "1", "2")) for name in frame})

    def error(method, seed):
        drawn = method(epsilon=2.0).apply(table, np.random.default_rng(seed)).frame
        triples = [["c0", "c1", "c2"], ["c1", "c2", "c3"], ["c2", "c3", "c4"], ["c3", "c4", "c5"]]
        return np.mean([np.abs(frame.value_counts(t).sub(drawn.value_counts(t), fill_value=0)).sum() for t in triples])

    ours, theirs = (
        [error(method, seed) for seed in range(3)] for method in (AdaptiveIterativeMechanism, MaximumSpanningTree)
    )
    assert max(ours) < min(theirs)
