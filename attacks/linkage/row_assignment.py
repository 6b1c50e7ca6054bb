"""One-to-one assignments of released rows to people, for measures that need one and play no attack."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base import Attack, Knowledge, RankedAnswers
from attacks.linkage.assignment_linkage import AssignmentLinkage
from attacks.linkage.expectation_maximization_linkage import ExpectationMaximizationLinkage
from defenses.base import Microdata, MicrodataRelease
from metrics.columns import Integers


def nearest_assignment(released: pd.DataFrame, people: Microdata, rng: Generator) -> Integers:
    """Assignment of least total Gower distance, shape (rows,); -1 for rows that it leaves over.

    Parameters
    ----------
    released : DataFrame, shape (rows, columns)
        Released cells.
    people : Microdata
        The people in clear.
    rng : Generator
        Breaks ties at random, so that a table of equal rows reveals nobody.
    """
    return _assigned(AssignmentLinkage(), released, people, rng)


def learned_assignment(released: pd.DataFrame, people: Microdata, rng: Generator) -> Integers:
    """Assignment that learns the mechanism of each column (`ExpectationMaximizationLinkage`), shape (rows,).

    Parameters
    ----------
    released, people, rng
        See `nearest_assignment`.
    """
    return _assigned(ExpectationMaximizationLinkage(), released, people, rng)


def _assigned(linkage: Attack, released: pd.DataFrame, people: Microdata, rng: Generator) -> Integers:
    release = MicrodataRelease(released, np.full(len(released), -1))
    return RankedAnswers.of(linkage.run(release, Knowledge(people.frame, people.take([])), rng)).best(rng)
