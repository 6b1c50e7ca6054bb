"""Re-identification risk of a released table under several attacker models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

import metrics as m
from leaderboard.pages.number_text import counted, exact
from metrics.classes import SizeCounts, agreeing_records, rows_in_classes, without_group
from metrics.columns import Booleans, Integers, require
from metrics.diversity import ClassDiversity, sensitive_counts
from metrics.risk import prosecutor_of_sizes
from metrics.suda import coded_cells, minimal_unique_sets
from scenarios.tables.note import Note
from scenarios.tables.released import ReleasedTable
from scenarios.tables.review.rows_of_people import ClassMembers, numbers_of
from scenarios.tables.roles import Column, NumberColumn

# Released numbers that look noised, to which exact matching does not apply.

_FEWEST = 20
"""Fewest numbers from which noise is told."""
_NUMBERS = 0.5
"""Least share of the cells that are numbers."""
_SINGLE = 0.9
"""Share of the numbers that occur once from which they look noised."""
_REFUSED = 0.05
"""Share of the numbers that the roles do not allow from which they look noised."""


def looks_noised(cells: pd.Series[Any], declared: Column | None) -> bool:
    """Whether a column's numbers look noised.

    Fractional numbers do if nearly all occur once. So do numbers of which the roles file does not allow a part:
    fractions of integers, too many decimals, or numbers beyond the bounds.

    Parameters
    ----------
    cells : Series
        Number of rows of each distinct cell, by the cell. Cells that are no numbers do not count.
    declared : Column, optional
        What the roles file says about the column.

    Examples
    --------
    >>> cells = pd.Series(np.random.default_rng(0).normal(40, 10, 100)).value_counts()
    >>> looks_noised(cells, None), looks_noised(cells.rename(round), None)
    (True, False)
    """
    if declared is not None and not isinstance(declared, NumberColumn):
        return False
    numbers = pd.to_numeric(pd.Series(cells.index), errors="coerce").to_numpy(dtype=float)
    is_number = np.isfinite(numbers)
    rows = cells.to_numpy()[is_number]
    numbers = numbers[is_number]
    if rows.sum() < max(_FEWEST, _NUMBERS * cells.sum()):
        return False
    single = rows[(rows == 1) & (numbers != np.round(numbers))].sum()
    refused = np.zeros(numbers.size, dtype=bool) if declared is None else _refused(numbers, declared)
    return bool(single > _SINGLE * rows.sum() or rows[refused].sum() > _REFUSED * rows.sum())


def _refused(
    numbers: np.ndarray[Any, np.dtype[np.float64]], declared: NumberColumn
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which numbers the roles file does not allow."""
    refused = np.zeros(numbers.size, dtype=bool)
    decimals = 0 if declared.integer else declared.decimals
    if decimals is not None:
        refused |= np.round(numbers, decimals) != numbers
    if declared.low is not None and declared.high is not None:
        refused |= (numbers < declared.low) | (numbers > declared.high)
    return refused


# Largest size of a set of columns in the search for unique records.
SET_SIZE = 3
# Sampling fraction up to which Pitman's estimator fits.
SMALL_FRACTION = 0.1
# A record is at risk above this risk, which means a class of fewer than five records.
THRESHOLD = 0.2


