"""What all synthesizers that draw rows from a fitted model have in common: cells, counts, bad input, fidelity."""

import numpy as np
import pandas as pd
import pytest
from defense_tools import JOB, apply, table
from defense_tools import people as odd_people

from defenses import (
    ClassificationTrees,
    ForestSynthesis,
    GlobalRecoding,
    IndependentMarginals,
    NeighbourInterpolation,
    Pipeline,
)
from defenses.synthetic.row_synthesizer import structural_zeros
from metrics import CategoricalDomain, NumericDomain, read_cells
from metrics.fidelity import association_fidelity, marginal_fidelity
from metrics.profile import original_profile, profile
from scenarios.datasets import load
from scenarios.running.methods.invented_people import people
from scenarios.tables.seeds import generator


def test_cells_of_the_grammar_name_combinations():
    rules = [{"age": "[17,30)", "job": "{tech|blue\\|collar}"}, {"job": "{admin.|}"}, {"age": "17"}]
    young, office, seventeen = structural_zeros(odd_people(20), rules)
    missing = JOB.size
    drawn = {
        "age": np.array([17.0, 29.9, 30.0, np.nan]),
        "job": np.array([JOB.position("tech"), JOB.position("blue|collar"), JOB.position("tech"), missing]),
    }
    assert young.holds(drawn).tolist() == [True, True, False, False]
    assert office.holds(drawn).tolist() == [False, False, False, True]
    assert seventeen.holds(drawn).tolist() == [True, False, False, False]
    assert str(young) == "age = [17,30), job = {tech|blue\\|collar}"


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ([{"nothing": "1"}], "structural_zeros: there is no released column 'nothing'"),
        ([{"name": "p1"}], "structural_zeros: there is no released column 'name'"),
        ([{"job": "pilot"}], "structural_zeros: .*'job'.*pilot"),
        ([{"age": "young"}], "structural_zeros: .*'age'.*young"),
    ],
)
def test_rules_that_do_not_fit_the_table_are_named(rules, message):
    with pytest.raises(ValueError, match=message):
        ClassificationTrees(structural_zeros=rules).check(odd_people(20))


@pytest.mark.parametrize("bad", ["age", 3, [{}], [{"age": 3}], ["age"], [{3: "age"}], None])
def test_rules_in_another_form_are_refused(bad):
    with pytest.raises(ValueError, match="structural_zeros must be a list of mappings"):
        ClassificationTrees(structural_zeros=bad)


def test_a_column_of_released_cells_is_refused():
    steps = [GlobalRecoding(levels={"age": 1}), ClassificationTrees(structural_zeros=[{"age": "17"}])]
    with pytest.raises(ValueError, match="structural_zeros: column 'age' holds released cells already"):
        Pipeline(steps=steps).apply(odd_people(40), np.random.default_rng(0))


SYNTHESIZERS = [
    ClassificationTrees(),
    NeighbourInterpolation(),
    NeighbourInterpolation(categories="pick"),
    ForestSynthesis(),
    # Forests are grown alike for all kinds of numbers; the first synthesizer shows that many trees can be.
    ForestSynthesis(numbers="uniform", trees=3),
    ForestSynthesis(numbers="resample", trees=3),
]
LETTERS = CategoricalDomain(("a", "b", "c"))


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize("defense", SYNTHESIZERS)
@pytest.mark.parametrize(
    "records",
    [
        people(120, generator(0, "people")),
        people(120, generator(0, "missing"), missing=True),
        people(40, generator(0, "constant"), constant=True),
        people(0, generator(0, "none")),
    ],
    ids=["plain", "missing", "constant", "none"],
)
def test_rows_stem_from_nobody_and_hold_values_of_the_domains(defense, records):
    before = records.frame.copy()
    release = apply(defense, records)
    assert len(release.frame) == len(records)
    assert (release.origin == -1).all()
    assert release.channel is None
    assert list(release.frame) == list(records.released_columns)
    for name in release.frame:
        assert read_cells(release.frame[name], records.domains[name]).plain.all()
        if not records.frame[name].isna().any():
            assert release.frame[name].notna().all()
    if len(records) and not records.frame["age"].isna().any():
        assert release.frame["age"].dtype == np.int64
    pd.testing.assert_frame_equal(records.frame, before)
    if records.frame[["age", "city"]].nunique().eq(1).all():
        assert release.frame.drop_duplicates().shape[0] == 1


