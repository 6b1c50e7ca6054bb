"""Which record each released row stems from, as far as the tables show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from metrics import advantage
from metrics.columns import (
    SUPPRESSED,
    Booleans,
    CategoricalCells,
    Domain,
    Floats,
    Integers,
    NumericCells,
    NumericDomain,
    read_cells,
    refuse,
)
from scenarios.assessment.evaluation.evaluation_setting import EvaluationSetting
from scenarios.tables import FinishedTable, generator
from scenarios.tables.review.rows_of_people import numbers_in

FALSE_ALARM = 0.001
"""Probability that rows in an order of their own are taken for rows in the records' order."""
UNRELIABLE = "unreliable"
"""Kind of an origin that was given in part by records that fit no better than random ones."""
LEAST = 1e-15
"""Smallest p-value that is shown."""
SAME = 1e-9
"""Largest difference of two distances that counts as a tie."""
MOST_PAIRS = 200_000_000
"""Largest number of pairs of a kind of row and a person that are compared."""
SORTED_DEVIATIONS = 6.0
"""Standard errors by which neighbours in a sorted column are closer than in a column in random order, at least."""


@dataclass(frozen=True)
class RowOrigin:
    """The record that each released row stems from.

    - kind, {"copies", "aligned", "given", "unreliable", "unknown"}: How it was recognized; ``unreliable`` is given in
      part by records that fit no better than random ones.
    - origin, shape (rows,): Position of the record, -1 where unknown.
    - note: What was recognized, in a sentence.
    """

    kind: str
    origin: Integers = field(repr=False)
    note: str


def recognized_origin(released: pd.DataFrame, records: pd.DataFrame, domains: Mapping[str, Domain]) -> RowOrigin:
    """Recognize which record each released row stems from.

    Every released row may be a copy of a record, in any order. Else the rows may be in the records' order; see
    `order_p_value`.
    """
    names = [str(name) for name in released.columns]
    origin = copied_origin(released, records[names], domains)
    if origin is not None:
        columns = "1 shared column" if len(names) == 1 else f"all {len(names)} shared columns"
        return RowOrigin(
            "copies", origin, f"every row is a copy of a record in {columns}, and is taken to stem from it"
        )
    unknown = np.full(len(released), -1)
    cannot = "so rows cannot be matched with people: linkage of rows is not measured"
    if len(released) != len(records):
        return RowOrigin("unknown", unknown, f"the rows are not as many as the records, {cannot}")
    p_value = order_p_value(released, records[names], domains)
    if p_value is None or p_value > FALSE_ALARM:
        return RowOrigin("unknown", unknown, f"the rows are not seen to be in the order of the records, {cannot}")
    evidence = f"p = {p_value:.1g}" if p_value > LEAST else f"p < {LEAST:g}"
    note = (
        f"the rows are in the order of the records ({evidence}; rows in an order of their own pass in "
        f"{FALSE_ALARM:.1%} of cases): row i is taken to stem from record i"
    )
    return RowOrigin("aligned", np.arange(len(released)), note)


def given_origin(origin: Integers, random: float | None = None) -> RowOrigin:
    """The origin that whoever made the release wrote down, such as by `tokumei defend --truth`.

    - origin, shape (rows,): Position of each row's record, -1 where it stems from none.
    - random: Share of the given records that fit no better than random ones, if there are many.
    """
    stems = int((origin >= 0).sum())
    if not stems:
        return RowOrigin("unknown", origin, "no row stems from a record: linkage of rows is not measured")
    note = f"the record of {stems} of {origin.size} rows was given by --truth"
    repeated = stems - np.unique(origin[origin >= 0]).size
    if repeated:
        note += f"; {repeated} of them repeat a record, as where rows are drawn with replacement"
    if random is None:
        return RowOrigin("given", origin, note)
    return RowOrigin(UNRELIABLE, origin, f"{note}; about {random:.0%} of these records fit no better than random ones")