@dataclass(frozen=True)
class RiskReport:
    """Risk measures of a released table; no cell of the table is shown.

    Attributes
    ----------
    rows, classes, uniques : int
        Number of records, of equivalence classes, and of classes with one record.
    sizes : dict of str to int
        Number of records by size of their class.
    models : list of (str, str, float)
        Risk under each attacker model: name, meaning, value in [0, 1].
    measures : list of (str, str, float)
        k, l, alpha and t: name, meaning, value.
    one_value : list of (str, int)
        For each sensitive column, the number of records in classes that hold one value of it. Classes of one record
        count.
    plain : bool
        Whether no cell is an interval, a set or ``*``, as in synthetic tables.
    estimates : list of (str, str, float)
        Estimated number of records that are unique in both table and population: estimator, model, value. The one that
        fits comes first. Empty if the size of the population is unknown.
    fraction : float or None
        Share of the population that is in the table, None if unknown.
    columns : list of (str, int)
        Number of records singled out by a minimal set of columns that contains this column, in descending order.
    sets : list of (str, int)
        The minimal sets of columns that single out most records, with the number of these records.
    searched : bool
        Whether sets of columns that single out records were searched.
    several : tuple of str
        Sensitive columns with intervals, sets or ``*``, which l, alpha, t and `one_value` count as values of their own.
    suppressed : int
        Number of records that are ``*`` in every quasi-identifier. They agree with all records and are in no class.
    starred : bool
        Whether a quasi-identifier holds ``*``.
    noised : tuple of str
        Quasi-identifiers whose numbers look noised; see `scenarios.tables.risk`.
    gaps : tuple of str
        Quasi-identifiers with empty cells.
    """

    rows: int
    classes: int
    uniques: int
    sizes: dict[str, int]
    models: list[tuple[str, str, float]]
    measures: list[tuple[str, str, float]]
    one_value: list[tuple[str, int]]
    plain: bool
    estimates: list[tuple[str, str, float]] = field(default_factory=list)
    fraction: float | None = None
    columns: list[tuple[str, int]] = field(default_factory=list)
    sets: list[tuple[str, int]] = field(default_factory=list)
    searched: bool = True
    several: tuple[str, ...] = ()
    suppressed: int = 0
    starred: bool = False
    noised: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()

    @property
    def notes(self) -> list[Note]:
        """What must be known to read the numbers."""
        said = (
            (self.plain, Note("plain table")),
            (self.noised, Note("noised", self.noised)),
            (self.starred, Note("stars", numbers={"suppressed": self._suppressed_words()})),
            (self.gaps, Note("empty cell as a value", self.gaps)),
            (self.several, Note("set as a value", self.several)),
        )
        return [note for applies, note in said if applies]

    def _suppressed_words(self) -> str:
        """Sentence on the wholly suppressed records; empty if there are none."""
        verb, agree, they = ("is", "agrees", "it") if self.suppressed == 1 else ("are", "agree", "they")
        sentence = (
            f" {counted(self.suppressed, 'record')} {verb} * in every quasi-identifier, {agree} with all others and "
            f"{verb} in no class; as a class, {they} would have k = {self.suppressed:,}."
        )
        return sentence if self.suppressed else ""


def risk_report(
    table: ReleasedTable,
    *,
    population: pd.DataFrame | None = None,
    population_size: int | None = None,
    cells: int | None = None,
) -> RiskReport:
    """Measure the risk of a released table.

    Parameters
    ----------
    table : ReleasedTable
        The released table. Two cells are equal if they have one meaning.
    population : DataFrame, optional
        The population that the table was sampled from, generalized in the same way, for the journalist risk.
    population_size : int, optional
        Size of the population, for estimates of population uniques.
    cells : int, optional
        Number of possible combinations of quasi-identifying values, for the Poisson-gamma estimate.

    Raises
    ------
    ValueError
        If there is no quasi-identifier, or the population is smaller than the table.
    """
    names, frame = table.quasi_identifiers, table.spelled(table.frame)
    require_quasi_identifiers(names)
    classes = m.equivalence_classes(frame, names)
    inside = rows_in_classes(frame, names)
    journalist = None
    if population is not None:
        journalist = m.journalist_risk(frame[inside], table.spelled(population), names, threshold=THRESHOLD)
    diversity = {}
    for sensitive in table.sensitive:
        counts = sensitive_counts(frame, names, sensitive, classes)
        pairs = counts.groups, counts.values, counts.counts
        if not inside.all():
            pairs = without_group(*pairs, classes[~inside][0])
        diversity[sensitive] = ClassDiversity.of_pairs(*pairs, counts.table)
    codes, suppressed = coded_cells(frame, names)
    sizes = np.bincount(classes[inside])
    return report_of_counts(
        SizeCounts.of_classes(sizes[sizes > 0]),
        diversity,
        plain=_plain(frame[[*names, *table.sensitive]]),
        classes=CodedClasses(codes, np.ones(len(frame), dtype=np.intp), suppressed),
        suppressed=int((~inside).sum()),
        starred=bool(suppressed),
        noised=tuple(name for name in names if looks_noised(frame[name].value_counts(), table.declared.get(name))),
        gaps=tuple(name for name in names if frame[name].isna().any()),
        journalist=journalist,
        population_size=population_size,
        cells=cells,
        people=_people(table, classes, inside),
        several_rows=table.person is not None,
        several=tuple(name for name in table.sensitive if not _plain(frame[[name]])),
    )


