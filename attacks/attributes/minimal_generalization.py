"""Attacks that conclude from the minimality of a generalization: minimality and downcoding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base import Attack, Knowledge, ValueClaims, applicable, claims_from_scores, match
from defenses.base import Microdata, MicrodataRelease
from metrics.classes import equivalence_classes, ranks_in_groups
from metrics.columns import (
    Array,
    Booleans,
    CategoricalCells,
    Floats,
    Integers,
    NumericCells,
    check_integer,
    read_cells,
    scattered,
)


class Minimality(Attack):
    """Keeps only those worlds in which the publisher had a reason not to split a class.

    A publisher who generalizes no more than l-diversity needs would have split a class along a column if all parts had
    been diverse. So in every column in which the members of a class differ, the people of some value have fewer than l
    distinct sensitive values. The attacker knows the members' exact quasi-identifiers. It draws assignments of the
    class's sensitive values to the members and discards those in which some column could have been split. The remaining
    worlds give the frequent value more weight than l-diversity seems to allow.

    The attack assumes `Mondrian` with distinct l-diversity, or another local recoding that splits while it can. No
    minimum class size may forbid the splits as well. Its baseline is `MajorityInClass`. Except for classes of few
    distinct quasi-identifiers the condition rules out few worlds, and the answers are the baseline's. On Adult (the
    occupation of 500 people, six quasi-identifiers) it does not beat the baseline: .508 to .510 of the values for l =
    2, and .419 to .420 for l = 3 (six plays; 95 % intervals of the differences .012 and .016).

    Parameters
    ----------
    l : int
        The publisher's parameter l, at least 2.
    worlds : int
        Number of worlds drawn for each class, at least 1.

    Notes
    -----
    Merging l-diverse groups gives an l-diverse group. So if all parts of a class by the value of a column are
    l-diverse, both sides of any split in this column are too. Mondrian would then have split the class. An unsplit
    class therefore proves that every column in which members differ has a part with fewer than l values.

    Worlds are equally probable a priori. As many people as the class has rows are drawn from those whom its cells
    cover. Where the attacker knows the table's people, these are all of them. The class's values are assigned to them
    at random. If no world of a class remains, all its worlds are kept.

    References
    ----------
    Wong, Fu, Wang and Pei (2007), Minimality attack in privacy preserving data publishing, sections 3 and 4.
    """

    called = ("Minimality attack",)

    goal = "attribute"

    def __init__(self, *, l: int = 2, worlds: int = 400) -> None:  # noqa: E741 (the field's own name for it)
        self.l = check_integer("l", l, low=2)
        self.worlds = check_integer("worlds", worlds, low=1)

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> ValueClaims:
        """Draw worlds, keep the possible ones and claim each target's most frequent value."""
        matching = match(release, knowledge)
        applicable(
            (matching.counts == np.rint(matching.counts)).all(),
            "sensitive values are generalized, so the classes hold no exact values to assign",
        )
        # A target covered by several classes is assigned to the one that covers the fewest targets.
        covered_targets = np.where(matching.covers, matching.covers.sum(axis=1, keepdims=True), np.iinfo(np.intp).max)
        owner = np.where(matching.covers.any(axis=0), covered_targets.argmin(axis=0), -1)
        scores = matching.near_counts
        codes = np.column_stack([column.codes for column in matching.columns]).astype(np.intp)
        covered = np.flatnonzero(owner >= 0)
        if covered.size:
            posterior = self._posterior(owner[covered], codes[covered], matching.counts, rng)
            scores[covered] = np.where(posterior.sum(axis=1, keepdims=True) > 0, posterior, scores[covered])
        return claims_from_scores(scores, matching.column, matching.domain)

    def _posterior(self, owner: Integers, codes: Integers, counts: Floats, rng: Generator) -> Floats:
        """Count of each sensitive value in the possible worlds of each person's class, shape (people, d)."""
        order = np.argsort(owner, kind="stable")
        owner, codes = owner[order], codes[order]
        assigned = _assigned_values(owner, counts)
        possible_counts = np.zeros((owner.size, counts.shape[1]))
        all_counts = np.zeros_like(possible_counts)
        parts = _Parts.of(owner, codes)
        cells = np.arange(owner.size) * counts.shape[1]
        for _ in range(self.worlds):
            shuffled = assigned[np.lexsort((rng.random(owner.size), owner))]
            has_value = shuffled >= 0
            possible = parts.uncuttable(shuffled, counts.shape[1], self.l)
            # Positions in the flat tables; no person stands twice.
            all_counts.reshape(-1)[(cells + shuffled)[has_value]] += 1
            has_value &= possible
            possible_counts.reshape(-1)[(cells + shuffled)[has_value]] += 1
        impossible = np.bincount(owner, weights=possible_counts.sum(axis=1), minlength=len(counts))[owner] == 0
        result = np.empty_like(possible_counts)
        result[order] = np.where(impossible[:, None], all_counts, possible_counts)
        return result