def copied_origin(released: pd.DataFrame, records: pd.DataFrame, domains: Mapping[str, Domain]) -> Integers | None:
    """Record that each row copies, shape (rows,), each record once; None unless every row is a copy.

    Equal records are exchangeable: their rows are given to them in order.
    """
    keys = _keys(released, records, domains)
    count = int(keys.max(initial=0)) + 1
    sides = np.split(keys, [len(records)])
    of_people, of_rows = (np.bincount(part, minlength=count) for part in sides)
    if (of_rows > of_people).any():
        return None
    people_order, row_order = (np.argsort(part, kind="stable") for part in sides)
    first_person, first_row = (np.cumsum(part) - part for part in (of_people, of_rows))
    sorted_keys = sides[1][row_order]
    rank = np.arange(sorted_keys.size) - first_row[sorted_keys]
    origin = np.empty(sorted_keys.size, dtype=np.intp)
    origin[row_order] = people_order[first_person[sorted_keys] + rank]
    return origin


def _keys(released: pd.DataFrame, records: pd.DataFrame, domains: Mapping[str, Domain]) -> Integers:
    """Numbers of the records, then of the rows, equal where all values are, shape (records + rows,)."""
    keys = np.zeros(len(records) + len(released), dtype=np.intp)
    for name in records.columns:
        both = CellDistance.of(released[name], records[name], domains[name])
        codes = pd.factorize(np.concatenate([both.values, both.plain()]), use_na_sentinel=False)[0]
        keys = pd.factorize(keys * (codes.max(initial=0) + 1) + codes)[0]
    return keys


QUASI_IDENTIFIERS = "the quasi-identifiers"
"""Columns over which copies are counted beside all shared ones."""


@dataclass(frozen=True)
class CopiedRecords:
    """Unique records of a table that stand verbatim in a release: in each column the cell is the value.

    A record is unique if no other person has an equal one.

    - about: The columns that are compared.
    - unique, copied: People with a unique record, and those of them with one that stands in the release.
    - chance: Share of the unique records of a random half of the people that stand in the other half.

    Source: Task, Bhagat and Howarth (2023), SDNist v2: deidentified data report tool, "unique exact matches".
    """

    about: str
    unique: int
    copied: int
    chance: float

    @property
    def share(self) -> float:
        """Share of these people whose record stands in the release; 0 if there is nobody."""
        return self.copied / max(1, self.unique)

    @property
    def excess(self) -> float:
        """The share beyond chance, at least 0; 0 if the other half holds all unique records of a half."""
        return max(0.0, advantage(self.share, self.chance)) if self.chance < 1 else 0.0

    @property
    def words(self) -> str:
        """The counts in a sentence."""
        return (
            f"over {self.about}, {self.copied:,} of {self.unique:,} people with a unique record ({self.share:.1%}) "
            f"have one that stands verbatim in the release; by chance {self.chance:.1%}, as in records of other people"
        )


def copied_records(setting: EvaluationSetting, table: FinishedTable) -> tuple[CopiedRecords, ...]:
    """Unique records that stand verbatim in a release, over all its columns and over its quasi-identifiers."""
    everything = list(table.frame.columns)
    quasi = [name for name in everything if name in setting.records.quasi_identifiers]
    parts = {f"all {len(everything)} shared columns": everything, QUASI_IDENTIFIERS: quasi}
    if len(quasi) in (0, len(everything)):
        parts.popitem()
    half = generator(setting.seed, "copies").permutation(setting.size)[setting.people] < setting.size // 2
    result = []
    for about, columns in parts.items():
        keys = _keys(table.frame[columns], setting.records.frame[columns], table.domains)
        records, rows = np.split(keys, [len(setting.records)])
        unique, copied = _copied(records, setting.people, rows)
        of_half, of_others = _copied(records[half], setting.people[half], records[~half])
        result.append(CopiedRecords(about, unique, copied, of_others / max(1, of_half)))
    return tuple(result)


def _copied(records: Integers, people: Integers, rows: Integers) -> tuple[int, int]:
    """Number of people with a record that nobody else has, and of those with one of them among the rows."""
    pairs = np.unique(np.column_stack([records, people]), axis=0)
    held = np.bincount(pairs[:, 0])[pairs[:, 0]] == 1
    standing = held & np.isin(pairs[:, 0], rows)
    return np.unique(pairs[held, 1]).size, np.unique(pairs[standing, 1]).size


