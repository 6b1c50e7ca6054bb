"""Minimality attack: a class is coarse because finer classes would violate l-diversity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from attacks.base import Attack, Knowledge, ValueClaims, applicable, claims_from_scores, match
from defenses.base import MicrodataRelease
from metrics.classes import ranks_in_groups
from metrics.columns import Booleans, Floats, Integers, check_integer, scattered


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

    Attributes
    ----------
    part : ndarray of int, shape (people, columns)
        Each person's part in each column; parts are numbered by column, then by class.
    start : ndarray of int, shape (columns, classes)
        First part of each class in each column.
    member : ndarray of int, shape (people,)
        Each person's class, by its place among the classes with people.
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

        Parameters
        ----------
        values : ndarray of int, shape (people,)
            Sensitive value of each person, -1 for none; people without a value are no members.
        size : int
            Number of sensitive values.
        least : int
            Distinct sensitive values of a diverse part.

        Returns
        -------
        ndarray of bool, shape (people,)
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
