"""Minimality attack: a class is coarse because finer classes would violate l-diversity."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.base.attack import Attack, Knowledge, NotApplicable
from attacks.base.claims import ValueClaims
from attacks.base.released_classes import ReleasedClasses, claims_from_scores, match
from defenses.base.parameters import check_integer
from defenses.base.release import MicrodataRelease
from metrics.arrays import Floats, Integers


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

    goal: ClassVar[str] = "attribute"

    def __init__(self, *, l: int = 2, worlds: int = 400) -> None:  # noqa: E741 (the field's own name for it)
        self.l = l
        self.worlds = worlds
        check_integer("l", l, low=2)
        check_integer("worlds", worlds, low=1)

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> ValueClaims:
        """Draw worlds, keep the possible ones and claim each target's most frequent value."""
        matching = match(release, knowledge)
        if (matching.counts != np.rint(matching.counts)).any():
            raise NotApplicable("sensitive values are generalized, so the classes hold no exact values to assign")
        # A target covered by several classes is assigned to the one that covers the fewest targets.
        owner = _owner(matching)
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
        people = np.arange(owner.size)
        for _ in range(self.worlds):
            shuffled = assigned[np.lexsort((rng.random(owner.size), owner))]
            has_value = shuffled >= 0
            possible = self._uncuttable(owner, codes, shuffled, len(counts))[owner]
            all_counts[people[has_value], shuffled[has_value]] += 1
            has_value &= possible
            possible_counts[people[has_value], shuffled[has_value]] += 1
        impossible = np.bincount(owner, weights=possible_counts.sum(axis=1), minlength=len(counts))[owner] == 0
        result = np.empty_like(possible_counts)
        result[order] = np.where(impossible[:, None], all_counts, possible_counts)
        return result

    def _uncuttable(self, owner: Integers, codes: Integers, values: Integers, classes: int) -> NDArray[np.bool_]:
        """Whether every column in which a class's members differ has a part that is not l-diverse, shape (classes,)."""
        has_value = values >= 0
        members, owners, held = codes[has_value], owner[has_value], values[has_value]
        possible = np.ones(classes, dtype=bool)
        for column in members.T:
            parts, part = np.unique(owners * (column.max() + 1) + column, return_inverse=True)
            part_owner = parts // (column.max() + 1)
            pairs = np.unique(part * (held.max() + 1) + held)
            distinct = np.bincount(pairs // (held.max() + 1), minlength=parts.size)
            differs = np.bincount(part_owner, minlength=classes) > 1
            failed = np.bincount(part_owner, weights=distinct < self.l, minlength=classes) > 0
            possible &= ~differs | failed
        return possible


def _owner(matching: ReleasedClasses) -> Integers:
    """The covering class of each target that covers the fewest targets, -1 if none does; shape (targets,)."""
    covered_targets = np.where(matching.covers, matching.covers.sum(axis=1, keepdims=True), np.iinfo(np.intp).max)
    return np.where(matching.covers.any(axis=0), covered_targets.argmin(axis=0), -1)


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
    rows = np.bincount(class_of, minlength=len(counts))
    rank = np.arange(class_of.size) - np.repeat(np.cumsum(rows) - rows, rows)
    assigned = np.full(owner.size, -1, dtype=np.intp)
    fits = rank < people[class_of]
    starts = np.cumsum(people) - people
    assigned[starts[class_of[fits]] + rank[fits]] = value[fits]
    return assigned
