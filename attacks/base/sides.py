"""Released cells beside candidates' values in coded form, and Gower's distance."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import ArrayLike

from attacks.base.attack import Attack, Knowledge, NotApplicable, ValueClaims, applicable, disclosed_channel
from attacks.base.text_errors import TextErrors, TextSides, text_errors
from defenses.base import Channel, MicrodataRelease, ReportAmongFakes, ReportedNumber, ReportedSet
from metrics.classes import equivalence_classes
from metrics.columns import (
    Array,
    Booleans,
    CategoricalCells,
    Domain,
    Floats,
    Integers,
    NumericCells,
    NumericDomain,
    escape,
    gathered,
    group_sums,
    in_column,
    numbers_of,
    read_cells,
    refuse_rows,
    require,
    scattered,
)

# Transition matrix of a column that a release discloses, and released cells as its categories.


def column_matrix(channel: Channel | None, column: str, domain: Domain) -> Floats:
    """Transition matrix of a column: the probability of each released category or bin under each original one.

    It has shape (d, d). Rows are released categories, columns are original ones, and columns sum to 1. `NotApplicable`
    is raised if there is no channel, or it has no transition matrix of the column over the domain's categories.
    """
    channel = disclosed_channel(channel)
    released = pd.DataFrame({column: pd.Series(_cells(domain), dtype=object)})
    original = pd.DataFrame({column: values(domain)})
    try:
        likelihood = channel.likelihoods(released, original, {column: domain})[column,]
    except (ValueError, KeyError) as error:
        raise NotApplicable(f"the channel has no matrix of column {column!r}: {error}") from None
    matrix = np.exp(likelihood.table())
    applicable(
        np.allclose(matrix.sum(axis=0), 1, rtol=0, atol=1e-9),
        f"the channel of column {column!r} is no transition matrix of its {domain.size} categories",
    )
    return matrix


def report_likelihoods(release: MicrodataRelease, column: str, domain: Domain) -> Floats | None:
    """Likelihood of each row's cell under each category or bin, for a column of reports; shape (rows, d).

    It is known up to a factor for each row. Returns None without a channel, or where the channel releases the column
    otherwise than by reports.
    """
    for part in () if release.channel is None else release.channel.parts:
        if isinstance(part, ReportedNumber) and part.column == column:
            logs = part.bin_log_likelihoods(release.frame[column])[:, : domain.size]
            return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))
        if column in part.columns and isinstance(part, ReportedSet | ReportAmongFakes):
            usable = part if len(part.columns) == 1 else part.restricted([column])
            original = pd.DataFrame({column: values(domain)})
            return None if usable is None else np.exp(usable.bind(release.frame, original).table())
    return None


def values(domain: Domain) -> pd.Series[Any]:
    """One original value for each category or bin, in the domain's order."""
    if isinstance(domain, NumericDomain):
        return pd.Series([domain.low, *domain.cuts])
    return pd.Series(domain.categories, dtype=object)


def cell_codes(column: pd.Series[Any], domain: Domain) -> Integers:
    """Category or bin of each released cell, shape (n,).

    If a cell is none of them, `NotApplicable` names the column and the row, from 0.
    """
    codes = pd.Index(_cells(domain), dtype=object).get_indexer(pd.Index(column, dtype=object))
    refuse_rows(
        codes < 0,
        lambda row: f"column {column.name!r}, row {row}: the cell is no category of the column's domain",
        NotApplicable,
    )
    return codes


def _cells(domain: Domain) -> list[str]:
    return domain.cells() if isinstance(domain, NumericDomain) else [escape(name) for name in domain.categories]


# Distance that only breaks ties, as a share of the range. It lies above rounding errors, and in the mean over hundreds
# of columns above the threshold for ties.
SMALLEST_DISTANCE = 1e-6
# Entries up to which a table is kept for later calls, and codings that one release keeps.
LARGEST_KEPT, CODINGS_KEPT = 10**6, 4