def order_p_value(released: pd.DataFrame, records: pd.DataFrame, domains: Mapping[str, Domain]) -> float | None:
    """p-value of the hypothesis that the rows' order is independent of the records' order.

    Let D(i, j) be the distance of row i to record j, summed over columns. For the disjoint pairs of neighbours (i, i +
    1), let d = D(i, i + 1) + D(i + 1, i) - D(i, i) - D(i + 1, i + 1). Exchanging the two rows of a pair changes the
    sign of d. If the order of the rows says nothing about the records, both orders are equally likely. The signs are
    then independent fair coins, whatever the tables hold. The test is the exact one-sided sign test of those d that are
    not 0.

    Two tables that were sorted in the same way are in the same order, although no row need stem from its record.
    Columns in which neighbouring records are closer than in random order are therefore left out.

    It is None if no two neighbouring rows can be distinguished. Both tables have the same columns.
    """
    half = len(records) // 2
    rows = np.arange(2 * half)
    neighbours = rows ^ 1
    gain = np.zeros(2 * half)
    for name in records.columns:
        if not looks_sorted(records[name], domains[name]):
            distance = CellDistance.of(released[name], records[name], domains[name])
            gain += distance(rows, neighbours) - distance(rows, rows)
    difference = gain.reshape(half, 2).sum(axis=1)
    better, worse = int((difference > SAME).sum()), int((difference < -SAME).sum())
    return _sign_test(better, worse) if better + worse else None


def held_people(kinds: pd.DataFrame, people: pd.DataFrame, domains: Mapping[str, Domain]) -> Booleans:
    """Whether the cells of each distinct row hold the original values of each person, shape (kinds, people)."""
    everybody = np.arange(len(people))
    inside = np.ones((len(kinds), len(people)), dtype=bool)
    for name in kinds.columns:
        distance = CellDistance.of(kinds[name], people[name], domains[str(name)])
        # Whom a cell holds is asked once for each distinct cell.
        _, first, position = np.unique(distance.cells.codes, return_index=True, return_inverse=True)
        holds = np.array([distance(np.full(len(people), kind), everybody) == 0 for kind in first])
        inside &= holds[position]
    return inside


def holding_share(
    released: pd.DataFrame, records: pd.DataFrame, domains: Mapping[str, Domain], origin: Integers
) -> float | None:
    """Share of the rows of known origin whose cells hold the values of their record; None without such a row.

    `origin` is the position of each row's record, -1 where it is unknown.
    """
    known = np.flatnonzero(origin >= 0)
    if not known.size:
        return None
    holds = np.ones(known.size, dtype=bool)
    for name in released.columns:
        holds &= CellDistance.of(released[name], records[name], domains[str(name)])(known, origin[known]) == 0
    return float(holds.mean())


def kinds_of_rows(released: pd.DataFrame) -> tuple[pd.DataFrame, Integers]:
    """Distinct rows, and the number of the kind of each row, shape (rows,)."""
    code = released.groupby(list(released.columns), dropna=False, sort=False).ngroup().to_numpy()
    _, first, kind = np.unique(code, return_index=True, return_inverse=True)
    return released.iloc[first].reset_index(drop=True), kind


def looks_sorted(values: pd.Series[Any], domain: Domain) -> bool:
    """Whether neighbouring values are closer to each other than in random order, as in a sorted column."""
    if isinstance(domain, NumericDomain):
        numbers = values.to_numpy(dtype=float, na_value=np.nan)
    else:
        codes, distinct = pd.factorize(values, use_na_sentinel=False)
        names = np.array([str(value) for value in distinct], dtype=object)
        numbers = np.argsort(np.argsort(names))[codes].astype(float)
    ranks = pd.Series(numbers).rank(na_option="bottom").to_numpy()
    n = ranks.size
    if n < 2:
        return True
    expected = 2 * float(((2 * np.arange(n) - n + 1) * np.sort(ranks)).sum()) / (n * (n - 1))
    steps = np.abs(np.diff(ranks))
    return bool(expected > 0 and steps.mean() < expected * (1 - SORTED_DEVIATIONS / np.sqrt(n)))


