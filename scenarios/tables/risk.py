"""Re-identification risk of a released table under several attacker models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

import metrics as m
from leaderboard.pages.number_text import counted, exact
from metrics.classes import SizeCounts, agreeing_records
from metrics.columns import Booleans, Floats, Integers, refuse
from metrics.risk import individual_of_sizes, journalist_of_sizes, prosecutor_of_sizes
from metrics.suda import minimal_unique_sets
from scenarios.tables.note import Note
from scenarios.tables.parts.combination_index import CombinationIndex
from scenarios.tables.released_classes import ClassCounts, CodedClasses, CountedRelease
from scenarios.tables.review.rows_of_people import hidden_people_notes
from scenarios.tables.roles import Column, NumberColumn

# Released numbers that look noised, to which exact matching does not apply.

_FEWEST = 20
"""Fewest numbers from which noise is recognized."""
_NUMBERS = 0.5
"""Least share of the cells that are numbers."""
_SINGLE = 0.9
"""Share of the numbers that occur once from which they look noised."""
_REFUSED = 0.05
"""Share of the numbers that the roles do not allow from which they look noised."""


def looks_noised(cells: pd.Series[Any], declared: Column | None) -> bool:
    """Whether a column's numbers look noised.

    Fractional numbers do if nearly all occur once; those at declared bounds, to which noise is cut, do not count. So do
    numbers of which the roles file does not allow a part: fractions of integers, too many decimals, or numbers beyond
    the bounds.

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
    bounds = [] if declared is None else [bound for bound in (declared.low, declared.high) if bound is not None]
    inside = np.isin(numbers, bounds, invert=True)
    single = rows[inside & (rows == 1) & (numbers != np.round(numbers))].sum()
    refused = np.zeros(numbers.size, dtype=bool) if declared is None else _refused(numbers, declared)
    return bool(single > max(_FEWEST, _SINGLE * rows[inside].sum()) or rows[refused].sum() > _REFUSED * rows.sum())


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
# Weights are relative, not numbers of people, if more than this share of the records has one below 1.
RELATIVE = 0.05
# A record is at risk above this risk, which means a class of fewer than five records.
THRESHOLD = 0.2


CONVENTIONS = ("stars", "empty cell as a value", "unknown as a value", "set as a value")
"""Kinds of notes on what ``*``, missing values, sets and intervals count as in classes."""


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
    poisson_gamma : list of (str, str, float)
        Parameters and expected numbers of the Poisson-gamma model: symbol, meaning, value. Empty without the number of
        possible combinations.
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
    unknown : tuple of str
        Sensitive columns with empty cells.
    unweighted : tuple of Note
        Why the survey weights give no individual risk.
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
    poisson_gamma: list[tuple[str, str, float]] = field(default_factory=list)
    fraction: float | None = None
    columns: list[tuple[str, int]] = field(default_factory=list)
    sets: list[tuple[str, int]] = field(default_factory=list)
    searched: bool = True
    several: tuple[str, ...] = ()
    suppressed: int = 0
    starred: bool = False
    noised: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    unweighted: tuple[Note, ...] = ()

    @property
    def notes(self) -> list[Note]:
        """What must be known to read the numbers."""
        said = (
            (self.plain, Note("plain table")),
            (self.noised, Note("noised", self.noised)),
            (self.starred, Note("stars", numbers={"suppressed": suppressed_words(self.suppressed)})),
            (self.gaps, Note("empty cell as a value", self.gaps)),
            (self.unknown, Note("unknown as a value", self.unknown)),
            (self.several, Note("set as a value", self.several)),
        )
        return [*(note for applies, note in said if applies), *self.unweighted]


def suppressed_words(records: int) -> str:
    """Sentence on a number of wholly suppressed records, to follow another one; empty if there are none."""
    verb, agree, they = ("is", "agrees", "it") if records == 1 else ("are", "agree", "they")
    sentence = (
        f" {counted(records, 'record')} {verb} * in every quasi-identifier, {agree} with all others and "
        f"{verb} in no class; as a class, {they} would have k = {records:,}."
    )
    return sentence if records else ""


