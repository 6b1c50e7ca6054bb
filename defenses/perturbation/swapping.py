"""Exchange of values between records: rank swapping, record swapping and shuffling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from defenses.base import (
    BlockwiseDefense,
    CellList,
    Channel,
    Microdata,
    MicrodataDefense,
    MicrodataRelease,
    Needs,
    Presence,
    RankWindow,
    RecordsInBlocks,
    ReleasedBlock,
    ReleasePlan,
    block_generator,
    block_sizes,
    category_codes,
    check_columns,
    chosen_columns,
    filled,
    plain_numbers,
    released_frame,
    rowwise_release,
    unchanged_cells,
)
from metrics.classes import class_sizes, equivalence_classes
from metrics.columns import Integers, NumericDomain, check_real, refuse_any, require


class RankSwapping(MicrodataDefense):
    """Rank swapping: each value is swapped with one whose rank in the column differs by at most a window.

    Numbers are ranked by value, and categories by their position in the domain (which is meaningful only where the
    domain is ordered). Ties are broken at random. The column keeps its values exactly. Ranks are cut into blocks of
    window + 1 at a random offset and matched at random inside their block. All values are swapped except one in each
    block of odd size. Missing values keep their rows. It guarantees nothing.

    Parameters
    ----------
    window : float
        Largest difference of rank as a share of the number of values in the column, in (0, 1]; at least one rank.
    columns : sequence of str, optional
        The columns to swap; by default all quasi-identifiers.

    Raises
    ------
    ValueError
        If the window lies outside (0, 1].

    Notes
    -----
    Moore draws the partner uniformly from the window, record by record. Here all swaps are drawn at once, and a partner
    is the more likely the closer its rank (see `SwapLaw`).

    References
    ----------
    Moore (1996), "Controlled data-swapping techniques for masking public use microdata sets".
    """

    called = ("Rank swapping", "Data swapping", "Rank swap")

    def __init__(self, *, window: float = 0.05, columns: Sequence[str] | None = None) -> None:
        self.window = check_real("window", window, low=0, high=1, open_low=True)
        self.columns = check_columns(columns)

    def check(self, records: Microdata) -> None:
        """Check that the columns exist."""
        chosen_columns(records, self.columns, records.quasi_identifiers)

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release the swapped columns."""
        frame = released_frame(records)
        parts = []
        for name in filled(records, chosen_columns(records, self.columns, records.quasi_identifiers)):
            domain = records.domain(name)
            if isinstance(domain, NumericDomain):
                keys = plain_numbers(records.frame[name])
                present = np.flatnonzero(~np.isnan(keys))
            else:
                keys = category_codes(records, name).astype(float)
                present = np.flatnonzero(keys < domain.size)
            window = min(max(1, int(self.window * present.size)), present.size - 1)
            order = present[np.lexsort((rng.random(present.size), keys[present]))]
            source = np.arange(len(records))
            source[order] = order[swapped_ranks(present.size, window, rng)]
            frame[name] = frame[name].iloc[source].reset_index(drop=True)
            values, counts = np.unique(keys[present], return_counts=True)
            parts.append(RankWindow(name, domain, tuple(values.tolist()), tuple(counts.tolist()), window))
        return rowwise_release(frame, Channel(tuple(parts)))


def swapped_ranks(total: int, window: int, rng: Generator) -> NDArray[np.intp]:
    """Draw the partner of each of the ranks 0, …, total - 1, the rank itself if it is not swapped; see `SwapLaw`."""
    block = window + 1
    blocks = (np.arange(total) + block - rng.integers(block)) // block
    ranks = np.lexsort((rng.random(total), blocks))
    position = np.arange(total)
    neighbour = position + np.where((position - np.searchsorted(blocks, blocks)) % 2 == 0, 1, -1)
    alone = (neighbour == total) | (blocks[np.minimum(neighbour, total - 1)] != blocks)
    partner = np.empty(total, dtype=np.intp)
    partner[ranks] = ranks[np.where(alone, position, neighbour)]
    return partner