@dataclass(frozen=True)
class CellDistance:
    """Distance of single released cells to single values of one column, in [0, 1].

    It is 0 where the cell covers the value. A number is as far from a cell as from the nearest number that it covers,
    over the values' range. Everything else is at distance 1.

    - values, shape (records,): Original numbers, or positions of categories.
    """

    cells: NumericCells | CategoricalCells
    values: Floats | Integers

    @classmethod
    def of(cls, released: pd.Series[Any], values: pd.Series[Any], domain: Domain) -> CellDistance:
        """Read both columns."""
        cells = read_cells(released, domain)
        if isinstance(domain, NumericDomain):
            return cls(cells, values.to_numpy(dtype=float, na_value=np.nan))
        return cls(cells, domain.codes(values.to_numpy(dtype=object)))

    def plain(self) -> Floats:
        """The value of each released row as in `values`; one that no record has where the cell is generalized."""
        cells = self.cells
        if isinstance(cells, NumericCells):
            return np.where(cells.plain, cells.hull()[0], np.inf)[cells.codes]
        single = np.where(cells.missing, cells.domain.size, cells.member.argmax(axis=1))
        return np.where(cells.plain, single, -1)[cells.codes].astype(float)

    def __call__(self, rows: Integers, records: Integers) -> Floats:
        """Distance of each row to each record of the same position in both arrays, shape (pairs,)."""
        codes = self.cells.codes[rows]
        any_missing = self.cells.missing | self.cells.or_missing | self.cells.suppressed
        if isinstance(self.cells, CategoricalCells):
            covers = np.column_stack([self.cells.member, any_missing])
            return np.asarray(~covers[codes, self.values[records]], dtype=float)
        values = self.values[records]
        low, high = (side[codes] for side in self.cells.hull())
        present = self.values[~np.isnan(self.values)]
        span = float(np.ptp(present)) if present.size else 0.0
        beyond = np.maximum(np.maximum(low - values, values - high), 0.0)
        graded = np.clip(beyond / span, 0.0, 1.0) if span > 0 else (beyond > 0).astype(float)
        return np.where(np.isnan(values) & any_missing[codes], 0.0, np.nan_to_num(graded, nan=1.0))


# Whether the records that a truth file tells for released rows are those that the rows stem from.

SAMPLED = 500
"""Largest number of rows whose nearest record is looked for."""
COMPARED = 20_000_000
"""Largest number of pairs of a row and a record that are compared for it, if there are at least `FEWEST` rows."""
FEWEST = 50
TOGETHER = 1 << 18
"""Number of pairs of a cell and a record whose distances are computed at once; each takes some tens of bytes."""
RANKED = 2000
"""Largest number of rows whose given record is ranked among random ones."""
RANDOM = 99
"""Number of random records among which a given one is ranked."""
LAST = 20
"""Ranks among all `RANDOM` + 1 that count as last; a noisy release with its own file has next to none there."""
MOST_RANDOM = 0.1
"""Share of given records that may fit no better than random ones without a word."""


def refuse_misfit(
    path: Path, released: pd.DataFrame, records: pd.DataFrame, domains: Mapping[str, Domain], origin: Integers
) -> None:
    """Refuse given records that repeat too often, or do not fit the released rows; the ValueError names the file.

    Rows that are drawn with replacement repeat records, as `RecordReplacement` does. A record of such a release is
    given for too many rows with probability `FALSE_ALARM` at most.

    Records do not fit if they agree with the rows no better than exchanged ones, although some records fit better than
    by chance. Given records agree if a sign test rejects exchanged ones at level `FALSE_ALARM`, so false ones pass that
    often. Noise may hide the agreement: shuffled columns, or values that are all drawn anew. Such rows mix the cells of
    many people. So the nearest record of a row is compared with that of a row whose cells are drawn from all rows,
    column by column. A release of independent columns is refused with probability `FALSE_ALARM` at most.

    - origin, shape (rows,): Given position of each row's record, -1 where it stems from none.
    """
    _refuse_repeated(path, origin, len(records))
    fit = _Fit.of(released, records, domains, origin)
    rng = np.random.default_rng(0)
    given = fit.given_p_value(rng)
    if given is None or given <= FALSE_ALARM:
        return
    nearest = fit.nearest_p_value(rng)
    if nearest > FALSE_ALARM:
        return
    raise ValueError(
        f"{path}: does not tell the records of the released rows. They agree with the rows no better than exchanged "
        f"records (p = {given:.2g}), and others fit better than by chance (p = {nearest:.1g}). The truth file belongs "
        "to the release as `defend` wrote it; was the release sorted, or is this the truth about another one?"
    )


