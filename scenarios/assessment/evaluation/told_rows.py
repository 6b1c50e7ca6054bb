"""Whether the records that a truth file tells for released rows are those that the rows stem from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.random import Generator

from metrics.columns.arrays import Floats, Integers
from metrics.columns.domains import Domain
from scenarios.assessment.evaluation.row_origin import FALSE_ALARM, SAME, CellDistance

SAMPLED = 500
"""Largest number of rows whose nearest record is looked for."""
COMPARED = 20_000_000
"""Largest number of pairs of a row and a record that are compared for it, if there are at least `FEWEST` rows."""
FEWEST = 50
TOGETHER = 1 << 18
"""Number of pairs of a cell and a record whose distances are computed at once; each takes some tens of bytes."""
RANKED = 2000
"""Largest number of rows whose told record is ranked among random ones."""
RANDOM = 99
"""Number of random records among which a told one is ranked."""
LAST = 20
"""Ranks among all `RANDOM` + 1 that count as last; a noisy release with its own file has next to none there."""
MOST_RANDOM = 0.1
"""Share of told records that may fit no better than random ones without a word."""


def refuse_misfit(
    path: Path, released: pd.DataFrame, records: pd.DataFrame, domains: Mapping[str, Domain], origin: Integers
) -> None:
    """Refuse told records that repeat too often, or do not fit the released rows.

    Parameters
    ----------
    path : Path
        The truth file, which the error names.
    released : DataFrame, shape (rows, columns)
        Released cells.
    records : DataFrame, shape (records, more columns)
        Original values.
    domains : mapping of str to Domain
        Domains of the released columns.
    origin : ndarray of int, shape (rows,)
        Told position of each row's record, -1 where it stems from none.

    Raises
    ------
    ValueError
        If one record is told for too many rows. If the told records agree with the rows no better than exchanged ones,
        although some records fit the rows better than by chance.

    Notes
    -----
    Rows that are drawn with replacement repeat records, as `RecordReplacement` does. A record of such a release is told
    for too many rows with probability `FALSE_ALARM` at most.

    Told records agree if a sign test rejects exchanged ones at level `FALSE_ALARM`, so false ones pass that often.
    Noise may hide the agreement: shuffled columns, or values that are all drawn anew. Such rows mix the cells of many
    people. So the nearest record of a row is compared with that of a row whose cells are drawn from all rows, column
    by column. A release of independent columns is refused with probability `FALSE_ALARM` at most.
    """
    _refuse_repeated(path, origin, len(records))
    fit = _Fit.of(released, records, domains, origin)
    rng = np.random.default_rng(0)
    told = fit.told_p_value(rng)
    if told is None or told <= FALSE_ALARM:
        return
    nearest = fit.nearest_p_value(rng)
    if nearest > FALSE_ALARM:
        return
    raise ValueError(
        f"{path}: does not tell the records of the released rows. They agree with the rows no better than exchanged "
        f"records (p = {told:.2g}), and others fit better than by chance (p = {nearest:.1g}). The truth file belongs "
        "to the release as `defend` wrote it; was the release sorted, or is this the truth about another one?"
    )


def _refuse_repeated(path: Path, origin: Integers, records: int) -> None:
    """Refuse a record that is told for more rows than if each row kept its record or drew another one."""
    from scipy.stats import binom

    counts = np.bincount(origin[origin >= 0], minlength=records)
    record = int(counts.argmax())
    most = 1 + int(binom.isf(FALSE_ALARM / records, origin.size, 1 / records))
    if counts[record] > most:
        raise ValueError(
            f"{path}: record {record} is told for {counts[record]} of {origin.size} released rows. Each row stems from "
            f"one record, or from none (-1); even rows drawn with replacement tell one at most {most} times"
        )


def random_share(
    released: pd.DataFrame, records: pd.DataFrame, domains: Mapping[str, Domain], origin: Integers
) -> float | None:
    """Share of told records that fit their rows no better than random records.

    Parameters
    ----------
    released, records, domains, origin
        As in `refuse_misfit`.

    Returns
    -------
    float or None
        None unless the share is larger than `MOST_RANDOM` for sure.

    Notes
    -----
    Each told record is ranked by its distance to its row among `RANDOM` random records. Ties are broken at random. The
    rank of a false record is uniform. That of a true one is small, so hardly any of the last ranks are of true ones:
    they estimate the share (Storey 2002). The binomial test has level `FALSE_ALARM`: so often a file gets a number
    although a share of `MOST_RANDOM` or less is false. This holds if true records are never among the last.

    False records of the same class of a release cannot be seen. If a release keeps nothing of a row, its true record
    ranks like a false one.

    References
    ----------
    Storey (2002), A direct approach to false discovery rates.
    """
    from scipy.stats import binom

    ranks = _Fit.of(released, records, domains, origin).ranks(np.random.default_rng(0))
    last = int((ranks > RANDOM - LAST).sum())
    chance = LAST / (RANDOM + 1)
    if binom.sf(last - 1, ranks.size, MOST_RANDOM * chance) > FALSE_ALARM:
        return None
    return min(1.0, last / ranks.size / chance)


@dataclass(frozen=True)
class _Fit:
    """Distances of rows to the records that are told for them, and to others."""

    released: pd.DataFrame
    records: pd.DataFrame
    domains: Mapping[str, Domain]
    rows: Integers
    told: Integers

    @classmethod
    def of(cls, released: pd.DataFrame, records: pd.DataFrame, domains: Mapping[str, Domain], origin: Integers) -> _Fit:
        """The rows that stem from a record."""
        return cls(released, records, domains, np.flatnonzero(origin >= 0), origin[origin >= 0])

    def ranks(self, rng: Generator) -> Integers:
        """Rank of each told record among random ones, from 0 to `RANDOM`, shape (rows,)."""
        chosen = rng.permutation(self.rows.size)[:RANKED]
        candidates = np.column_stack([self.told[chosen], rng.integers(len(self.records), size=(chosen.size, RANDOM))])
        total = np.zeros(candidates.shape)
        for name in self.released.columns:
            pairs = self._distance(str(name))(np.repeat(self.rows[chosen], RANDOM + 1), candidates.ravel())
            total += pairs.reshape(total.shape)
        beyond = total[:, 1:] - total[:, :1]
        ties = (np.abs(beyond) <= SAME).sum(axis=1)
        return np.asarray((beyond < -SAME).sum(axis=1) + rng.integers(ties + 1))

    def told_p_value(self, rng: Generator) -> float | None:
        """p-value of the hypothesis that the told records say nothing about the rows; None if no test can reject it.

        Rows are paired at random. If the hypothesis holds, exchanging the records of a pair fits better or worse with
        the same probability. The test is the exact sign test of the pairs in which the two ways differ.
        """
        half = self.rows.size // 2
        first, second = rng.permutation(self.rows.size)[: 2 * half].reshape(2, half)
        gain = np.zeros(half)
        for name in self.released.columns:
            distance = self._distance(str(name))
            for rows, records, sign in (
                (first, second, 1),
                (second, first, 1),
                (first, first, -1),
                (second, second, -1),
            ):
                gain += sign * distance(self.rows[rows], self.told[records])
        better, worse = int((gain > SAME).sum()), int((gain < -SAME).sum())
        return _sign_test(better, worse) if 0.5 ** (better + worse) <= FALSE_ALARM else None

    def nearest_p_value(self, rng: Generator) -> float:
        """p-value of the hypothesis that rows are no nearer to records than rows of cells drawn column by column."""
        count = min(self.rows.size, SAMPLED, max(FEWEST, COMPARED // len(self.records)))
        sample = rng.permutation(self.rows)[:count]
        whole, mixed = np.zeros((2, count, len(self.records)), dtype=np.float32)
        for name in self.released.columns:
            distance = self._distance(str(name))
            drawn = rng.permutation(self.rows)[:count]
            whole += _pairs(distance, sample)
            mixed += _pairs(distance, drawn)
        gain = mixed.min(axis=1) - whole.min(axis=1)
        return _sign_test(int((gain > SAME).sum()), int((gain < -SAME).sum()))

    def _distance(self, name: str) -> CellDistance:
        return CellDistance.of(self.released[name], self.records[name], self.domains[name])


def _pairs(distance: CellDistance, rows: Integers) -> Floats:
    """Distance of each row to every record, shape (rows, records); equal cells are compared once."""
    count = distance.values.shape[0]
    cells, position = np.unique(distance.cells.codes[rows], return_index=True)
    distinct, records, together = rows[position], np.arange(count), max(1, TOGETHER // count)
    parts = (distinct[first : first + together] for first in range(0, distinct.size, together))
    table = np.concatenate(
        [distance(np.repeat(part, count), np.tile(records, part.size)).reshape(-1, count) for part in parts]
    )
    return np.asarray(table[np.searchsorted(cells, distance.cells.codes[rows])])


def _sign_test(better: int, worse: int) -> float:
    """Exact one-sided p-value of `better` heads among `better + worse` throws of a fair coin."""
    from scipy.stats import binom

    return float(binom.sf(better - 1, better + worse, 0.5)) if better + worse else 1.0
