"""What identifies people in a release, and the cheapest remedies, whose effect is estimated by recoding the release."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from leaderboard.pages import Section, Table, Value, counted, exact, number
from leaderboard.results.goals import goal_title
from metrics import equivalence_classes, normalized_certainty_penalty
from metrics.classes import rows_in_classes
from metrics.columns import (
    SUPPRESSED,
    Domain,
    NumericCells,
    NumericDomain,
    interval_cell,
    read_cells,
    set_cell,
)
from scenarios.assessment.evaluation.evaluation_setting import EvaluationSetting
from scenarios.assessment.evaluation.posed_questions import PosedQuestions, ReleaseEvaluation
from scenarios.assessment.evaluation.row_origin import RowOrigin
from scenarios.assessment.reporting.findings import ABOVE, SMALLEST, UNSURE, Finding, class_title, class_values
from scenarios.tables.finished_table import FinishedTable

MOST_REMEDIES = 3
"""Number of remedies that a finding names."""
PLAYED = 3
"""Number of recodings on which the worst attack of a finding is played again."""
CELLS = 5
"""Most cells of a class that are shown."""
LEAST = 0.005
"""Least reduction of a risk by a remedy that is named."""
SHOWN = 3
"""Number of sets of columns, predicates or cells by which a finding says what identifies."""
END = 0.02
"""Share of the rows at each end of a column that become one range."""


@dataclass(frozen=True)
class Remedy:
    """A change of a release.

    - words: What is done.
    - columns: The recoded columns.
    - loss: What it costs: the share of a column's domain that a cell covers more than before, as a mean over all cells.
    - bits: By how much the entropy of the column's cells falls, in bits.
    - in_bins: Whether numbers are written in their public bins.
    """

    words: str
    columns: Mapping[str, pd.Series[Any]]
    loss: float
    bits: float
    in_bins: bool = False


@dataclass(frozen=True)
class Advice:
    """What a finding rests on, and what would reduce it.

    - title, value: The finding, and its risk.
    - identifies: What identifies people; empty if it was not found.
    - remedies: The cheapest remedies with the risk that was estimated after each.
    """

    title: str
    value: float
    identifies: str
    remedies: tuple[tuple[Remedy, float], ...]


def recodings(frame: pd.DataFrame, domains: Mapping[str, Domain], fewest: int) -> Iterator[Remedy]:
    """Changes of single columns: left out, written in public bins, its ends or its rare values joined.

    The frame's index is 0, 1, …. A value of fewer than `fewest` rows is rare.
    """
    every = {str(name): domains[str(name)] for name in frame.columns}
    for name, domain in every.items():
        changes = {f"leave out {name}": pd.Series(SUPPRESSED, frame.index, dtype=object)}
        cells, binned = read_cells(frame[name], domain), ""
        if isinstance(cells, NumericCells) and isinstance(domain, NumericDomain):
            binned = f"write {name} in its {domain.size} public bins"
            changes |= _number_changes(name, frame[name], cells, domain, binned)
        else:
            changes |= _rare_values(name, frame[name], fewest)
        for words, column in changes.items():
            bits = entropy(frame[name]) - entropy(column)
            if bits > 0:
                own = {name: domain}
                lost = normalized_certainty_penalty(column.to_frame(name), own) - normalized_certainty_penalty(
                    frame, own
                )
                yield Remedy(words, {name: column}, max(0.0, lost) / len(every), bits, words == binned)


def together(remedies: Sequence[Remedy]) -> Remedy | None:
    """All numbers in their public bins; None if there are fewer than two columns of them."""
    bins = [one for one in remedies if one.in_bins]
    if len(bins) < 2:
        return None
    columns = {name: column for one in bins for name, column in one.columns.items()}
    words = f"write {', '.join(columns)} in their public bins"
    return Remedy(words, columns, sum(one.loss for one in bins), sum(one.bits for one in bins), in_bins=True)


def entropy(column: pd.Series[Any]) -> float:
    """Entropy of the cells of a column in bits, as their shares give it; a missing cell is a cell of its own."""
    shares = column.value_counts(normalize=True, dropna=False).to_numpy()
    return float(-(shares * np.log2(shares)).sum())


def _number_changes(
    name: str, column: pd.Series[Any], cells: NumericCells, domain: NumericDomain, binned: str
) -> dict[str, pd.Series[Any]]:
    """Plain numbers in public bins (its words are given), and the smallest and largest ones as ranges to a bound."""
    plain = pd.Series((cells.plain & ~cells.missing)[cells.codes], column.index)
    if not plain.any():
        return {}
    numbers = pd.Series(cells.hull()[0][cells.codes], column.index)
    changes = {}
    if domain.size > 1:
        bins = np.array(domain.cells(), dtype=object)[domain.codes(numbers.where(plain, domain.low))]
        changes[binned] = column.astype(object).mask(plain, bins)
    low, high = np.quantile(numbers[plain], [END, 1 - END], method="nearest")
    if domain.low < low < high < domain.high:
        below = column.astype(object).mask(plain & (numbers <= low), interval_cell(domain.low, low))
        ends = below.mask(plain & (numbers >= high), interval_cell(high, domain.high))
        changes[f"write the lowest and the highest {END:.0%} of {name} as two ranges"] = ends
    return changes


def _rare_values(name: str, column: pd.Series[Any], fewest: int) -> dict[str, pd.Series[Any]]:
    """Plain values of few rows, as one set."""
    rows = column.value_counts()
    rare = [value for value in rows.index[rows < fewest] if not str(value).startswith(("{", SUPPRESSED))]
    if len(rare) < 2 or len(rare) == len(rows):
        return {}
    merged = column.mask(column.isin(rare), set_cell(sorted(map(str, rare))))
    return {f"join the {len(rare)} values of {name} that fewer than {fewest} rows have": merged}


# The risk of a finding after a remedy, and the cheapest remedies.


@dataclass(frozen=True)
class Advisor:
    """Says what findings rest on, and estimates remedies by recoding the release.

    - origin: What is known about the origin of the release's rows.
    - threshold: Largest acceptable risk, in (0, 1).
    - of_classes: Findings on the classes of recoded cells.
    - alone: Sets of columns that single out rows, with the number of these rows.
    """

    setting: EvaluationSetting
    table: FinishedTable
    origin: RowOrigin
    evaluation: ReleaseEvaluation
    threshold: float
    of_classes: Callable[[pd.DataFrame], Sequence[Finding]]
    alone: Sequence[tuple[str, int]] = ()
    _remedies: list[Remedy] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        frame = self.table.frame.reset_index(drop=True)
        self._remedies.extend(recodings(frame, self.table.domains, math.ceil(1 / self.threshold)))
        joined = together(self._remedies)
        self._remedies.extend([joined] if joined is not None else [])

    def advice(self, findings: Sequence[Finding]) -> list[Advice]:
        """What each finding rests on that is above the threshold or not sure, and its cheapest remedies."""
        goals = {goal_title(goal): goal for goal in {outcome.goal for outcome, _ in self.evaluation.advantages}}
        decisive = [one for one in findings if one.status in (ABOVE, UNSURE)]
        classes = {SMALLEST, *map(class_title, self.setting.records.sensitive)}
        return [
            self._of_attack(one, goals[one.title]) if one.title in goals else self._of_classes(one)
            for one in decisive
            if one.title in goals or one.title in classes
        ]

    def _of_classes(self, finding: Finding) -> Advice:
        """Advice on a finding that is counted in classes: all remedies are counted."""
        after = [(one, self._counted(one, finding.title)) for one in self._remedies]
        return Advice(finding.title, finding.value, self._class_words(finding.title), self._cheapest(finding, after))

    def _of_attack(self, finding: Finding, goal: str) -> Advice:
        """Advice on the finding of an attack: it is played on the recodings that tell fewest rows apart."""
        chosen = sorted(self._remedies, key=lambda one: -one.bits)[:PLAYED]
        after = [(one, self._played(one, goal)) for one in chosen]
        identifies = self._predicates() if goal == "singling_out" else self._columns()
        return Advice(finding.title, finding.value, identifies, self._cheapest(finding, after))

    def _cheapest(
        self, finding: Finding, after: Sequence[tuple[Remedy, float | None]]
    ) -> tuple[tuple[Remedy, float], ...]:
        """Remedies that reduce the risk: within the threshold the cheapest first, else the strongest first."""
        helping = [(one, risk) for one, risk in after if risk is not None and risk < finding.value - LEAST]

        def order(pair: tuple[Remedy, float]) -> tuple[bool, float, float]:
            one, risk = pair
            within = risk <= self.threshold
            return not within, one.loss if within else risk, one.loss

        return tuple(sorted(helping, key=order)[:MOST_REMEDIES])

    def _counted(self, remedy: Remedy, title: str) -> float | None:
        recoded = replace(self.table, frame=pd.DataFrame(remedy.columns), lacking=())
        found = self.of_classes(self.table.among_records.assign(**recoded.among_records))
        return next((one.value for one in found if one.title == title), None)

    def _played(self, remedy: Remedy, goal: str) -> float | None:
        """Largest advantage of the worst attack of a goal on the recoded release."""
        worst = self.evaluation.worst(goal)
        if worst is None:
            return None
        recoded = replace(self.table, frame=self.table.frame.assign(**remedy.columns))
        questions = PosedQuestions(self.setting, recoded, self.origin, worst[0])
        estimates = [outcome.advantage() for outcome in questions.outcomes() if outcome.goal == goal]
        return max((max(0.0, one.value) for one in estimates if one is not None), default=None)

    def _class_words(self, title: str) -> str:
        """Sets of columns that single rows out, or the cells of the class that says most."""
        quasi = [name for name in self.setting.records.quasi_identifiers if name in self.table.frame]
        if title == SMALLEST and self.alone:
            sets = (
                f"{names.replace(', ', ' x ')} ({counted(rows, 'row')} alone)" for names, rows in self.alone[:SHOWN]
            )
            return "; ".join(sets)
        alike = self.table.among_records
        alike = alike[rows_in_classes(alike, quasi)]
        classes = equivalence_classes(alike, quasi)
        if title == SMALLEST:
            sizes = np.bincount(classes)
            worst = int(sizes.argmin())
            return f"the class of {self._cells(alike[quasi][classes == worst])} ({counted(int(sizes[worst]), 'row')})"
        column = next(name for name in self.setting.records.sensitive if class_title(name) == title)
        cells, domain = read_cells(alike[column], self.table.domains[column]), self.table.domains[column]
        worst, value = class_values(classes, cells).worst
        inside = classes == worst
        holding = exact(round(float(cells.mass()[cells.codes[inside], value].sum()), 2))
        values = domain.cells() if isinstance(domain, NumericDomain) else domain.categories
        text = self._text(column, [*values, ""][value])
        share = f"{holding} of {counted(int(inside.sum()), 'row')} with {column} {text}"
        return f"the class of {self._cells(alike[quasi][inside])}: {share}"

    def _cells(self, rows: pd.DataFrame) -> str:
        """Cells that all rows of a class have, without those that are suppressed."""
        row = rows.iloc[0]
        shown = [f"{name} {self._text(name, cell)}" for name, cell in row.items() if cell != SUPPRESSED]
        more = f" and {counted(len(shown) - CELLS, 'further cell')}" if len(shown) > CELLS else ""
        return f"{', '.join(shown[:CELLS])}{more}" or "everybody"

    def _text(self, name: Any, cell: Any) -> str:
        """A cell as the release writes it."""
        form = self.setting.dataset.written.columns.get(str(name))
        return "empty" if pd.isna(cell) or cell == "" else str(cell if form is None else form.write(cell))

    def _columns(self) -> str:
        """The columns that tell most rows apart."""
        bits = {str(name): entropy(self.table.frame[name]) for name in self.table.frame.columns}
        most = sorted(bits, key=lambda name: -bits[name])[:SHOWN]
        needed = np.log2(max(2, len(self.table.frame)))
        listed = ", ".join(f"{name} {bits[name]:.1f}" for name in most)
        return f"bits by which a column tells rows apart, of {needed:.1f} that name one row: {listed}"

    def _predicates(self) -> str:
        """Predicates of the attacks that hold for one person each, most frequent columns first."""
        found = [one.predicates for one in PosedQuestions(self.setting, self.table, self.origin).isolating()]
        by_columns: dict[str, list[str]] = {}
        for atoms in found:
            columns = " x ".join(sorted(atom.column for atom in atoms))
            words = " and ".join(atom.words(partial(self._text, atom.column)) for atom in atoms)
            by_columns.setdefault(columns, []).append(words)
        most = sorted(by_columns.items(), key=lambda pair: (-len(pair[1]), len(pair[0])))[:SHOWN]
        return "; ".join(f"{columns}: {counted(len(words), 'predicate')}, as {words[0]}" for columns, words in most)


def advice_words(advice: Sequence[Advice]) -> list[str]:
    """One sentence for each finding with remedies."""
    return [
        f"{one.title}: "
        + "; ".join(f"{remedy.words}, {number(one.value)} to {number(risk)}" for remedy, risk in one.remedies)
        + " (estimated by recoding the release)."
        for one in advice
        if one.remedies
    ]


def remedies_section(advice: Sequence[Advice]) -> Section:
    """What identifies people, and the cheapest remedies with their effect."""
    columns = ("finding", "what identifies", "remedy", "risk now", "estimated after", "information lost")
    rows: list[tuple[Value, ...]] = []
    for one in advice:
        none = ("none of one column helps; take a stronger setting", one.value, None, None)
        lines: list[tuple[Value, ...]] = [(it.words, one.value, risk, it.loss) for it, risk in one.remedies] or [none]
        rows += [(one.title, one.identifies, *lines[0]), *(("", "", *line) for line in lines[1:])]
    note = (
        "Estimates: the release was recoded, and classes were counted or the worst attack was played again. Make the "
        "release anew and report on it before it goes out. Information lost: by how much more of its column's domain a "
        "cell covers, on average. Cells and predicates here are about single people, so this section is as "
        "confidential as the table."
    )
    table = Table("What identifies, and the cheapest remedies", columns, rows, 2, note)
    return Section("Remedies", (), (table,) if rows else ())