def _people(table: ReleasedTable, classes: Integers, inside: Booleans) -> SizeCounts | None:
    """Sizes of the classes in people, if these are told, or named by a column outside the quasi-identifiers."""
    people = table.people
    if people is None and table.person in table.frame and table.person not in table.quasi_identifiers:
        people = numbers_of(table.frame[table.person])
    if people is None:
        return None
    sizes = ClassMembers.of(classes[inside], people[inside]).sizes
    return SizeCounts.of_classes(sizes[sizes > 0])


def require_quasi_identifiers(names: Sequence[str]) -> None:
    """Raise ValueError if there is no quasi-identifier."""
    require(names, "the table has no quasi-identifier; name some in the roles file")


def report_of_counts(
    sizes: SizeCounts,
    diversity: Mapping[str, ClassDiversity],
    *,
    plain: bool,
    classes: CodedClasses | None,
    suppressed: int = 0,
    starred: bool = False,
    noised: tuple[str, ...] = (),
    gaps: tuple[str, ...] = (),
    journalist: m.ReidentificationRisk | None = None,
    population_size: int | None = None,
    cells: int | None = None,
    people: SizeCounts | None = None,
    several_rows: bool = False,
    several: tuple[str, ...] = (),
) -> RiskReport:
    """Report of a released table, given the counts of its classes.

    Parameters
    ----------
    sizes : SizeCounts
        Sizes of the equivalence classes.
    diversity : mapping of str to ClassDiversity
        Diversity of each sensitive column.
    plain : bool
        Whether no cell is an interval, a set or ``*``.
    classes : CodedClasses, optional
        The classes and the wholly suppressed records, to search what singles out records; None if they do not fit.
    suppressed, starred, noised, gaps
        As in `RiskReport`.
    journalist : ReidentificationRisk, optional
        Journalist risk.
    population_size, cells
        As in `risk_report`.
    people : SizeCounts, optional
        Sizes of the classes in people, if a person may have several rows and they are known.
    several_rows : bool
        Whether a person may have several rows.
    several : tuple of str
        Sensitive columns with intervals, sets or ``*``.
    """
    prosecutor = prosecutor_of_sizes(sizes if people is None else people, THRESHOLD)
    unit = "records" if people is None else "people"
    by_size = dict(_by_size(sizes)) | ({"none, all cells *": suppressed} if suppressed else {})
    columns, sets = ([], []) if classes is None else singled_out(classes)
    agreeing = None if classes is None or not starred else classes.fewest_agreeing()
    total = sizes.rows + suppressed
    among = f"{unit} in classes" if suppressed else unit
    models = [
        ("prosecutor, highest", "knows that the target is in the table", prosecutor.highest),
        ("prosecutor, mean", f"the same, over all {among}", prosecutor.mean),
        ("prosecutor, at risk", f"share of {among} above {exact(THRESHOLD)}", prosecutor.at_risk),
        ("marketer", f"share of {unit} linked rightly by linking all", prosecutor.mean),
    ]
    if journalist is not None:
        models += [
            ("journalist, highest", "knows the population, not who is in the table", journalist.highest),
            ("journalist, mean", "the same, over all records", journalist.mean),
        ]
    return RiskReport(
        rows=total,
        classes=sizes.classes,
        uniques=sizes.uniques,
        sizes=by_size,
        models=models,
        measures=list(_measures(sizes, diversity, people, agreeing, several_rows=several_rows)),
        one_value=[(name, column.one_value) for name, column in diversity.items()],
        plain=plain,
        estimates=_estimates(sizes, population_size, cells),
        fraction=None if population_size is None else total / population_size,
        columns=columns,
        sets=sets,
        searched=classes is not None,
        several=several,
        suppressed=suppressed,
        starred=starred,
        noised=noised,
        gaps=gaps,
    )


def _by_size(sizes: SizeCounts) -> Iterator[tuple[str, int]]:
    """Ranges of class sizes, and the number of records in such classes."""
    records = sizes.sizes * sizes.counts
    for low, high in ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, None)):
        inside = (sizes.sizes >= low) & (sizes.sizes <= (high or sizes.sizes.max(initial=low)))
        label = str(low) if low == high else f"{low} to {high}" if high else f"{low} and more"
        yield label, int(records[inside].sum())


