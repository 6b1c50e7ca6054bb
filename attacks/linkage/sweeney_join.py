"""A de-identified table joined to a named register by the columns that they share."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base import Attack, Knowledge, RankedAnswers, shared_columns
from defenses.base import MicrodataRelease
from metrics.columns import check_integer


class SweeneyJoin(Attack):
    """Joins a de-identified table to a named register by exact or generalized agreement.

    A cell and a register entry agree where the cell covers the entry: exactly, or as an interval, a set or ``*``.
    Otherwise they contradict each other. A missing register entry neither agrees nor contradicts. People are ranked
    by the number of contradictions, then by the number of agreements. A person who alone has no contradiction is the
    only answer, with score 1; other answers have scores below 1.

    It reads no channel. Perturbed values contradict, so that `LikelihoodAssignment` finds more where the mechanism is
    public. On exact and generalized tables it needs no assignment, and people outside the register do no harm.

    Parameters
    ----------
    depth : int
        Number of answers for a row without a unique person, at least 1.

    References
    ----------
    Sweeney (2002), k-anonymity: a model for protecting privacy, section 2, which joined a de-identified table of
    hospital visits to the voter list of Cambridge, Massachusetts, by ZIP code, birth date and sex.
    """

    called = ("Sweeney's join", "Register linkage")

    def __init__(self, *, depth: int = 10) -> None:
        self.depth = check_integer("depth", depth, low=1)

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> RankedAnswers:
        """Join.

        Raises
        ------
        ValueError
            If release and register share no column, the register is empty, or a cell or an entry lies outside the
            column's domain.
        """
        columns = shared_columns(release, knowledge)
        known = [np.asarray(~pd.isna(column.values), dtype=bool) for column in columns]
        agreements, contradictions = (
            np.asarray(
                sum(
                    column.expand(((column.contains() == agrees) & one).astype(np.int32))
                    for column, one in zip(columns, known, strict=True)
                )
            )
            for agrees in (True, False)
        )
        scores = agreements / (len(columns) + 1) - contradictions
        compatible = contradictions == 0
        unique = compatible.sum(axis=1) == 1
        scores[unique] = np.where(compatible[unique], 1.0, -np.inf)
        return RankedAnswers.from_scores(scores, rng, depth=self.depth)
