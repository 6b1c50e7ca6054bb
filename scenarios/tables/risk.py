"""Re-identification risk of a released table under several attacker models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

import metrics as m
from scenarios.tables.class_values import class_values
from scenarios.tables.released import ReleasedTable

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
        The released table. Two cells are equal if their texts are equal.
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
    names, frame = table.quasi_identifiers, table.frame
    if not names:
        raise ValueError("the table has no quasi-identifier; name some in the roles file")
    classes = m.equivalence_classes(frame, names)
    sizes = np.bincount(classes)
    prosecutor = m.prosecutor_risk(frame, names, threshold=THRESHOLD, classes=classes)
    models = [
        ("prosecutor, highest", "knows that the target is in the table", prosecutor.highest),
        ("prosecutor, mean", "the same, over all records", prosecutor.mean),
        ("prosecutor, at risk", f"share of records above {THRESHOLD:g}", prosecutor.at_risk),
        ("marketer", "share of records linked rightly by linking all", m.marketer_risk(frame, names, classes=classes)),
    ]
    if population is not None:
        journalist = m.journalist_risk(frame, population, names, threshold=THRESHOLD)
        models += [
            ("journalist, highest", "knows the population, not who is in the table", journalist.highest),
            ("journalist, mean", "the same, over all records", journalist.mean),
        ]
    columns, sets = _singled_out(table)
    return RiskReport(
        rows=len(frame),
        classes=int(sizes.size),
        uniques=int((sizes == 1).sum()),
        sizes=dict(_by_size(sizes)),
        models=models,
        measures=list(_measures(table, classes)),
        one_value=[(name, class_values(classes, frame[name])[1]) for name in table.sensitive],
        plain=_plain(frame[[*names, *table.sensitive]]),
        estimates=_estimates(table, classes, population_size, cells),
        fraction=None if population_size is None else len(frame) / population_size,
        columns=columns,
        sets=sets,
    )


def _by_size(sizes: np.ndarray) -> Iterator[tuple[str, int]]:
    """Ranges of class sizes, and the number of records in such classes."""
    for low, high in ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, None)):
        inside = (sizes >= low) & (sizes <= (high or sizes.max(initial=low)))
        label = str(low) if low == high else f"{low} to {high}" if high else f"{low} and more"
        yield label, int(sizes[inside].sum())


def _measures(table: ReleasedTable, classes: np.ndarray) -> Iterator[tuple[str, str, float]]:
    frame, names = table.frame, table.quasi_identifiers
    yield "k", "smallest class", m.k_anonymity(frame, names)
    for sensitive in table.sensitive:
        where = f"of {sensitive} in a class"
        yield "l, distinct", f"fewest values {where}", m.l_diversity(frame, names, sensitive, classes=classes)
        entropy = m.entropy_l_diversity(frame, names, sensitive, classes=classes)
        yield "l, entropy", f"lowest exp(entropy) {where}", entropy
        alpha = m.alpha_anonymity(frame, names, sensitive, classes=classes)
        yield "alpha", f"largest share of a value {where}", alpha
        distance = m.t_closeness_equal(frame, names, sensitive, classes=classes)
        yield "t, equal", f"largest distance {where} from the table's", distance


def _plain(frame: pd.DataFrame) -> bool:
    """Whether no cell is an interval, a set or ``*``."""
    return not any(
        str(cell).startswith(("[", "{", "*")) for name in frame.columns for cell in frame[name].dropna().unique()
    )


def _estimates(
    table: ReleasedTable, classes: np.ndarray, population: int | None, cells: int | None
) -> list[tuple[str, str, float]]:
    """Estimates of population uniques, the fitting one first.

    References
    ----------
    Dankar, El Emam, Neisa and Roffey (2012), Estimating the re-identification risk of clinical data sets, for the
    choice: Pitman's up to a sampling fraction of a tenth, above it the smaller of Zayatz's and that of SNB.
    """
    if population is None:
        return []
    frame, names = table.frame, table.quasi_identifiers
    estimators = {
        "Zayatz": ("classes are as large in the population as in the table; tends to be too high", m.zayatz_uniques),
        "Pitman": ("people join classes one after the other, large classes more often", m.pitman_uniques),
        "SNB": ("sizes of classes are shifted negative binomial numbers", m.snb_uniques),
    }
    estimates = [
        (name, about, float(estimate(frame, names, population=population, classes=classes)))
        for name, (about, estimate) in estimators.items()
    ]
    if len(frame) <= SMALL_FRACTION * population:
        fitting = estimates[1]
    else:
        fitting = min(estimates[0], estimates[2], key=lambda one: one[2])
    others = [one for one in estimates if one is not fitting]
    if cells is not None:
        value = m.poisson_gamma_uniques(frame, names, population=population, cells=cells, classes=classes)
        about = "sizes of the possible combinations are Poisson numbers with gamma distributed means"
        others.insert(0, ("Poisson-gamma", about, float(value)))
    return [fitting, *others]


def _singled_out(table: ReleasedTable) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Columns and minimal sets of columns, each with the number of records that they single out."""
    by_set: Counter[str] = Counter()
    alone = {name: np.zeros(len(table.frame), dtype=bool) for name in table.quasi_identifiers}
    for names, rows in m.minimal_sample_uniques(table.frame, table.quasi_identifiers, max_size=SET_SIZE):
        by_set[", ".join(names)] += len(rows)
        for name in names:
            alone[name][rows] = True
    columns = sorted(((name, int(rows.sum())) for name, rows in alone.items()), key=lambda pair: (-pair[1], pair[0]))
    return columns, sorted(by_set.items(), key=lambda pair: (-pair[1], pair[0]))[:10]