def risk_report(
    table: CountedRelease,
    *,
    population: CountedRelease | None = None,
    population_size: int | None = None,
    cells: int | None = None,
    memory: int | None = None,
) -> RiskReport:
    """Measure the risk of a released table.

    Parameters
    ----------
    table : CountedRelease
        The released table. Two cells are equal if they have one meaning.
    population : CountedRelease, optional
        The population that the table was sampled from, generalized and spelled in the same way, for the journalist
        risk.
    population_size : int, optional
        Size of the population, for estimates of population uniques.
    cells : int, optional
        Number of possible combinations of quasi-identifying values, for the Poisson-gamma estimate.
    memory : int, optional
        Bytes for the codes of the classes; where they do not suffice, what singles out records is not searched.

    Raises
    ------
    ValueError
        If there is no quasi-identifier, or the population is smaller than the table.
    """
    counts = ClassCounts.of(table, memory)
    names, columns = table.quasi_identifiers, table.columns
    sizes, classes = counts.sizes, counts.coded
    weighted, unweighted = _weighted(table, counts, population_size)
    if weighted is not None and population_size is None:
        population_size = round(float(weighted[1].sum()))
    single_sets = ([], []) if classes is None else singled_out(classes)
    total = sizes.rows + counts.suppressed
    model = _poisson_gamma(sizes, population_size, cells)
    return RiskReport(
        rows=total,
        classes=sizes.classes,
        uniques=sizes.uniques,
        sizes=dict(_by_size(sizes)) | ({"none, all cells *": counts.suppressed} if counts.suppressed else {}),
        models=[
            *_models(counts, None if population is None else _journalist(table, counts, population)),
            *([] if weighted is None else _individual(*weighted)),
        ],
        measures=list(_measures(counts, several_rows=table.roles.person is not None)),
        one_value=[(name, column.one_value) for name, column in counts.diversity.items()],
        plain=all(columns[name].plain for name in (*names, *table.sensitive)),
        estimates=[
            *_estimates(sizes, population_size, model),
            *([] if weighted is None else [_weighted_uniques(*weighted)]),
        ],
        poisson_gamma=model,
        fraction=None if population_size is None else total / population_size,
        columns=single_sets[0],
        sets=single_sets[1],
        searched=classes is not None,
        several=tuple(name for name in table.sensitive if not columns[name].plain),
        suppressed=counts.suppressed,
        starred=bool(table.stars),
        noised=tuple(
            name for name in names if looks_noised(columns[name].rows_of_cells(), table.roles.columns.get(name))
        ),
        gaps=tuple(name for name in names if columns[name].missing),
        unknown=tuple(name for name in table.sensitive if columns[name].missing),
        unweighted=unweighted,
    )


def risk_notes(table: CountedRelease, report: RiskReport) -> tuple[Note, ...]:
    """What was inferred and left out, beside the notes of the report."""
    group = table.roles.group
    identifiers = [name for name in table.roles.identifiers if name != group]
    hidden = hidden_people_notes(table.roles.person, table.columns, identifiers)
    if group is not None and group not in table.columns:
        hidden.append(Note("unnamed groups", (group,)))
    unsearched = () if report.searched else (Note("classes not searched", numbers={"classes": report.classes}),)
    return (*table.notes, *hidden, *unsearched)


def _models(counts: ClassCounts, journalist: m.ReidentificationRisk | None) -> list[tuple[str, str, float]]:
    """Risk under each attacker model: name, meaning, value."""
    prosecutor = prosecutor_of_sizes(counts.sizes if counts.people is None else counts.people, THRESHOLD)
    unit = "records" if counts.people is None else "people"
    among = f"{unit} in classes" if counts.suppressed else unit
    models = [
        ("prosecutor, highest", "knows that the target is in the table", prosecutor.highest),
        ("prosecutor, mean", f"the same, over all {among}", prosecutor.mean),
        ("prosecutor, at risk", f"share of {among} above {exact(THRESHOLD)}", prosecutor.at_risk),
        ("marketer", f"share of {unit} linked rightly by linking all", prosecutor.mean),
    ]
    if counts.groups is not None:
        models += [
            ("group, highest", "somebody in a household or other group is recognized", counts.groups.highest),
            ("group, mean", "the same, over all groups", counts.groups.mean),
        ]
    if journalist is not None:
        models += [
            ("journalist, highest", "knows the population, not who is in the table", journalist.highest),
            ("journalist, mean", "the same, over all records", journalist.mean),
        ]
    return models