def _refuse_repeated(path: Path, origin: Integers, records: int) -> None:
    """Refuse a record that is given for more rows than if each row kept its record or drew another one."""
    from scipy.stats import binom

    counts = np.bincount(origin[origin >= 0], minlength=records)
    record = int(counts.argmax())
    most = 1 + int(binom.isf(FALSE_ALARM / records, origin.size, 1 / records))
    refuse(
        counts[record] > most,
        f"{path}: record {record} is given for {counts[record]} of {origin.size} released rows. Each row stems from "
        f"one record, or from none (-1); even rows drawn with replacement tell one at most {most} times",
    )


def random_share(
    released: pd.DataFrame, records: pd.DataFrame, domains: Mapping[str, Domain], origin: Integers
) -> float | None:
    """Share of given records that fit their rows no better than random records.

    It is None unless the share is larger than `MOST_RANDOM` for sure. For the arguments, see `refuse_misfit`.

    Each given record is ranked by its distance to its row among `RANDOM` random records. Ties are broken at random. The
    rank of a false record is uniform. That of a true one is small, so hardly any of the last ranks are of true ones:
    they estimate the share (Storey 2002). The binomial test has level `FALSE_ALARM`: so often a file gets a number
    although a share of `MOST_RANDOM` or less is false. This holds if true records are never among the last.

    False records of the same class of a release cannot be seen. If a release keeps nothing of a row, its true record
    ranks like a false one.

    Source: Storey (2002), A direct approach to false discovery rates.
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
    """Distances of rows to the records that are given for them, and to others."""

    released: pd.DataFrame
    records: pd.DataFrame
    domains: Mapping[str, Domain]
    rows: Integers
    given: Integers

    @classmethod
    def of(cls, released: pd.DataFrame, records: pd.DataFrame, domains: Mapping[str, Domain], origin: Integers) -> _Fit:
        """The rows that stem from a record."""
        return cls(released, records, domains, np.flatnonzero(origin >= 0), origin[origin >= 0])

    def ranks(self, rng: Generator) -> Integers:
        """Rank of each given record among random ones, from 0 to `RANDOM`, shape (rows,)."""
        chosen = rng.permutation(self.rows.size)[:RANKED]
        candidates = np.column_stack([self.given[chosen], rng.integers(len(self.records), size=(chosen.size, RANDOM))])
        total = np.zeros(candidates.shape)
        for name in self.released.columns:
            pairs = self._distance(str(name))(np.repeat(self.rows[chosen], RANDOM + 1), candidates.ravel())
            total += pairs.reshape(total.shape)
        beyond = total[:, 1:] - total[:, :1]
        ties = (np.abs(beyond) <= SAME).sum(axis=1)
        return np.asarray((beyond < -SAME).sum(axis=1) + rng.integers(ties + 1))

    def given_p_value(self, rng: Generator) -> float | None:
        """p-value of the hypothesis that the given records say nothing about the rows; None if no test can reject it.

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
                gain += sign * distance(self.rows[rows], self.given[records])
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


# Whose the rows of a finished release are, where a person may have several.


