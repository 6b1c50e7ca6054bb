"""The ways to partition a table in Mondrian agree: blocks or the whole, sorted or counted columns."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from defenses import Microdata
from defenses.base.columns import code_column
from defenses.grouping.constraints import EntropyDiversity, sensitive_columns
from defenses.grouping.mondrian import partition as module
from defenses.grouping.mondrian.columns import order_column
from defenses.grouping.mondrian.partition import CutRules, partition
from metrics.columns.domains import infer_domain

N = 100


def tables():
    rng = np.random.default_rng(7)
    distinct = pd.DataFrame({name: rng.normal(size=N) for name in "abc"})
    yield "distinct", distinct
    yield "tied", distinct.round(2).assign(few=rng.integers(0, 4, N))
    half = np.where(rng.random(N) < 0.5, 0.0, rng.normal(size=N))
    yield "mixed", distinct.assign(half=half, text=rng.choice(list("uvwxyz"), N))
    yield "missing", distinct.where(rng.random((N, 3)) < 0.95)


def classes_of(table, k, strict, constraints):
    columns = []
    for name in table:
        domain = infer_domain(table[name])
        columns.append(order_column(name, domain, code_column(table[name], domain), None))
    ill = np.random.default_rng(1).choice(list("xyz"), N)
    sensitive = sensitive_columns(Microdata(table.assign(ill=ill), sensitive=("ill",)), constraints)
    rules = CutRules(k, strict, constraints, sensitive)
    classes, count = partition(columns, np.random.default_rng(2).permutation(N), rules)
    assert sorted(set(classes.tolist())) == list(range(count))
    assert np.bincount(classes).min() >= k
    return pd.factorize(classes)[0].tolist()


TABLES = dict(tables())
CASES = [
    pytest.param(name, k, strict, constraints, id=f"{name}-{k}-{'strict' if strict else 'relaxed'}-{constraints}")
    for name in TABLES
    for k in (1, 5)
    for strict in (True, False)
    for constraints in ((), (EntropyDiversity(2.0),))
]


@cache
def usual_classes(name, k, strict, constraints):
    """The classes of a case as the package makes them; ask before anything is patched."""
    return classes_of(TABLES[name], k, strict, constraints)


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize(("name", "k", "strict", "constraints"), CASES)
def test_blocks_in_parallel_partition_as_one_block(monkeypatch, name, k, strict, constraints):
    whole = usual_classes(name, k, strict, constraints)
    monkeypatch.setattr(module, "_ROWS", 40)
    assert classes_of(TABLES[name], k, strict, constraints) == whole


@pytest.mark.thorough_beyond(7)
@pytest.mark.parametrize(("name", "k", "strict", "constraints"), CASES)
def test_sorted_columns_are_cut_as_counted_ones(monkeypatch, name, k, strict, constraints):
    quick = usual_classes(name, k, strict, constraints)
    monkeypatch.setattr("defenses.grouping.mondrian.partition.is_continuous", lambda column: False)
    assert classes_of(TABLES[name], k, strict, constraints) == quick


def test_codes_are_small_and_stay_in_order():
    numbers = pd.Series(np.random.default_rng(3).normal(size=3000), name="x")
    domain = infer_domain(numbers)
    column = order_column("x", domain, code_column(numbers, domain), None)
    assert column.codes.dtype == np.int16
    part = column.at(np.arange(100, 140)).renumbered()
    assert part.size == 41
    np.testing.assert_array_equal(part.numbers[part.codes], numbers[100:140])
    assert (np.diff(part.numbers[1:]) > 0).all()
