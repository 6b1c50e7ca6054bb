"""The minimality attack: a class is coarse only because finer ones would not have been diverse."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.base.attack import Attack, Knowledge, NotApplicable
from attacks.base.claims import ValueClaims
from attacks.base.released_classes import Matching, claims_from_scores, match
from attacks.base.sides import common_columns
from defenses.base.parameters import check_integer
from defenses.base.release import MicrodataRelease
from metrics.arrays import Floats, Integers


class Minimality(Attack):
    """Draws worlds of every class and keeps those in which the publisher had a reason not to cut it.

    A publisher who generalizes no more than l-diversity needs would have cut a class along a column if all parts had
    been diverse. So in every column in which the members of a class differ, the people of some value have fewer than
    l different sensitive values. Whoever knows the members' quasi-identifiers, exactly, draws the ways to hand out the
    class's sensitive values among them, and leaves out those in which some column could have been cut. What is left
    puts more weight on the frequent value than l-diversity seems to allow.

    It applies to `Mondrian` with distinct l-diversity and to other local recoding that keeps cutting while it can, if
    no smallest class size forbids the cuts as well. Beyond classes of few distinct quasi-identifiers the condition
    rules out few worlds and the answers are those of `MajorityInClass`: on Adult (the occupation of 500 people, six
    quasi-identifiers) it is no better, with .508 to .510 of the values for l = 2 and .419 to .420 for l = 3 (six plays;
    95 % intervals of the differences .012 and .016).

    Parameters
    ----------
    l : int
        The publisher's l, at least 2.
    worlds : int
        Worlds drawn for each class, at least 1.

    Notes
    -----
    If all parts of a class by the value of a column are l-diverse, so are both sides of any cut in this column, since
    merging diverse groups makes a diverse one; Mondrian would have cut. Its silence therefore proves that every column
    in which members differ has a part with fewer than l values. The worlds are equally probable beforehand: as many
    people as the class has rows are drawn from those whom its cells cover (all of them, where the attacker knows the
    table's people), and the class's values handed out at random. Where no world of a class is left, all are kept.

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
        """Draw worlds, keep the possible ones, and count each target's values."""
        matching = match(release, knowledge)
        if (matching.counts != np.rint(matching.counts)).any():
            raise NotApplicable("sensitive values are generalized, so that classes have no exact values to hand out")
        # A target of several overlapping classes belongs to the one with the fewest people to choose from.
        owner = _owner(matching)
        scores = matching.near_counts
        known = knowledge.candidates[common_columns(release, knowledge)]
        codes = np.column_stack([column.codes for column in matching.columns]).astype(np.intp)
        covered = np.flatnonzero(owner >= 0)
        if covered.size and len(known):
            posterior = self._posterior(owner[covered], codes[covered], matching.counts, rng)
            scores[covered] = np.where(posterior.sum(axis=1, keepdims=True) > 0, posterior, scores[covered])
        return claims_from_scores(scores, matching.column, matching.domain)

    def _posterior(self, owner: Integers, codes: Integers, counts: Floats, rng: Generator) -> Floats:
        """Share of each sensitive value among the kept worlds of each person's class, shape (people, d)."""
        order = np.argsort(owner, kind="stable")
        owner, codes = owner[order], codes[order]
        dealt = _hands(owner, counts)
        kept = np.zeros((owner.size, counts.shape[1]))
        every = np.zeros_like(kept)
        people = np.arange(owner.size)
        for _ in range(self.worlds):
            shuffled = dealt[np.lexsort((rng.random(owner.size), owner))]
            inside = shuffled >= 0
            possible = self._uncut(owner, codes, shuffled, len(counts))[owner]
            every[people[inside], shuffled[inside]] += 1
            inside &= possible
            kept[people[inside], shuffled[inside]] += 1
        lost = np.bincount(owner, weights=kept.sum(axis=1), minlength=len(counts))[owner] == 0
        result = np.empty_like(kept)
        result[order] = np.where(lost[:, None], every, kept)
        return result

    def _uncut(self, owner: Integers, codes: Integers, values: Integers, classes: int) -> NDArray[np.bool_]:
        """Whether each class has, in every column in which its members differ, a part that is not diverse."""
        inside = values >= 0
        members, owners, dealt = codes[inside], owner[inside], values[inside]
        possible = np.ones(classes, dtype=bool)
        for column in members.T:
            parts, part = np.unique(owners * (column.max() + 1) + column, return_inverse=True)
            part_owner = parts // (column.max() + 1)
            pairs = np.unique(part * (dealt.max() + 1) + dealt)
            distinct = np.bincount(pairs // (dealt.max() + 1), minlength=parts.size)
            differs = np.bincount(part_owner, minlength=classes) > 1
            failed = np.bincount(part_owner, weights=distinct < self.l, minlength=classes) > 0
            possible &= ~differs | failed
        return possible


def _owner(matching: Matching) -> Integers:
    """The class of each target, the one that covers the fewest targets; -1 where none covers it, shape (targets,)."""
    crowd = np.where(matching.covers, matching.covers.sum(axis=1, keepdims=True), np.iinfo(np.intp).max)
    return np.where(matching.covers.any(axis=0), crowd.argmin(axis=0), -1)


def _hands(owner: Integers, counts: Floats) -> Integers:
    """A value for each person, in the order of the ascending classes, -1 for those left without, shape (people,).

    Of a class with more values than people as many as there are people are dealt, the frequent ones first.
    """
    people = np.bincount(owner, minlength=len(counts))
    class_of, value = np.nonzero(counts)
    amount = counts[class_of, value].astype(np.intp)
    ranked = np.lexsort((-amount, class_of))
    class_of = np.repeat(class_of[ranked], amount[ranked])
    value = np.repeat(value[ranked], amount[ranked])
    rows = np.bincount(class_of, minlength=len(counts))
    place = np.arange(class_of.size) - np.repeat(np.cumsum(rows) - rows, rows)
    dealt = np.full(owner.size, -1, dtype=np.intp)
    fits = place < people[class_of]
    starts = np.cumsum(people) - people
    dealt[starts[class_of[fits]] + place[fits]] = value[fits]
    return dealt