@dataclass(frozen=True)
class SharedColumn:
    """A column that the release and the candidates have in common, both sides in coded form.

    Arrays are read-only: attacks on one release share them.

    Attributes
    ----------
    name : str
        The column.
    cells : Cells
        The released side.
    values : ndarray, shape (distinct,)
        Distinct values of the candidates.
    codes : ndarray of int, shape (candidates,)
        The distinct value of each candidate.
    errors : TextErrors, optional
        Cells and values that are nearly equal as texts, where the release has typing errors in this column.
    gaps_changed : bool
        Whether the shares of missing values on the two sides differ by more than three standard errors.
    """

    name: str
    cells: NumericCells | CategoricalCells
    values: Array
    codes: Integers
    errors: TextErrors | None = None
    gaps_changed: bool = False
    _tables: dict[str, Array] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def shares(self) -> Floats:
        """Share of each distinct value among the candidates."""
        return np.bincount(self.codes, minlength=len(self.values)) / self.codes.size

    def expand(self, table: Array) -> Array:
        """Turn a table over distinct cells and distinct values into one over rows and candidates."""
        return gathered(table, self.cells.codes, self.codes)

    def contains(self) -> Booleans:
        """Return whether each distinct cell covers each distinct value, shape (cells, values), read-only."""
        return _kept(self._tables, "contains", lambda: self.cells.contains(self.values))

    def distance(self) -> Floats:
        """Distance of each distinct cell to each distinct value, shape (cells, values), in [0, 1], read-only.

        See `gower_distance`.
        """
        return _kept(self._tables, "distance", lambda: _column_distance(self))

    def of_rows(self, rows: Integers) -> SharedColumn:
        """Return the column with these released rows only, in this order, and the distinct cells that they hold."""
        cells = self.cells
        used, codes = np.unique(cells.codes[rows], return_inverse=True)
        kept: dict[str, Any] = {name: getattr(cells, name)[used] for name in ("suppressed", "missing", "or_missing")}
        if isinstance(cells, NumericCells):
            position = scattered(np.arange(used.size), used, cells.missing.size)
            segments = position[cells.owner] >= 0
            kept |= {name: getattr(cells, name)[segments] for name in ("low", "high", "closed")}
            kept["owner"] = position[cells.owner[segments]]
        else:
            kept["member"] = cells.member[used]
        errors = None if self.errors is None else self.errors.among(used)
        return replace(self, cells=replace(cells, codes=codes, **kept), errors=errors)


@dataclass(frozen=True)
class Coding:
    """The common columns of one release and one candidate table, and what was computed from them.

    - released, candidates: Copies of the two tables, by which later calls recognize them.
    - domains: Domains of the common columns.
    - columns: The common columns, in the release's order.
    - tables: Read-only tables that attacks computed from all of this, by name.
    """

    released: pd.DataFrame
    candidates: pd.DataFrame
    channel: Channel | None
    domains: Mapping[str, Domain]
    columns: tuple[SharedColumn, ...]
    tables: dict[Hashable, Array] = field(default_factory=dict)

    def is_of(self, release: MicrodataRelease, candidates: pd.DataFrame, domains: Mapping[str, Domain]) -> bool:
        """Return whether these are the same tables, channel and domains."""
        return (
            self.channel is release.channel
            and self.domains == domains
            and self.candidates.equals(candidates)
            and self.released.equals(release.frame)
        )


def common_columns(release: MicrodataRelease, knowledge: Knowledge) -> list[str]:
    """Columns that the release and the candidates have in common, in the release's order.

    If there is none, or no candidate, a ValueError is raised.
    """
    names = [str(name) for name in release.frame.columns if name in knowledge.candidates.columns]
    require(names, "the release and the candidates have no column in common")
    require(not knowledge.candidates.empty, "there are no candidates")
    return names


