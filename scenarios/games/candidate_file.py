"""The candidate-file game: link every released row to one of the candidates."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator

from defenses.base import Microdata
from metrics.columns import check_choice, check_integer, refuse
from scenarios.games.decoys import NearGroups, group_size
from scenarios.games.questions.row_question import RowQuestion
from scenarios.games.table_game import QuestionGame

DECOYS = ("random", "hard")


class CandidateFile(QuestionGame):
    """Re-identification among candidates: the adversary has a file of all originals and of decoys.

    Each play draws some records as originals and releases them. The adversary sees the release with its rows in random
    order, and the candidates in clear. It links each row to the candidate that the row stems from.

    Parameters
    ----------
    records : Microdata
        The population; at least `candidates` records.
    originals, candidates : int
        Number of released records, and number of candidates; originals < candidates.
    decoys : {"random", "hard"}
        How the other candidates are chosen: ``random`` draws them uniformly. With ``hard``, the candidates are whole
        groups of near people (`NearGroups`) who are no exact equals, and `candidates` is a multiple of `originals`.
    auxiliary, held_out : int
        Size of the auxiliary population, and number of people who test classifiers trained on the release. A small
        population gives fewer: half of the remaining people each.
    attacker_knows : {"mechanism", "nothing"}
        Whether attacks can read the release's channel and repeat the defense on other records.

    Raises
    ------
    ValueError
        If a number is out of range or the population is too small.

    Examples
    --------
    Nearest-neighbour linkage re-identifies every row of an unprotected table.

    >>> import numpy as np
    >>> import pandas as pd
    >>> from attacks import NearestNeighbour
    >>> from defenses import Identity, Microdata
    >>> from scenarios import CandidateFile, play
    >>> frame = pd.DataFrame({"age": range(18, 78), "height": [160 + row % 30 for row in range(60)]})
    >>> records = Microdata(frame, quasi_identifiers=("age", "height"))
    >>> game = CandidateFile(records=records, originals=10, candidates=20)
    >>> outcome = play(Identity(), NearestNeighbour(), game, np.random.default_rng(1))
    >>> outcome.scores["reidentification"].rate, outcome.utility["marginals"]
    (1.0, 1.0)
    """

    variants = ("decoys",)
    question = RowQuestion()

    def __init__(
        self,
        *,
        records: Microdata,
        originals: int = 100,
        candidates: int = 200,
        decoys: str = "random",
        auxiliary: int = 2000,
        held_out: int = 1000,
        attacker_knows: str = "mechanism",
    ) -> None:
        super().__init__(records=records, auxiliary=auxiliary, held_out=held_out, attacker_knows=attacker_knows)
        self.originals = originals
        self.candidates = candidates
        self.decoys = decoys
        check_integer("originals", originals, low=1)
        check_integer("candidates", candidates, low=originals + 1)
        check_choice("decoys", decoys, DECOYS)
        refuse(len(records) < candidates, f"candidates: {candidates} are needed, but the table has {len(records)} rows")
        if decoys == "hard":
            group_size(originals, candidates)

    @cached_property
    def _near_groups(self) -> NearGroups:
        return NearGroups(self.records, self._group)

    @property
    def _group(self) -> int:
        """People per group of near candidates."""
        return self.candidates // self.originals

    def draw(self, rng: Generator, choice: Any = None) -> Any:
        """Draw originals, decoys, auxiliary and held-out people.

        Equal generators give the same originals and the same utility for both kinds of decoys. Therefore the last
        records, which are in no group, are not drawn for either kind, and hard decoys may be among the held-out people.
        """
        original_rng, decoy_rng, query_rng, order_rng, own_rng = rng.spawn(5)
        population = original_rng.permutation(len(self.records))
        if self.candidates % self.originals == 0:
            population = population[population < len(self.records) - len(self.records) % self._group]
        originals, others = population[: self.originals], population[self.originals :]
        rest = (len(self.records) - self.candidates) // 2
        held_out, others = np.split(others, [min(self.held_out, rest)])
        count = self.candidates - self.originals
        if self.decoys == "hard":
            decoys = self._near_groups.decoys(originals, decoy_rng)
        else:
            decoys = decoy_rng.choice(others, count, replace=False)
        bystanders = others[~np.isin(others, decoys)][: self.auxiliary]
        seated = self.seated((originals, decoys, bystanders, held_out), order_rng, own_rng)
        return self.measured(*seated, query_rng)