def _journalist(table: CountedRelease, counts: ClassCounts, population: CountedRelease) -> m.ReidentificationRisk:
    """Journalist risk, by the size of each class of the table in the population."""
    names = table.quasi_identifiers
    if counts.coded is None:
        raise ValueError(f"{table.path}: its classes do not fit into memory beside a population; raise --memory")
    for name in names:
        refuse(name not in population.columns, f"{population.path}: there is no column {name!r}")
    translations = {name: _translation(table, population, name) for name in names}
    # The wholly suppressed records, which come last, are in no class.
    classes = counts.sizes.classes
    own = counts.coded.counts[:classes]
    index = CombinationIndex({name: counts.coded.codes[name][:classes] for name in names})
    everybody = np.zeros(classes, dtype=np.int64)
    for pairs in population.class_pairs():
        position = index.positions({name: translations[name][pairs.codes[name]] for name in names})
        np.add.at(everybody, position[position >= 0], pairs.summed(pairs.counts)[position >= 0])
    if (everybody < own).any():
        row, lacking = _first_row(table, index, everybody < own)
        journalist_of_sizes(own[[lacking]], everybody[[lacking]], THRESHOLD, lambda _: f"row {row + 1}: ")
    return journalist_of_sizes(own, everybody, THRESHOLD)


def _first_row(table: CountedRelease, index: CombinationIndex, chosen: Booleans) -> tuple[int, int]:
    """Position of the first row that is in one of some chosen classes, and its class."""
    for block in table.blocks(table.quasi_identifiers):
        position = index.positions({name: block.codes(name) for name in table.quasi_identifiers})
        rows = np.flatnonzero(np.append(chosen, False)[position])
        if rows.size:
            return block.start + int(rows[0]), int(position[rows[0]])
    raise ValueError(f"{table.path}: was changed while it was read; start again when it is complete")


def _translation(table: CountedRelease, everybody: CountedRelease, name: str) -> Integers:
    """Code in the table of each of the population's cells, shape (cells,); -1 for cells that it lacks."""
    own, other = table.columns[name].cells, everybody.columns[name].cells
    if own is None or other is None:
        raise ValueError(f"{everybody.path}: column {name!r} has too many cells to compare it with a table")
    position = {cell: code for code, cell in enumerate(own)}
    return np.array([position.get(cell, -1) for cell in other], dtype=np.int64)


def _weighted(
    table: CountedRelease, counts: ClassCounts, population: int | None
) -> tuple[tuple[Integers, Floats] | None, tuple[Note, ...]]:
    """Sizes of classes in the table, and in the population by weights, or a note why they are unknown.

    Weights are scaled to the size of the population if it is given.
    """
    name, weights = table.roles.weight, table.weights
    if name is None or name not in table.columns:
        return None, ()
    if weights is None or counts.weighted is None:
        return None, (Note("weights unread", (name,)),)
    own, everybody = counts.weighted
    if population is not None:
        return (own, everybody * (population / everybody.sum())), ()
    if table.columns[name].counts[weights < 1].sum() > RELATIVE * table.rows:
        return None, (Note("relative weights", (name,)),)
    return (own, everybody), ()


