"""Sets of columns from which expectation maximization starts."""

import numpy as np
from misleading_tools import misleading_release

from attacks.base.sides import shared_columns
from attacks.linkage.fitting.column_tables import ColumnTables
from attacks.linkage.fitting.linkage_fit import entropy_sizes, starting_evidence


def test_sizes_grow_by_half():
    assert entropy_sizes(50) == [2, 3, 4, 6, 10, 15, 22, 34]
    assert entropy_sizes(1) == entropy_sizes(2) == []


def test_the_greedy_start_finds_people_where_all_columns_mislead():
    release, knowledge, truth = misleading_release(0, rule="averted", people=300, rows=80)
    tables = [ColumnTables.start(column) for column in shared_columns(release, knowledge)]
    everything, *_, greedy = starting_evidence(tables)
    assert (everything.argmax(axis=1) == truth).mean() < 0.5
    assert (greedy.argmax(axis=1) == truth).mean() > 0.8


def test_one_column_is_a_start():
    release, knowledge, _ = misleading_release(0, people=30, rows=10, ratings=0, personal=2)
    tables = [ColumnTables.start(column) for column in shared_columns(release, knowledge)][:1]
    assert all(np.isfinite(evidence).all() for evidence in starting_evidence(tables))