def shared_columns(release: MicrodataRelease, knowledge: Knowledge) -> list[SharedColumn]:
    """Code the columns that the release and the candidates have in common, once for all attacks on a release.

    Raises
    ------
    ValueError
        If they share no column, there is no candidate, or a cell or a value lies outside the column's domain.
    """
    return list(_coding(release, knowledge).columns)


def shared_table(
    release: MicrodataRelease, knowledge: Knowledge, name: Hashable, compute: Callable[[], Array]
) -> Array:
    """Return a table that several attacks on one release need, computed once and read-only.

    - name: Identifies the table, with all parameters that it depends on.
    - compute: Computes the table from nothing but the release with its channel, the candidates and the common columns'
      domains. Called only where no equal release has the table yet.
    """
    return _kept(_coding(release, knowledge).tables, name, compute)


def derived_table(
    release: MicrodataRelease,
    knowledge: Knowledge,
    source: Array,
    name: Hashable,
    compute: Callable[[], Array],
) -> Array:
    """Return a table that follows from `source`, computed once and read-only if `source` is a `shared_table`.

    - name: Identifies what is computed.
    - compute: Computes the table from nothing but `source`.
    """
    tables = _coding(release, knowledge).tables
    for origin, table in tables.items():
        if table is source:
            return _kept(tables, (name, origin), compute)
    return compute()


def _coding(release: MicrodataRelease, knowledge: Knowledge) -> Coding:
    """Look up the coding of these tables among those of the release's views, or make it."""
    names = common_columns(release, knowledge)
    domains = knowledge.domains(names)
    codings: list[Coding] = release.shared.entries
    for coding in reversed(codings):
        if coding.is_of(release, knowledge.candidates, domains):
            return coding
    cells = _known_cells(release.frame, codings)
    columns = []
    for name in names:
        coded = cells.get(name)
        if coded is None or coded.domain != domains[name]:
            coded = _read_only(read_cells(release.frame[name], domains[name]))
        codes, distinct = pd.factorize(knowledge.candidates[name], use_na_sentinel=False)
        values = np.array(distinct)
        if isinstance(domains[name], NumericDomain) and values.dtype.kind not in "fiu":
            try:
                values = numbers_of(values)
            except ValueError as error:
                raise in_column(name, error, codes) from None
        values.setflags(write=False)
        codes.setflags(write=False)
        changed = _shares_differ(coded.missing[coded.codes], pd.isna(values)[codes])
        columns.append(SharedColumn(name, coded, values, codes, gaps_changed=changed))
    columns = with_text_errors(columns)
    coding = Coding(release.frame.copy(), knowledge.candidates.copy(), release.channel, dict(domains), tuple(columns))
    codings.append(coding)
    del codings[:-CODINGS_KEPT]
    return coding


def _shares_differ(one: Booleans, other: Booleans) -> bool:
    """Whether the shares of true values differ by more than three standard errors."""
    error = np.hypot(*(side.std() / np.sqrt(max(side.size, 1)) for side in (one, other)))
    return bool(one.size and abs(one.mean() - other.mean()) > 3 * error)


def with_text_errors(columns: list[SharedColumn], *, itself: bool = False) -> list[SharedColumn]:
    """Return the columns with the typing errors that the release shows; the same columns where it shows none.

    If `itself`, both sides are one table, each of whose rows is compared with all others.
    """
    texts = [_texts(column, itself=itself) for column in columns]
    if not any(texts):
        return columns

    def distance(number: int, rows: Integers) -> Floats:
        some = columns[number].of_rows(rows)
        table = np.asarray(some.expand(some.distance()))
        if itself:
            table[np.arange(rows.size), rows] = np.inf
        return table

    errors = text_errors(texts, distance)
    return [replace(column, errors=found) for column, found in zip(columns, errors, strict=True)]


