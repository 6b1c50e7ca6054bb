"""Hard decoys: people like the originals, among whom nobody can say who is an original."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.random import Generator

from defenses.base import Microdata
from metrics.columns import Floats, Integers, refuse

BLOCK = 256
"""Groups are formed within blocks of at most this many near people, so that time grows linearly."""
TOGETHER = 32
"""Number of blocks that form their groups at the same time; their distances take about 20 MB."""
EQUAL = 1e-12
"""Gower distance below which two people are exact equals."""
LAST = 1e9
"""Distance that stands for an exact equal, who is chosen when nobody else is left."""


class NearGroups:
    """Partition of a population into groups of near people, by Gower distance over all released columns.

    Decoys that are chosen as the nearest people to each original give the originals away: a decoy's nearest candidate
    is an original, but not the other way round. Here the groups are a function of the population alone. Each group is
    among the candidates as a whole or not at all, and every member was equally likely to be drawn as an original.

    Recursive bisection by two distant people divides the population into blocks. Within a block, whoever is farthest
    from the nearest other person chooses first, and takes the nearest free people who are no exact equals. Copies of
    one record are dealt to different blocks as far as possible, and frequent ones choose before they cannot be
    separated. Exact equals share a group only where a block has nobody else left.

    - records: The population; numbers are scaled by their range in it.
    - size: People per group, at least 2. The last ``len(records) % size`` records are in no group.
    """

    def __init__(self, records: Microdata, size: int) -> None:
        refuse(size < 2, f"size must be at least 2, got {size}")
        self.size = size
        self.grouped = len(records) - len(records) % size
        numbers, categories = [], []
        for name in records.released_columns:
            column = records.frame[name]
            if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
                values = column.to_numpy(dtype=float, na_value=np.nan)
                absent = np.isnan(values)
                span = np.nanmax(values) - np.nanmin(values) if not absent.all() else 0.0
                # A missing number lies one range beyond the largest: at least as far away as any two values.
                scaled = (values - np.nanmin(values)) / span if span else np.zeros(values.size)
                numbers.append(np.where(absent, 2.0, scaled))
            else:
                categories.append(pd.factorize(column.astype(object), use_na_sentinel=False)[0])
        self._numbers = np.column_stack(numbers) if numbers else np.zeros((len(records), 0))
        self._categories = np.column_stack(categories).astype(float) if categories else np.zeros((len(records), 0))

    @cached_property
    def groups(self) -> Integers:
        """Positions of the members of each group, shape (groups, size)."""
        blocks = [block for layer in self._layers() for block in self._blocks(layer)]
        together = [blocks[first : first + TOGETHER] for first in range(0, len(blocks), TOGETHER)]
        return np.concatenate(
            [self._groups_within(part) for part in together] or [np.zeros((0, self.size), dtype=np.intp)]
        )

    @cached_property
    def group_of(self) -> Integers:
        """Group of each person, shape (people,); -1 for the last records, which are in none."""
        group_of = np.full(len(self._numbers), -1)
        group_of[self.groups] = np.arange(len(self.groups))[:, None]
        return group_of.astype(np.intp)

    def decoys(self, originals: Integers, rng: Generator) -> Integers:
        """Choose decoys so that whole groups are candidates, as many groups as there are originals.

        Returned are the positions of the decoys, shape (originals * (size - 1),).

        Let C be the candidates. Swapping two members of a group in C, or two groups in C, changes neither the
        probability of the originals nor that of C given them. Hence every candidate is an original with probability 1 /
        size, whatever the attacker knows about the population.

        - originals: Positions of the originals, a uniform draw from the people who are in a group.
        - rng: Draws further groups where two originals are in the same one, so that the number is right.
        """
        used = np.unique(self.group_of[originals])
        unused = np.setdiff1d(np.arange(len(self.groups)), used, assume_unique=True)
        further = rng.choice(unused, originals.size - used.size, replace=False)
        return np.setdiff1d(self.groups[np.concatenate([used, further])].ravel(), originals, assume_unique=True)

    def _layers(self) -> list[Integers]:
        """Sets of people with few exact equals among them: first copies of all records, second copies and so on.

        Layers of less than `BLOCK` people join the next one. Sizes are multiples of the group size.
        """
        rows = pd.DataFrame(np.hstack([self._numbers, self._categories])[: self.grouped])
        copy = rows.groupby(list(rows.columns)).cumcount().to_numpy() if rows.shape[1] else np.zeros(self.grouped)
        order = np.argsort(copy, kind="stable")
        ends = np.flatnonzero(np.diff(copy[order])) + 1
        cuts: list[int] = []
        for end in ends // self.size * self.size:
            if end - (cuts[-1] if cuts else 0) >= BLOCK and self.grouped - end >= BLOCK:
                cuts.append(int(end))
        return np.split(order, cuts)

    def _blocks(self, people: Integers) -> list[Integers]:
        """Halve by which of two distant people is nearer, until at most `BLOCK` people are together."""
        if people.size <= max(BLOCK, self.size):
            return [people] if people.size else []
        first = people[self._distance(people[:1], people)[0].argmax()]
        to_first = self._distance(np.array([first]), people)[0]
        to_second = self._distance(people[[to_first.argmax()]], people)[0]
        order = people[np.argsort(to_first - to_second, kind="stable")]
        middle = people.size // 2 // self.size * self.size
        return self._blocks(order[:middle]) + self._blocks(order[middle:])

    def _groups_within(self, blocks: Sequence[Integers]) -> Integers:
        """Positions of the members of each group of some blocks; in each block, who is most remote chooses first.

        All blocks form their groups at the same time, one group per step. Smaller blocks are filled up with empty
        places, which nobody chooses.
        """
        sizes = np.array([block.size for block in blocks])
        slots = np.arange(sizes.max())
        empty = slots >= sizes[:, None]
        distance = np.full((len(blocks), slots.size, slots.size), LAST)
        for table, block in zip(distance, blocks, strict=True):
            table[: block.size, : block.size] = self._distance(block, block)
        equal = distance < EQUAL
        distance[equal] = LAST
        nearest = distance.min(axis=2)
        order = np.argsort(np.where(empty, np.inf, -np.where(nearest < LAST, nearest, 0.0)), axis=1, kind="stable")
        same = np.where(empty, slots, equal.argmax(axis=2))
        copies = (same[:, :, None] == slots).sum(axis=1)
        taken = np.where(empty, np.inf, 0.0)
        groups = np.full((len(blocks), sizes.max() // self.size, self.size), -1)
        for step in range(sizes.max() // self.size):
            left = sizes // self.size - step
            unfinished = np.flatnonzero(left > 0)
            # A record with as many copies left as there are groups left needs one in each of them.
            frequent = np.take_along_axis(copies, same, axis=1) >= left[:, None]
            urgent = taken - LAST / 2 * frequent
            in_order = np.take_along_axis(urgent, order, axis=1)[unfinished].argmin(axis=1)
            chosen = order[unfinished, in_order]
            members = [chosen]
            taken[unfinished, chosen] = np.inf
            cost = distance[unfinished, chosen] + urgent[unfinished]
            for _ in range(self.size - 1):
                chosen = (cost + taken[unfinished]).argmin(axis=1)
                members.append(chosen)
                taken[unfinished, chosen] = np.inf
                cost += LAST * equal[unfinished, chosen]
            for chosen in members:
                copies[unfinished, same[unfinished, chosen]] -= 1
            groups[unfinished, step] = np.transpose(members)
        positions = [block[group[: block.size // self.size]] for block, group in zip(blocks, groups, strict=True)]
        return np.concatenate(positions)

    def _distance(self, people: Integers, others: Integers) -> Floats:
        """Gower distances, up to the number of columns; shape (people, others)."""
        from scipy.spatial.distance import cdist

        distance = np.zeros((people.size, others.size))
        if self._numbers.shape[1]:
            distance += cdist(self._numbers[people], self._numbers[others], "cityblock")
        if self._categories.shape[1]:
            distance += self._categories.shape[1] * cdist(self._categories[people], self._categories[others], "hamming")
        return distance


def group_size(originals: int, candidates: int) -> int:
    """People per group of near candidates: one original and its decoys.

    Raises ValueError if the candidates are no multiple of the originals; groups of unequal sizes would give originals
    away.
    """
    refuse(
        candidates % originals,
        f"candidates must be a multiple of originals ({originals}) with hard decoys, got {candidates}",
    )
    return candidates // originals
