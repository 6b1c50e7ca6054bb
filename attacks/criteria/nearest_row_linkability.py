"""Linkability: two parts of a person's record that lead to the same released row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.base.attack import Attack, Knowledge, NotApplicable
from attacks.base.claims import Claims
from attacks.base.released_classes import TIE
from attacks.base.sides import gower_distance, shared_columns
from defenses.base.parameters import check_integer
from defenses.base.release import MicrodataRelease
from metrics.arrays import Floats


@dataclass(frozen=True)
class TwoFiles(Knowledge):
    """Two files about the same people, with different columns and in different orders.

    Parameters
    ----------
    candidates : DataFrame, shape (people, columns)
        The first file.
    others : DataFrame, shape (people, columns)
        The second file.
    """

    others: pd.DataFrame = field(default_factory=pd.DataFrame, repr=False)


@dataclass(frozen=True)
class NearestRows:
    """For each person of a file, a set of released rows: sure ones, and some drawn from among tied ones.

    Attributes
    ----------
    sure, tied : ndarray of bool, shape (rows, people)
        Rows that belong to the set, and rows of which some do; disjoint.
    drawn : ndarray of int, shape (people,)
        How many of the tied rows belong to the set, any as probably as any other.
    """

    sure: NDArray[np.bool_]
    tied: NDArray[np.bool_]
    drawn: NDArray[np.intp]


@dataclass(frozen=True)
class LinkedRows(Claims):
    """For every person of two files the released rows that it may stem from; two parts are linked by a common row.

    Attributes
    ----------
    first, second : NearestRows
        Of the people of either file.
    """

    first: NearestRows
    second: NearestRows


class NearestRowLinkability(Attack):
    """Takes the nearest released rows of each person, in the columns of either file; a common row links the two.

    Of equally near rows the ones taken are drawn, independently in both files; the claims say so, and the game counts
    expected links. (Taking them by position instead makes an identical copy of a table of few columns look safe.)
    Rows need not stem from records.

    Parameters
    ----------
    neighbours : int
        Nearest rows of a person, at least 1; all where the release has fewer.

    References
    ----------
    Giomi, Boenisch, Wehmeyer and Tasnádi (2023), A unified framework for quantifying privacy risk in synthetic data,
    section 4.2.
    """

    goal: ClassVar[str] = "linkability"

    def __init__(self, *, neighbours: int = 1) -> None:
        self.neighbours = neighbours
        check_integer("neighbours", neighbours, low=1)

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> LinkedRows:
        """Find the nearest rows of both files."""
        if not isinstance(knowledge, TwoFiles):
            raise NotApplicable("there are no two files to link")
        if release.frame.empty:
            raise NotApplicable("the release has no row")
        second = Knowledge(knowledge.others, knowledge.auxiliary)
        count = min(self.neighbours, len(release.frame))
        distances = (gower_distance(shared_columns(release, file)) for file in (knowledge, second))
        return LinkedRows(*(nearest_rows(distance, count) for distance in distances))


def nearest_rows(distance: Floats, count: int) -> NearestRows:
    """The `count` nearest rows of each person; distance of shape (rows, people), count at most the rows."""
    last = np.partition(distance, count - 1, axis=0)[count - 1]
    sure = distance < last - TIE
    return NearestRows(sure, (distance <= last + TIE) & ~sure, count - sure.sum(axis=0))