def _texts(column: SharedColumn, *, itself: bool) -> TextSides | None:
    """Both sides of a column of categories as texts; None where some candidate has each plain cell, or for numbers."""
    cells = column.cells
    if not isinstance(cells, CategoricalCells):
        return None
    cell = np.where(cells.plain & ~cells.missing, cells.member.argmax(axis=1), cells.domain.size)
    value = cells.domain.codes(column.values)
    if not itself and np.isin(cell, [*value, cells.domain.size]).all():
        return None
    names = np.array([*cells.domain.categories, ""], dtype=object)
    return TextSides(names[cell].tolist(), names[value].tolist(), cells.codes, column.codes, itself)


def _known_cells(released: pd.DataFrame, codings: list[Coding]) -> dict[str, NumericCells | CategoricalCells]:
    """Released cells that were read for other candidates, by column."""
    known = next((coding.columns for coding in reversed(codings) if coding.released.equals(released)), ())
    return {column.name: column.cells for column in known}


def _read_only(cells: NumericCells | CategoricalCells) -> NumericCells | CategoricalCells:
    for array in vars(cells).values():
        if isinstance(array, np.ndarray):
            array.setflags(write=False)
    return cells


def _kept(tables: dict[Any, Array], name: Hashable, compute: Callable[[], Array]) -> Array:
    """Table of this name, computed where it is missing; large ones are not kept."""
    if name in tables:
        return tables[name]
    table = compute()
    table.setflags(write=False)
    if table.size <= LARGEST_KEPT:
        tables[name] = table
    return table


def shared_distance(release: MicrodataRelease, knowledge: Knowledge) -> Floats:
    """`gower_distance` of the common columns, computed once for all attacks on a release, read-only."""
    return shared_table(
        release, knowledge, "Gower's distance", lambda: gower_distance(shared_columns(release, knowledge))
    )


def gower_distance(columns: list[SharedColumn]) -> Floats:
    """Gower's distance of every released row to every candidate, shape (rows, candidates), in [0, 1].

    Numbers differ by their distance over the candidates' range, categories by 0 or 1. Where a column has typing errors,
    texts differ by how little they resemble each other (`attacks.base.text_errors`). A generalized cell is as far
    from a value as the nearest value that it covers; ``*`` is therefore at distance 0 from all. A set of numbers
    counts as the interval from its smallest to its largest number.

    The open end of ``[20,30)`` is not covered. Among integers, 30 is at distance 1 over the range, since 29 is the
    nearest covered number. Otherwise there is no nearest covered number, and 30 is at distance 1e-6.

    A missing value is a value of its own: at distance 1 from all other values, and 0 from a missing cell and from
    ``*``. Gower leaves comparisons with missing values out of the mean. Here a missing released cell identifies, since
    a record's gaps are released with it. Where the shares of missing values differ by more than three standard errors,
    the release added or filled gaps. Then a gap is at distance 1e-6 from all values, which only breaks ties.

    Parameters
    ----------
    columns : list of SharedColumn
        Both sides of at least one column.

    References
    ----------
    Gower (1971), A general coefficient of similarity and some of its properties.
    """
    total = np.zeros((columns[0].cells.codes.size, columns[0].codes.size))
    for column in columns:
        total += column.expand(column.distance())
    total /= len(columns)
    return total


def _column_distance(column: SharedColumn) -> Floats:
    covered = column.contains()
    distance = (~covered).astype(float)
    if column.errors is not None:
        distance = np.minimum(distance, column.errors.distance(distance.shape))
    elif isinstance(column.cells, NumericCells):
        values = column.values.astype(float)
        low, high = _covered_ends(column.cells)
        present = values[~np.isnan(values)]
        span = np.ptp(present) if present.size else 0.0
        beyond = np.maximum(low[:, None] - values, values - high[:, None])
        if span > 0:
            graded = np.clip(beyond / span, 0.0, 1.0)
            if not column.cells.closed.all():
                ends_open = np.bincount(column.cells.owner, ~column.cells.closed, minlength=low.size) > 0
                graded = np.maximum(graded, SMALLEST_DISTANCE * ends_open[:, None])
            distance = np.where(covered, 0.0, np.where(np.isnan(graded), 1.0, graded))
    if column.gaps_changed:
        distance[column.cells.missing[:, None] != pd.isna(column.values)] = SMALLEST_DISTANCE
    return distance


