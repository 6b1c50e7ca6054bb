"""Errors of range counts."""

from __future__ import annotations

import numpy as np
import pytest
from metric_tools import DOMAINS, people

from metrics import query_error


def test_query_error() -> None:
    table = people(500)
    rng = np.random.default_rng(0)
    assert query_error(table, table, DOMAINS, rng) == 0
    near = query_error(table, people(500, seed=1), DOMAINS, np.random.default_rng(0))
    far = query_error(table, table.assign(age=10, job="d"), DOMAINS, np.random.default_rng(0))
    assert 0 < near < far <= 1
    assert query_error(table, table.assign(age=10), {"age": DOMAINS["age"]}, rng, count=50) > 0


def test_query_error_refuses() -> None:
    table = people(3)
    rng = np.random.default_rng(0)
    for empty in ((table.iloc[:0], table), (table, table.iloc[:0])):
        with pytest.raises(ValueError, match="no rows"):
            query_error(*empty, DOMAINS, rng)
    with pytest.raises(ValueError, match="at least one column"):
        query_error(table, table, {}, rng)
    for count in (0, 1.5, True):
        with pytest.raises(ValueError, match="count"):
            query_error(table, table, DOMAINS, rng, count=count)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no column 'job'"):
        query_error(table, table[["age"]], DOMAINS, rng)
