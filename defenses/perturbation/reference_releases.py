"""References for other defenses: the records themselves, a constant, and records of other people."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from defenses.base import (
    BlockwiseDefense,
    Channel,
    Independent,
    Microdata,
    MicrodataDefense,
    MicrodataRelease,
    Needs,
    RecordsInBlocks,
    ReleasePlan,
    Step,
    is_number_column,
    released_frame,
    rowwise_release,
    unchanged_cells,
)
from metrics.columns import Domain, check_real


class Identity(MicrodataDefense):
    """The records are released without identifiers and otherwise unchanged: the reference for utility 1.

    It guarantees nothing.
    """

    called = ("Identity", "No protection")

    columnwise = True
    """Cells follow from the values in their columns."""

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release all columns but the identifiers unchanged."""
        return rowwise_release(released_frame(records), Channel())


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
    bins = (domain.codes(block.numbers(name)) for block in records.blocks([name]))
    size = domain.size + 1
    counts = sum((np.bincount(codes, minlength=size) for codes in bins), np.zeros(size, dtype=np.int64))
    typical = int(counts.argmax())
    if typical == domain.size:
        return float("nan")
    return records.number_at(name, int(counts[:typical].sum() + (counts[typical] - 1) // 2))


class RecordReplacement(MicrodataDefense):
    """Each row is replaced, with a given probability, by a row drawn uniformly from the whole table.

    Where people have many rows (ratings), a replaced row keeps its person, so that some of a person's rows come from
    others. The table's distribution is unchanged on average. It guarantees nothing: rows that are not replaced are
    released unchanged.

    Parameters
    ----------
    share : float
        Probability that a row is replaced, in [0, 1].

    Raises
    ------
    ValueError
        If `share` is out of range.
    """

    def __init__(self, *, share: float = 0.5) -> None:
        self.share = check_real("share", share, low=0, high=1)

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Replace rows. Where people have many rows, no single record is the origin of a replaced row."""
        frame = released_frame(records)
        replaced = rng.random(len(records)) < self.share
        source = np.arange(len(records))
        source[replaced] = rng.integers(len(records), size=int(replaced.sum())) if len(records) else 0
        released = frame.iloc[source].reset_index(drop=True)
        if records.person is None:
            return MicrodataRelease(released, source, None)
        if records.person in released:
            released[records.person] = frame[records.person]
        return MicrodataRelease(released, np.where(replaced, -1, source), None)