class RecordSwapping(MicrodataDefense):
    """Record swapping: some records exchange chosen columns with similar records of another group.

    A census swaps places of residence in this way. Records belong to the same group if they agree on the columns to
    swap. Partners belong to different groups, and agree on as many leading columns of `similar` as possible (numbers by
    their public bins). The release keeps the frequency of each combination of swapped values, and the joint
    distribution of all other columns. It guarantees nothing. It has no channel, since a record's partner depends on the
    other records.

    Parameters
    ----------
    columns : sequence of str
        The columns to swap, all at once.
    similar : sequence of str, optional
        The columns on which partners should agree, the most important first; by default the quasi-identifiers that are
        not swapped.
    rate : float
        Share of the records drawn for swapping, in (0, 1]. A drawn record stays unchanged if no other drawn record
        without a partner belongs to another group.

    Raises
    ------
    ValueError
        If the rate lies outside (0, 1], no column is to be swapped, or a column is both swapped and similar; on
        `apply`, if a column does not exist or a value is not in its domain.

    Notes
    -----
    There is one round for every number of leading columns of `similar`, from all to none. In each round, the records
    without a partner are divided into classes that agree on these columns. Let a class have c records, ordered by
    group, and let h = floor(c / 2). The record at position i < h swaps with the one at position i + h. The two belong
    to the same group only if more than half of the class does; they then wait for the next round.

    References
    ----------
    Dalenius and Reiss (1982), Data-swapping: a technique for disclosure control; Fienberg and McIntyre (2004), Data
    swapping: variations on a theme by Dalenius and Reiss, section 5.
    """

    called = ("Record swapping",)

    def __init__(self, *, columns: Sequence[str], similar: Sequence[str] | None = None, rate: float = 0.1) -> None:
        self.columns = check_columns(columns)
        self.similar = check_columns(similar)
        self.rate = check_real("rate", rate, low=0, high=1, open_low=True)
        require(columns, "columns must name at least one column to swap")
        refuse_any(
            [name for name in similar or () if name in columns],
            lambda name: f"similar: column {name!r} is to be swapped and cannot be kept alike",
        )

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release the records with their swapped columns."""
        frame = released_frame(records)
        names = list(chosen_columns(records, self.columns, ()))
        not_swapped = [name for name in records.quasi_identifiers if name not in names]
        similar = chosen_columns(records, self.similar, not_swapped)
        drawn = np.sort(rng.permutation(len(records))[: round(self.rate * len(records))])
        groups = equivalence_classes(frame, names)
        partner = np.arange(len(records))
        for classes in _agreement_classes(records, similar):
            unmatched = drawn[partner[drawn] == drawn]
            first, second = _pairs(classes[unmatched], groups[unmatched], rng)
            partner[unmatched[first]], partner[unmatched[second]] = unmatched[second], unmatched[first]
        for name in names:
            frame[name] = frame[name].iloc[partner].reset_index(drop=True)
        return rowwise_release(frame, None)


def _agreement_classes(records: Microdata, names: Sequence[str]) -> list[Integers]:
    """Classes of records that agree on all columns, on all but the last, …, on none; arrays of shape (n,)."""
    classes = [np.zeros(len(records), dtype=np.intp)]
    for name in names:
        if records.frame[name].notna().any():
            codes = category_codes(records, name)
            classes.append(np.unique(classes[-1] * (codes.max() + 1) + codes, return_inverse=True)[1])
    return classes[::-1]


def _pairs(classes: Integers, groups: Integers, rng: Generator) -> tuple[Integers, Integers]:
    """Positions of partners, which share a class but not a group; two arrays of shape (pairs,)."""
    if classes.size == 0:
        return classes, classes
    order = np.lexsort((rng.random(classes.size), groups, classes))
    sizes = class_sizes(np.unique(classes, return_inverse=True)[1])
    half = np.repeat(sizes // 2, sizes)
    position = np.arange(classes.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    first_half = np.flatnonzero(position < half)
    first, second = order[first_half], order[first_half + half[first_half]]
    differ = groups[first] != groups[second]
    return first[differ], second[differ]


class Shuffle(BlockwiseDefense):
    """Every released column is permuted independently: marginal distributions are kept, all associations are lost.

    A released row mixes cells of several records, so that it stems from no single record. A rare value may still reveal
    that a person is among the records. It guarantees nothing.

    A random permutation of a column is a draw of its values without replacement. So each block draws the numbers of its
    values from those that are left.
    """

    called = ("Shuffling", "Column shuffling")

    needs: Needs = "permutation"

    def fit(self, records: RecordsInBlocks, rng: Generator) -> ReleasePlan:
        """Count the values of each released column."""
        names = records.counted.released_columns
        cells = {name: unchanged_cells(records, name) for name in names}
        counts = {name: records.column(name).counts for name in names}
        return _Permutations((), Channel(tuple(Presence(name) for name in names)), columns=cells, counts=counts)


@dataclass(frozen=True, kw_only=True)
class _Permutations(ReleasePlan):
    """Permutations of columns, given the list of cells, the cell of each code, and the number of records with it."""

    columns: Mapping[str, tuple[CellList, NDArray[np.int32]]] = field(repr=False)
    counts: Mapping[str, Integers] = field(repr=False)

    @property
    def cells(self) -> dict[str, CellList]:
        """Cells of all columns."""
        return {name: cells for name, (cells, _) in self.columns.items()}

    @property
    def changed(self) -> tuple[str, ...]:
        """All columns."""
        return tuple(self.columns)

    def blocks(self, records: RecordsInBlocks, root: SeedSequence) -> Iterator[ReleasedBlock]:
        """Draw the values of each block from those that are left."""
        left = {name: counts.copy() for name, counts in self.counts.items()}
        for number, rows in enumerate(block_sizes(len(records.counted))):
            columns = {
                name: of_code[_drawn(left[name], rows, block_generator(root, f"column {name}", number))]
                for name, (_, of_code) in self.columns.items()
            }
            yield ReleasedBlock(number, columns, np.full(rows, -1, dtype=np.int64))


def _drawn(left: Integers, rows: int, rng: Generator) -> Integers:
    """Codes drawn without replacement from those that are left, shape (rows,)."""
    occurring = np.flatnonzero(left)
    drawn = rng.multivariate_hypergeometric(left[occurring], rows, method="marginals")
    left[occurring] -= drawn
    return rng.permutation(np.repeat(occurring, drawn))