def _individual(own: Integers, everybody: Floats) -> list[tuple[str, str, float]]:
    """Individual risk by survey weights: name, meaning, value."""
    risks = individual_of_sizes(own, everybody)
    return [
        ("individual, highest", "by survey weights (Benedetti and Franconi)", float(risks.max())),
        ("individual, mean", "the same, over all records", float(np.average(risks, weights=own))),
        (
            "individual, at risk",
            f"share of records above {exact(THRESHOLD)}",
            float(own[risks > THRESHOLD].sum() / own.sum()),
        ),
    ]


def _weighted_uniques(own: Integers, everybody: Floats) -> tuple[str, str, float]:
    """Population uniques by survey weights: a class of one record has one person with probability 1 / weight."""
    alone = own == 1
    about = "a record that is alone in its class is unique with probability 1 / weight"
    return "weights", about, float((1 / np.maximum(everybody[alone], 1)).sum())


def _by_size(sizes: SizeCounts) -> Iterator[tuple[str, int]]:
    """Ranges of class sizes, and the number of records in such classes."""
    records = sizes.sizes * sizes.counts
    for low, high in ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, None)):
        inside = (sizes.sizes >= low) & (sizes.sizes <= (high or sizes.sizes.max(initial=low)))
        label = str(low) if low == high else f"{low} to {high}" if high else f"{low} and more"
        yield label, int(records[inside].sum())


def _measures(counts: ClassCounts, *, several_rows: bool) -> Iterator[tuple[str, str, float]]:
    """k, l, alpha and t: name, meaning, value."""
    yield "k", "smallest class, in rows" if several_rows else "smallest class", int(counts.sizes.sizes[0])
    if counts.coded is not None and counts.coded.suppressed:
        agreeing = agreeing_records(counts.coded.codes, counts.coded.counts, counts.coded.suppressed)
        if agreeing is not None:
            yield "k, * as any value", "fewest records that agree with a record, itself included", int(agreeing.min())
    if counts.people is not None:
        yield "k, people", "fewest people in a class", int(counts.people.sizes[0])
        yield "alone, people", "classes that hold one person", counts.people.uniques
    for sensitive, column in counts.diversity.items():
        where = f"of {sensitive} in a class"
        yield "l, distinct", f"fewest values {where}", column.distinct
        yield "l, entropy", f"lowest exp(entropy) {where}", float(np.exp(column.entropy))
        yield "alpha", f"largest share of a value {where}", column.alpha
        yield "t, equal", f"largest distance {where} from the table's", column.t_equal


def _estimates(
    sizes: SizeCounts, population: int | None, model: list[tuple[str, str, float]]
) -> list[tuple[str, str, float]]:
    """Estimates of population uniques, the fitting one first.

    References
    ----------
    Dankar, El Emam, Neisa and Roffey (2012), Estimating the re-identification risk of clinical data sets, for the
    choice: Pitman's up to a sampling fraction of a tenth, above it the smaller of Zayatz's and that of SNB.
    """
    if population is None:
        return []
    # SciPy, which these estimators need, takes longer to import than the rest of the report takes to compute.
    from metrics.uniques import pitman_of_sizes, snb_of_sizes, zayatz_of_sizes

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
    about = "sizes of the possible combinations are Poisson numbers with gamma distributed means"
    others = [("Poisson-gamma", about, value) for name, _, value in model if name == "U"]
    return [fitting, *others, *(one for one in estimates if one is not fitting)]


def _poisson_gamma(sizes: SizeCounts, population: int | None, cells: int | None) -> list[tuple[str, str, float]]:
    """The Poisson-gamma model of population uniques, by the symbols of its source; see `metrics.poisson_gamma`."""
    if population is None or cells is None:
        return []
    from metrics.uniques import poisson_gamma_of_sizes

    model = poisson_gamma_of_sizes(sizes, population, cells)
    return [
        ("K", "possible combinations of values; the sizes of their classes are Poisson numbers", model.cells),
        ("beta", "scale of the gamma distribution of the combinations' shares", model.beta),
        ("E(S1)", "records unique in the population, expected", model.population),
        ("E(s1)", "records unique in the table, expected", model.sample),
        ("U", "records unique in table and population: uniques x rate x E(S1) / E(s1)", model.both),
    ]


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