def _covered_ends(cells: NumericCells) -> tuple[Floats, Floats]:
    """Smallest and largest number that each distinct cell covers; an open end counts as its limit, unless integer."""
    if cells.domain.integer:
        cells = replace(cells, high=np.where(cells.closed, cells.high, np.ceil(cells.high) - 1))
    return cells.hull()


# Shared columns as feature vectors, for classifiers and for distances between vectors.


def encode_features(columns: list[SharedColumn], *, standardize: bool = False) -> tuple[Floats, Floats]:
    """Encode the shared columns as feature vectors of released rows and of candidates, shapes (n, features).

    A categorical column gives one feature per category of its domain and one for the missing value. A generalized cell
    spreads evenly over the categories that it covers. A generalized number counts as the midpoint of its cell.

    If not `standardize`, for classifiers that ignore scales, such as trees, a number is one feature. A missing number
    gets a value below the domain.

    If `standardize`, for distances, a number gives two features: its position in the candidates' range, and whether it
    is missing. The position of a missing number is the mean of the candidates' distinct numbers. Categorical features
    are multiplied by sqrt(1/2), so that two categories are at Euclidean distance 1.
    """
    rows, candidates = [], []
    for column in columns:
        if isinstance(column.cells, NumericCells):
            cells, values = _standardized(column, column.cells) if standardize else _plain(column, column.cells)
        else:
            weight = np.sqrt(0.5) if standardize else 1.0
            cells, values = column.cells.mass() * weight, one_hot(column.values, column.cells.domain) * weight
        rows.append(cells[column.cells.codes])
        candidates.append(values[column.codes])
    return np.hstack(rows), np.hstack(candidates)


def one_hot(values: ArrayLike, domain: Domain) -> Floats:
    """One-hot encoding of original values, shape (n, domain.size + 1); the last feature is the missing value."""
    return np.eye(domain.size + 1)[domain.codes(values)]


def _plain(column: SharedColumn, cells: NumericCells) -> list[Floats]:
    """One feature per number, shapes (cells, 1) and (values, 1)."""
    domain = cells.domain
    below = domain.low - (domain.high - domain.low) - 1
    sides = cells.midpoint(), column.values.astype(float)
    return [np.nan_to_num(side, nan=below)[:, None] for side in sides]


def _standardized(column: SharedColumn, cells: NumericCells) -> list[Floats]:
    """Position in the candidates' range and indicator of a missing number, shapes (cells, 2) and (values, 2)."""
    values = column.values.astype(float)
    present = values[~np.isnan(values)]
    low, span = (present.min(), np.ptp(present) or 1.0) if present.size else (0.0, 1.0)
    sides = [(side - low) / span for side in (cells.midpoint(), values)]
    mean = float(np.nanmean(sides[1])) if present.size else 0.0
    return [np.column_stack([np.nan_to_num(side, nan=mean), np.isnan(side)]) for side in sides]


# Equivalence classes of a release matched with attribute inference targets, and claims from scores.

TIE = 1e-9
"""Relative tolerance within which scores are tied with the best."""