def people_of_rows(setting: EvaluationSetting, table: FinishedTable, origin: RowOrigin) -> Integers | None:
    """Number of the person of each released row, shape (rows,); rows of the same class may be exchanged.

    A record tells the person: the record that the row stems from, or the one that fits the row and no other row
    (`fitting_records`). Else the release's column of the person does, if it holds as many people at most as the
    original table. Else the result is None.
    """
    if not setting.repeats:
        return np.arange(len(table.frame))
    key = table.sha256, origin.kind, origin.origin.tobytes()
    return setting.kept("people of rows", key, lambda: _known_people(setting, table, origin))


def groups_of_rows(setting: EvaluationSetting, table: FinishedTable, origin: RowOrigin) -> Integers | None:
    """Number of the declared group of each released row; None without groups, or if no record tells it."""
    group = setting.records.group
    record = None if group is None else _known_records(setting, table, origin)
    return None if record is None else numbers_in(setting.records, group)[record]


def _known_records(setting: EvaluationSetting, table: FinishedTable, origin: RowOrigin) -> Integers | None:
    """A record of the person of each row; see `people_of_rows`."""
    if origin.kind != UNRELIABLE and (origin.origin >= 0).all():
        return origin.origin
    records, quasi = setting.records.frame, [name for name in setting.records.quasi_identifiers if name in table.frame]
    for names in (list(table.frame.columns), quasi):
        record = fitting_records(table.frame[names], records, table.domains) if names else None
        if record is not None:
            return record
    return None


def _known_people(setting: EvaluationSetting, table: FinishedTable, origin: RowOrigin) -> Integers | None:
    """The person of each row; see `people_of_rows`."""
    record = _known_records(setting, table, origin)
    if record is not None:
        return setting.people[record]
    person = table.person
    if person is None or person.isna().any() or person.eq(SUPPRESSED).any() or person.nunique() > setting.size:
        return None
    numbers: Integers = pd.factorize(person)[0].astype(np.intp)
    return numbers


def fitting_records(released: pd.DataFrame, records: pd.DataFrame, domains: Mapping[str, Domain]) -> Integers | None:
    """Record of each released row, shape (rows,), up to exchanges among equal rows; None unless the cells tell it.

    If as many records fit a kind of row as there are such rows, these are its records, and no other kind has them. This
    is repeated with the records that are left. A kind that fewer records fit shows that cells do not hold the values
    they stem from, as after noise.

    Examples
    --------
    >>> from metrics.columns.domains import NumericDomain
    >>> released = pd.DataFrame({"age": ["[20,29]", "*", "[20,29]"]})
    >>> fitting_records(released, pd.DataFrame({"age": [50, 21, 28]}), {"age": NumericDomain(0, 99)}).tolist()
    [1, 0, 2]
    """
    kinds, kind = kinds_of_rows(released)
    if len(kinds) * len(records) > MOST_PAIRS:
        return None
    fits, sizes = held_people(kinds, records, domains), np.bincount(kind)
    record = np.full(len(released), -1)
    rows, starts = np.argsort(kind, kind="stable"), np.cumsum(sizes) - sizes
    left = np.ones(len(kinds), dtype=bool)
    while left.any():
        count = fits.sum(axis=1)
        known = np.flatnonzero(left & (count == sizes))
        if not known.size or (count < sizes)[left].any():
            return None
        for one in known:
            own = np.flatnonzero(fits[one])
            if own.size != sizes[one]:
                return None
            record[rows[starts[one] : starts[one] + sizes[one]]] = own
            fits[:, own] = False
        left[known] = False
    return record


def people_notes(setting: EvaluationSetting, people: Integers | None) -> list[str]:
    """What is counted where a person has several rows, in sentences; nothing where none has.

    `people` is the person of each row, None if it is not known.
    """
    if not setting.repeats:
        return []
    person = setting.records.person
    about = (
        f"people ({person}) are counted, not rows: {len(setting.records):,} rows of {setting.size:,} people. A "
        "person's rows are asked about together, and the person's success is the mean over them; links of two files "
        "are asked about one row of each person"
    )
    if people is not None:
        return [about, "k counts the people of a class"]
    return [
        about,
        f"k counts rows, not people ({person}): the release does not tell whose its rows are, and a class may hold "
        "fewer people",
    ]