@dataclass(frozen=True)
class _Parts:
    """People of each class and each value of a column, for all columns.

    - part, shape (people, columns): Each person's part in each column; parts are numbered by column, then by class.
    - start, shape (columns, classes): First part of each class in each column.
    - member, shape (people,): Each person's class, by its place among the classes with people.
    """

    part: Integers
    start: Integers
    member: Integers

    @classmethod
    def of(cls, owner: Integers, codes: Integers) -> _Parts:
        """Return the parts of people of classes `owner`, shape (people,), with `codes`, shape (people, columns)."""
        classes, member = np.unique(owner, return_inverse=True)
        part, start, total = np.empty_like(codes), [], 0
        for number, column in enumerate(codes.T):
            distinct, code = np.unique(column, return_inverse=True)
            parts, inverse = np.unique(member * distinct.size + code, return_inverse=True)
            part[:, number] = total + inverse
            start.append(total + np.searchsorted(parts // distinct.size, np.arange(classes.size)))
            total += parts.size
        return cls(part, np.array(start), member)

    def uncuttable(self, values: Integers, size: int, least: int) -> Booleans:
        """Whether every column in which the members of a person's class differ has a part that is not diverse.

        The result has shape (people,).

        - values, shape (people,): Sensitive value of each person, -1 for none; people without a value are no members.
        - size: Number of sensitive values.
        - least: Distinct sensitive values of a diverse part.
        """
        has_value = values >= 0
        occurs = np.zeros((size, int(self.part.max()) + 1), dtype=bool)
        occurs[values[has_value, None], self.part[has_value]] = True
        distinct = occurs.sum(axis=0, dtype=np.intp)
        filled = distinct > 0
        starts = self.start.ravel()
        differs = np.add.reduceat(filled, starts, dtype=np.intp) > 1
        failed = np.logical_or.reduceat(filled & (distinct < least), starts)
        return np.asarray(np.all((~differs | failed).reshape(self.start.shape), axis=0)[self.member])


def _assigned_values(owner: Integers, counts: Floats) -> Integers:
    """A value for each person in the order of ascending classes, -1 for people left without one; shape (people,).

    If a class has more values than people, its most frequent values are assigned first and the rest are dropped.
    """
    people = np.bincount(owner, minlength=len(counts))
    class_of, value = np.nonzero(counts)
    amount = counts[class_of, value].astype(np.intp)
    ranked = np.lexsort((-amount, class_of))
    class_of = np.repeat(class_of[ranked], amount[ranked])
    value = np.repeat(value[ranked], amount[ranked])
    rank = ranks_in_groups(class_of)
    fits = rank < people[class_of]
    return scattered(value[fits], (np.cumsum(people) - people)[class_of[fits]] + rank[fits], owner.size)


class Downcoding(Attack):
    """Takes generalized cells as tight and assigns their ends and categories to rows.

    A publisher who generalizes no more than needed releases the smallest interval or set that covers a class. Then two
    rows of the class have the interval's ends, and each category of a set occurs in some row. This reveals all values
    of a class of two and two thirds of those of a class of three, regardless of k-anonymity. The rows of a class have
    equal quasi-identifiers, so it does not matter which row has which value.

    Other rows get the values that the attacker's people have within the cell, in their proportions. So do rows
    whose cells are not tight: ``*``, and columns in which every cell is a level of the public hierarchy.

    The attack assumes minimal generalization. Its baseline draws values from people whom the cells cover. On `Mondrian`
    with k = 2 and one column of distinct numbers it recovers at least two thirds of all values.

    Notes
    -----
    The attack beats the baseline on Adult (500 people, seven quasi-identifiers, six plays). Rates of attack and
    baseline are .92 and .52 on Mondrian's tables with k = 2, and .72 and .61 with k = 10. Where cells are not tight,
    they are .73 and .69 on Incognito's tables (k = 5), and .31 and .29 on `CellSuppression`'s.

    References
    ----------
    Cohen (2022), Attacks on deidentification's defenses, section 3; Balinski and Young (1982), Fair representation,
    for shares in integers (Webster's method, whose list for n rows begins that for n + 1).
    """

    called = ("Downcoding",)

    goal = "downcoding"

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> ValueClaims:
        """Claim a value for every generalized cell of a quasi-identifier."""
        people = knowledge.auxiliary
        names = [name for name in people.quasi_identifiers if name in release.frame.columns]
        applicable(names, "the release has no quasi-identifier to refine")
        classes = equivalence_classes(release.frame, names)
        refined = {name: pd.Series(refine(release.frame[name], classes, people, name)) for name in names}
        return ValueClaims(pd.DataFrame(refined, index=range(len(release.frame))), np.ones(len(release.frame)))


def refine(column: pd.Series[Any], classes: Integers, people: Microdata, name: str) -> Array:
    """A value for each row whose cell is generalized, missing for the other rows; shape (rows,)."""
    cells = read_cells(column, people.domain(name))
    sizes, rank = np.bincount(classes, minlength=1), ranks_in_groups(classes)
    own = people.frame[name].dropna()
    tight = ~cells.suppressed & (not _by_levels(column, people, name))
    rows = np.flatnonzero(~cells.plain[cells.codes])
    if isinstance(cells, NumericCells):
        numbers: Array = np.full(len(column), np.nan)
        numbers[rows] = _numbers(cells, cells.codes[rows], tight, rank[rows], sizes[classes[rows]], own)
        return numbers
    chosen: Array = np.full(len(column), None, dtype=object)
    chosen[rows] = _categories(cells, cells.codes[rows], tight, rank[rows], own)
    return chosen


def _by_levels(column: pd.Series[Any], people: Microdata, name: str) -> bool:
    """Return True if every generalized cell of the column belongs to a level of its public hierarchy."""
    hierarchy = people.hierarchies.get(name)
    values = people.frame[name].dropna().unique()
    if hierarchy is None or not len(values):
        return False
    levels = {str(cell) for level in range(1, hierarchy.height + 1) for cell in hierarchy.generalize(values, level)}
    generalized = {str(cell) for cell in column.dropna().unique() if str(cell).startswith(("[", "{"))}
    return generalized <= levels


def _numbers(
    cells: NumericCells,
    codes: Integers,
    tight: Booleans,
    rank: Integers,
    size: Integers,
    own: pd.Series[Any],
) -> Floats:
    """Low end, high end, and quantiles of the attacker's people between them; only quantiles if not tight."""
    sample = np.sort(own.to_numpy(dtype=float))
    low, high = (end[codes] for end in cells.hull())
    first, last = np.searchsorted(sample, low, "left"), np.searchsorted(sample, high, "right")
    step = np.where(tight[codes], (rank - 1) / np.maximum(size - 1, 1), (rank + 0.5) / size)
    at = np.clip(first + np.floor(step * (last - first)).astype(np.intp), 0, max(sample.size - 1, 0))
    inner = np.where(last > first, sample[at] if sample.size else np.nan, low)
    ends = np.where(rank == 0, low, np.where(rank == 1, high, inner))
    return np.where(tight[codes], ends, inner)


def _categories(
    cells: CategoricalCells,
    codes: Integers,
    tight: Booleans,
    rank: Integers,
    own: pd.Series[Any],
) -> Array:
    """Categories in the proportions of the attacker's people; in tight cells each occurs before any repeats."""
    names = np.array(cells.domain.categories, dtype=object)
    counts = np.bincount(cells.domain.codes(own), minlength=names.size)[: names.size]
    result = np.empty(codes.size, dtype=object)
    for cell in np.unique(codes).tolist():
        rows = np.flatnonzero(codes == cell)
        members = np.flatnonzero(cells.member[cell])
        seats = np.arange(rank[rows].max() + 1)
        # Webster: the next row goes to the category with the largest count / (assigned rows + 1/2).
        priority = (counts[members, None] + 1e-9) / (seats + 0.5)
        if tight[cell]:
            priority[:, 0] += priority.max()
        member = np.argsort(-priority.ravel(), kind="stable")[: seats.size] // seats.size
        result[rows] = names[members[member]][rank[rows]]
    return result