@dataclass(frozen=True)
class ReleasedClasses:
    """Equivalence classes of a release, and the targets of attribute inference.

    - column: The sensitive column.
    - domain: Its categories or public bins.
    - counts, shape (classes, d): Number of rows of each class with each sensitive value. A generalized cell spreads
      evenly over the values that it covers.
    - columns: The known columns: one released row of each class, and the targets.
    """

    column: str
    domain: Domain
    counts: Floats
    columns: tuple[SharedColumn, ...]

    @cached_property
    def covers(self) -> Booleans:
        """True where a class covers a target in all known columns, shape (classes, targets)."""
        return reduce(np.logical_and, (column.expand(column.contains()) for column in self.columns))

    @cached_property
    def nearest(self) -> Booleans:
        """True for the classes at the smallest Gower distance from each target, shape (classes, targets).

        These are the classes that cover the target, if there are any. Here a set of numbers counts as the interval
        from its smallest to its largest number.
        """
        distance = gower_distance(list(self.columns))
        return np.asarray(distance <= distance.min(axis=0) + TIE)

    @property
    def near_counts(self) -> Floats:
        """Number of rows of each target's nearest classes with each sensitive value, shape (targets, d)."""
        return np.asarray(self.nearest.T.astype(float) @ self.counts)

    @property
    def table(self) -> Floats:
        """Distribution of the sensitive value in the release, shape (d,)."""
        total: Floats = self.counts.sum(axis=0)
        return total / max(1e-300, float(total.sum()))


def sensitive_mass(release: MicrodataRelease, knowledge: Knowledge) -> tuple[str, Domain, Floats]:
    """Name and domain of the first sensitive column, and the share of each released row in each value, shape (rows, d).

    If no column is sensitive, a ValueError is raised. A release that lacks the column, or has no row, raises
    `NotApplicable`.
    """
    require(knowledge.auxiliary.sensitive, "there is no sensitive column to infer")
    name = knowledge.auxiliary.sensitive[0]
    applicable(name in release.frame.columns, f"the release has no column {name!r}")
    applicable(not release.frame.empty, "the release has no row")
    domain = knowledge.auxiliary.domain(name)
    return name, domain, read_cells(release.frame[name], domain).row_mass()[:, :-1]


def match(release: MicrodataRelease, knowledge: Knowledge) -> ReleasedClasses:
    """Match a release's equivalence classes with the targets.

    A ValueError is raised if they share no column, there is no target or no sensitive column, or a cell lies outside
    its domain. `NotApplicable` is raised if the release has no sensitive column or no row.
    """
    names = common_columns(release, knowledge)
    name, domain, mass = sensitive_mass(release, knowledge)
    classes = equivalence_classes(release.frame, names)
    counts = group_sums(classes, mass, int(classes.max()) + 1)
    first = np.unique(classes, return_index=True)[1]
    return ReleasedClasses(name, domain, counts, tuple(shared_columns(release.take(first), knowledge)))


class ClassInference(Attack):
    """Base class of attacks that infer a value from the released classes nearest to the target."""

    goal = "attribute"

    @abstractmethod
    def claims(self, matching: ReleasedClasses) -> ValueClaims:
        """Claim values of the targets."""

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> ValueClaims:
        """Match the released classes with the targets, and claim values."""
        return self.claims(match(release, knowledge))


def claims_from_scores(scores: Floats, column: str, domain: Domain, confidence: Floats | None = None) -> ValueClaims:
    """Claim each target's value of highest score; tied values get equal probabilities.

    - scores, shape (targets, d): At least 0; the attack abstains on a target whose scores are all 0.
    - domain: Categories or public bins of the sensitive column.
    - confidence, shape (targets,): Confidence of each claim. By default it is the best score divided by the sum of the
      target's scores.
    """
    best = scores.max(axis=1)
    tied = (scores >= best[:, None] * (1 - TIE)) & (best[:, None] > 0)
    if confidence is None:
        confidence = best / np.maximum(scores.sum(axis=1), 1e-300)
    return value_claims(tied / np.maximum(tied.sum(axis=1, keepdims=True), 1), column, domain, confidence)


def value_claims(shares: Floats, column: str, domain: Domain, confidence: Floats) -> ValueClaims:
    """Claim each target's values with the given probabilities, shape (targets, d); a row of zeros is an abstention."""
    person, code = np.nonzero(shares)
    return ValueClaims(
        pd.DataFrame({column: values(domain).iloc[code].reset_index(drop=True)}),
        confidence[person],
        person,
        shares[person, code],
    )