@pytest.mark.thorough_beyond(4)
@pytest.mark.parametrize("defense", SYNTHESIZERS)
def test_missing_values_stay_as_frequent_and_where_they_were(defense):
    """Missing incomes belong to category c alone; 1,000 rows hold their share of 1/3 within 0.06 (4 deviations)."""
    letter = np.array(list("abc") * 200, dtype=object)
    income = np.where(letter == "c", np.nan, np.arange(600) % 7)
    release = apply(defense.clone().set_params(rows=1000), table({"letter": LETTERS}, letter=letter, income=income))
    assert (release.frame["income"].isna() == (release.frame["letter"] == "c")).all()
    assert release.frame["income"].isna().mean() == pytest.approx(1 / 3, abs=0.06)


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize("defense", SYNTHESIZERS)
def test_the_number_of_rows_is_free(defense):
    records = people(50, generator(0, "people"))
    for rows in (0, 1, 333):
        release = apply(defense.clone().set_params(rows=rows), records)
        assert release.frame.shape == (rows, 5)
        assert release.origin.shape == (rows,)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("defense", SYNTHESIZERS)
def test_odd_columns_are_released(defense):
    """Escaped categories, released cells, truth values, and a column without any value."""
    records = odd_people(60, empty=[None] * 60)
    frame = apply(defense, records).frame
    assert set(frame["job"]) <= {"admin.", "blue\\|collar", "\\[none]", "\\*", "tech"}
    assert set(frame["smokes"]) <= {"True", "False"}
    assert frame["empty"].isna().all()
    coarse = GlobalRecoding(levels={"age": 1, "job": 1})
    released = apply(Pipeline(steps=[coarse, defense]), odd_people(60)).frame
    assert set(released["age"]) <= set(apply(coarse, odd_people(60)).frame["age"])
    only_empty = table(x=[None] * 8)
    assert apply(defense.clone().set_params(rows=3), only_empty).frame["x"].isna().tolist() == [True] * 3


@pytest.mark.parametrize("defense", SYNTHESIZERS)
def test_bad_input_is_named(defense):
    with pytest.raises(ValueError, match="column 'letter', row 3: unknown category; known are a, b, c"):
        apply(defense, table({"letter": LETTERS}, letter=list("abczabcabc")))
    with pytest.raises(ValueError, match=r"column 'x', row 2: the cell is no plain number"):
        apply(defense, table({"x": NumericDomain(0, 9)}, x=[1.0, 2, np.inf, 3, 4, 5, 6, 7, 8]))
    with pytest.raises(ValueError, match="rows is 4, but there are no records to learn from"):
        apply(defense.clone().set_params(rows=4), people(0, generator(0, "none")))
    with pytest.raises(ValueError, match=r"must (not exceed|be less than) the number of records"):
        apply(defense, people(1, generator(0, "one")))
    for rows in (-1, 2.5, True, "3"):
        with pytest.raises(ValueError, match="rows must be an integer"):
            defense.clone().set_params(rows=rows)


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize("defense", SYNTHESIZERS)
def test_a_column_with_many_categories(defense):
    names = tuple(f"n{number}" for number in range(600))
    records = table({"name": CategoricalDomain(names)}, name=list(names), x=np.arange(600) % 5, y=np.arange(600) % 2)
    frame = apply(defense, records).frame
    assert set(frame["name"]) <= set(names)
    # Parity of the number follows from x and y; nothing else would show that columns belong together.
    assert frame["name"].nunique() > 50


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("defense", SYNTHESIZERS)
def test_declared_structural_zeros_do_not_occur(defense):
    rng = np.random.default_rng(0)
    age = rng.integers(0, 80, 400)
    income = np.where(age < 15, np.nan, rng.integers(0, 4, 400) * 1000.0)
    income[:4] = 500.0
    age[:4] = 3
    domains = {"age": NumericDomain(0, 99, integer=True), "income": NumericDomain(0, 1e6)}
    records = table(domains, age=age, income=income)
    free = apply(defense.clone().set_params(rows=800), records).frame
    assert ((free["age"] < 15) & (free["income"] > 0)).any()
    rule = [{"age": "[0,15)", "income": "[1,1000000]"}]
    bound = apply(defense.clone().set_params(rows=800, structural_zeros=rule), records).frame
    assert len(bound) == 800
    assert not ((bound["age"] < 15) & (bound["income"] >= 1)).any()
    everything = [{"age": "[0,99]"}]
    with pytest.raises(ValueError, match=r"structural_zeros: 100 draws did not avoid the combination age = \[0,99\]"):
        apply(defense.clone().set_params(rows=20, structural_zeros=everything), records)


def adult(n, seed=0):
    records = load("adult").records
    return records.take(generator(seed, "adult").permutation(len(records))[:n])


def fidelity(records, frame):
    domains = {name: records.domain(name) for name in records.released_columns}
    pair = original_profile(records.frame, domains), profile(frame, domains)
    return marginal_fidelity(*pair), association_fidelity(*pair)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    "defense", [ClassificationTrees(), NeighbourInterpolation(categories="pick"), ForestSynthesis()]
)
def test_associations_of_adult_are_kept_better_than_by_independent_columns(defense):
    records = adult(2000)
    marginals, associations = fidelity(records, apply(defense, records).frame)
    independent = fidelity(records, apply(IndependentMarginals(smoothing=0), records).frame)
    assert 1 - associations < 0.6 * (1 - independent[1])
    assert marginals > 0.93