def _measures(
    sizes: SizeCounts,
    diversity: Mapping[str, ClassDiversity],
    people: SizeCounts | None,
    agreeing: int | None,
    *,
    several_rows: bool,
) -> Iterator[tuple[str, str, float]]:
    yield "k", "smallest class, in rows" if several_rows else "smallest class", int(sizes.sizes[0])
    if agreeing is not None:
        yield "k, * as any value", "fewest records that agree with a record, itself included", agreeing
    if people is not None:
        yield "k, people", "fewest people in a class", int(people.sizes[0])
        yield "alone, people", "classes that hold one person", people.uniques
    for sensitive, column in diversity.items():
        where = f"of {sensitive} in a class"
        yield "l, distinct", f"fewest values {where}", column.distinct
        yield "l, entropy", f"lowest exp(entropy) {where}", float(np.exp(column.entropy))
        yield "alpha", f"largest share of a value {where}", column.alpha
        yield "t, equal", f"largest distance {where} from the table's", column.t_equal


def _plain(frame: pd.DataFrame) -> bool:
    """Whether no cell is an interval, a set or ``*``."""
    return not any(
        str(cell).startswith(("[", "{", "*")) for name in frame.columns for cell in frame[name].dropna().unique()
    )


def _estimates(sizes: SizeCounts, population: int | None, cells: int | None) -> list[tuple[str, str, float]]:
    """Estimates of population uniques, the fitting one first.

    References
    ----------
    Dankar, El Emam, Neisa and Roffey (2012), Estimating the re-identification risk of clinical data sets, for the
    choice: Pitman's up to a sampling fraction of a tenth, above it the smaller of Zayatz's and that of SNB.
    """
    if population is None:
        return []
    # SciPy, which these estimators need, takes longer to import than the rest of the report takes to compute.
    from metrics.uniques import pitman_of_sizes, poisson_gamma_of_sizes, snb_of_sizes, zayatz_of_sizes

    estimators = {
        "Zayatz": ("classes are as large in the population as in the table; tends to be too high", zayatz_of_sizes),
        "Pitman": ("people join classes one after the other, large classes more often", pitman_of_sizes),
        "SNB": ("sizes of classes are shifted negative binomial numbers", snb_of_sizes),
    }
    estimates = [(name, about, float(estimate(sizes, population))) for name, (about, estimate) in estimators.items()]
    if sizes.rows <= SMALL_FRACTION * population:
        fitting = estimates[1]
    else:
        fitting = min(estimates[0], estimates[2], key=lambda one: one[2])
    others = [one for one in estimates if one is not fitting]
    if cells is not None:
        value = poisson_gamma_of_sizes(sizes, population, cells)
        about = "sizes of the possible combinations are Poisson numbers with gamma distributed means"
        others.insert(0, ("Poisson-gamma", about, float(value)))
    return [fitting, *others]


@dataclass(frozen=True)
class CodedClasses:
    """Records or classes of a released table, wholly suppressed ones included.

    Attributes
    ----------
    codes : mapping of str to ndarray of int, each of shape (n,)
        Code of each row in each quasi-identifier.
    counts : ndarray of int, shape (n,)
        Number of records that each row stands for.
    suppressed : mapping of str to int
        Code of ``*`` in the columns that hold it.
    """

    codes: Mapping[str, Integers]
    counts: Integers
    suppressed: Mapping[str, int]

    def fewest_agreeing(self) -> int | None:
        """Fewest records that agree with a record, as `agreeing_records` counts them."""
        agreeing = agreeing_records(self.codes, self.counts, self.suppressed)
        return None if agreeing is None else int(agreeing.min())


def singled_out(classes: CodedClasses) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Columns and minimal sets of columns, each with the number of records that they single out; ``*`` does not."""
    by_set: Counter[str] = Counter()
    alone = {name: np.zeros(classes.counts.size, dtype=bool) for name in classes.codes}
    for names, rows in minimal_unique_sets(classes.codes, classes.counts, classes.suppressed, max_size=SET_SIZE):
        by_set[", ".join(names)] += len(rows)
        for name in names:
            alone[name][rows] = True
    by_column = sorted(((name, int(rows.sum())) for name, rows in alone.items()), key=lambda pair: (-pair[1], pair[0]))
    return by_column, sorted(by_set.items(), key=lambda pair: (-pair[1], pair[0]))[:10]
