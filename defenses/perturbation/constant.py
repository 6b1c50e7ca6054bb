"""One constant row for everybody."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from defenses.base import (
    BlockwiseDefense,
    Channel,
    Needs,
    RecordsInBlocks,
    ReleasePlan,
    Step,
    is_number_column,
    unchanged_cells,
)
from defenses.base.channel_parts import Independent
from metrics.columns import Domain


class Constant(BlockwiseDefense):
    """Every released column holds one value: the reference for utility 0.

    The value of a categorical column is its most frequent category. For numbers it is the lower median of the numbers
    in the most frequent public bin. In case of a tie, the first category or bin counts. The value is missing where most
    values are missing. Tables with the same size and the same such values have the same release. These values depend on
    all records, so that there is no numeric guarantee.
    """

    needs: Needs = "histograms"

    def fit(self, records: RecordsInBlocks, rng: Generator) -> ReleasePlan:
        """Count the values of every released column."""
        names = records.counted.released_columns
        steps = [_constant_step(records, name) for name in names] if len(records.counted) else []
        return ReleasePlan(steps, Channel(tuple(Independent(name) for name in names)))


def _constant_step(records: RecordsInBlocks, name: str) -> Step:
    """Step that gives all records a column's typical value."""
    roles = records.counted
    if is_number_column(roles.frame[name]):
        number, kind = _typical_number(records, name, roles.domain(name)), roles.frame[name].to_numpy().dtype
        return Step((name,), {}, lambda block, _: {name: np.full(len(block), number).astype(kind)})
    cells, of_code = unchanged_cells(records, name)
    typical = of_code[records.column(name).counts.argmax()]
    return Step((name,), {name: cells}, lambda block, _: {name: np.full(len(block), typical)})


def _typical_number(records: RecordsInBlocks, name: str, domain: Domain) -> float:
    """Lower median of the numbers in the most frequent bin; NaN where most are missing."""
    counts = np.zeros(domain.size + 1, dtype=np.int64)
    for block in records.blocks([name]):
        counts += np.bincount(domain.codes(block.numbers(name)), minlength=counts.size)
    typical = int(counts.argmax())
    if typical == domain.size:
        return float("nan")
    return records.number_at(name, int(counts[:typical].sum() + (counts[typical] - 1) // 2))
