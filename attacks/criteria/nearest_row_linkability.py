"""Linkability attack: links two partial records of a person through a common nearest row."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base import TIE, Attack, Claims, Knowledge, NotApplicable, applicable, shared_distance
from defenses.base import MicrodataRelease
from metrics.columns import Booleans, Floats, Integers, check_integer


@dataclass(frozen=True)
class TwoFiles(Knowledge):
    """Knowledge of two files about the same people, `candidates` and `others`, with different columns and orders."""

    others: pd.DataFrame = field(default_factory=pd.DataFrame, repr=False)


@dataclass(frozen=True)
class NearestRows:
    """For each person of a file, a set of nearest released rows; some of them may be drawn from ties.

    - sure, tied, shape (rows, people): Rows that belong to the set, and tied rows of which some belong to it; disjoint.
    - drawn, shape (people,): Number of tied rows that belong to the set; all subsets of this size are equally likely.
    """

    sure: Booleans
    tied: Booleans
    drawn: Integers


@dataclass(frozen=True)
class LinkedRows(Claims):
    """Claimed links: the nearest rows of each person in both files; a common row links the two parts."""

    words = "linked rows"
    first: NearestRows
    second: NearestRows


class NearestRowLinkability(Attack):
    """Links two partial records of a person if they have a nearest released row in common.

    The nearest rows are found separately in the columns of either file (Gower's distance). Among equally near rows,
    some are drawn independently for both files. The claims state the ties, and the game counts expected links. Taking
    tied rows by position instead would make an identical copy of a table with few columns look safe. Rows need not stem
    from records, so the attack also measures synthetic data.

    The attack assumes two files with different columns about the same people. Its baseline is the rate at which
    strangers' records are linked, which the game subtracts.

    Parameters
    ----------
    neighbours : int
        Number of nearest rows of a person, at least 1; all rows if the release has fewer.

    References
    ----------
    Giomi, Boenisch, Wehmeyer and Tasnádi (2023), A unified framework for quantifying privacy risk in synthetic data,
    section 4.2.
    """

    called = ("Linkability", "Anonymeter linkability")

    goal = "linkability"

    def __init__(self, *, neighbours: int = 1) -> None:
        self.neighbours = check_integer("neighbours", neighbours, low=1)

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> LinkedRows:
        """Find the nearest rows of the people in both files."""
        if not isinstance(knowledge, TwoFiles):
            raise NotApplicable("there are no two files to link")
        applicable(not release.frame.empty, "the release has no row")
        second = Knowledge(knowledge.others, knowledge.auxiliary)
        count = min(self.neighbours, len(release.frame))
        distances = (shared_distance(release, file) for file in (knowledge, second))
        return LinkedRows(*(nearest_rows(distance, count) for distance in distances))


def nearest_rows(distance: Floats, count: int) -> NearestRows:
    """The `count` nearest rows of each person, from distances of shape (rows, people)."""
    last = np.partition(distance, count - 1, axis=0)[count - 1]
    sure = distance < last - TIE
    return NearestRows(sure, (distance <= last + TIE) & ~sure, count - sure.sum(axis=0))
