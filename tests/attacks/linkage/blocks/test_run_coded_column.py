"""Columns as runs of ordered values agree with the full table of cells and values."""

import numpy as np
import pandas as pd
import pytest

from attacks.linkage.blocks.run_coded_column import disjoint_runs, run_coded_column
from metrics import CategoricalDomain, NumericDomain, read_cells

NUMBERS = pd.Series(["3", "[2,5]", "[2,5)", "{1|4|9}", "*", None, "{7|}", "3.0", "20", "[30,40]", "3"])
PEOPLE = pd.Series([1, 2, 3, 3, 5, 9, 7, np.nan, 4.5, 35])
TEXTS = pd.Series(["a", "{a|c|d}", "*", None, "{b|}", r"\*x", "e", "a"])
KINDS = pd.Series(["a", "b", "c", "d", None, "*x", "a"])
DOMAINS = {
    "numbers": (NUMBERS, PEOPLE, NumericDomain(0, 50)),
    "categories": (TEXTS, KINDS, CategoricalDomain(("*x", "a", "b", "c", "d", "e"))),
    "numbers without text": (pd.Series([1.0, 2.5, np.nan]), PEOPLE, NumericDomain(0, 50)),
    "one cell": (pd.Series(["*"]), pd.Series([4.0]), NumericDomain(0, 50)),
}


@pytest.mark.parametrize("kind", DOMAINS)
def test_cells_cover_what_the_grammar_says(kind):
    released, people, domain = DOMAINS[kind]
    column = run_coded_column("x", released, people, domain)
    cells = read_cells(released, domain)
    expected = cells.contains(people)[cells.codes]
    assert column.covers(column.codes[:, None], column.values[None, :]).tolist() == expected.tolist()
    assert column.count.sum() == len(released)
    assert column.share.sum() == pytest.approx(1)


@pytest.mark.parametrize("kind", DOMAINS)
def test_sums_over_runs_are_those_of_the_full_table(kind):
    column = run_coded_column("x", *DOMAINS[kind])
    table = column.covers(np.arange(column.cells)[:, None], np.arange(column.size)[None, :])
    rng = np.random.default_rng(1)
    values, cells = rng.random(column.size), rng.random(column.cells)
    assert column.over_runs(values) == pytest.approx(table @ values)
    assert column.over_cells(cells) == pytest.approx(cells @ table)


def test_numbers_are_ascending_and_plain_cells_are_known():
    column = run_coded_column("x", *DOMAINS["numbers"])
    assert (np.diff(column.numbers[:-1]) > 0).all()
    assert np.isnan(column.numbers[-1])
    assert column.written[column.codes[[0, 7, 8]]].tolist() == [3, 3, 20]
    assert np.isnan(column.written[column.codes[[1, 4, 5]]]).all()


def test_runs_that_overlap_are_united():
    runs = disjoint_runs(np.array([0, 0, 0, 1, 1, 2]), np.array([3, 0, 2, 0, 4, 5]), np.array([5, 3, 4, 2, 6, 5]))
    assert [one.tolist() for one in runs] == [[0, 1, 1], [0, 0, 4], [5, 2, 6]]


@pytest.mark.parametrize(
    ("released", "domain", "message"),
    [
        (["1", "2", "x"], NumericDomain(0, 9), "column 'age', row 2: the cell is no number"),
        (["1", "inf"], NumericDomain(0, 9), "column 'age', row 1: the cell is not finite"),
        (["a", "{a|z}", "a"], CategoricalDomain(("a",)), "column 'age', row 1: the cell holds an unknown category"),
        (["a", "z"], CategoricalDomain(("a",)), "column 'age', row 1: the cell holds an unknown category"),
    ],
)
def test_cells_outside_the_domain_are_refused_by_row(released, domain, message):
    people = pd.Series([1.0]) if isinstance(domain, NumericDomain) else pd.Series(["a"])
    with pytest.raises(ValueError, match=message.replace("|", r"\|")) as error:
        run_coded_column("age", pd.Series(released, name="age"), people, domain)
    assert "\n" not in str(error.value)
