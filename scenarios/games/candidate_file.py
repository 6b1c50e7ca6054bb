"""The candidate-file game: link every released row to one of the candidates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator

from defenses.base import Microdata
from metrics.columns import Integers, check_choice, check_integer, refuse
from scenarios.games.decoys import NearGroups, group_size
from scenarios.games.people import Drawn
from scenarios.games.questions.person_questions import MemberQuestion, RowQuestion
from scenarios.games.table_game import QuestionGame

# The membership inference game on a released table.


class Membership(QuestionGame):
    """Membership inference on a released table: half of the candidates are its originals.

    Each play draws some records as members and releases them. The adversary sees the release with its rows in random
    order. The candidates are the members and as many other people, in clear. The adversary scores how likely each of
    them is a member.

    Parameters
    ----------
    records : Microdata
        The population; at least twice `members` records.
    members : int
        Number of released records, and number of candidates who are not members.
    auxiliary, held_out : int
        Size of the auxiliary population, and number of people who test classifiers trained on the release. A small
        population gives fewer: half of the remaining people each.
    attacker_knows : {"mechanism", "nothing"}
        Whether attacks can read the release's channel and repeat the defense on other records.

    Raises
    ------
    ValueError
        If a number is out of range or the population is too small.

    References
    ----------
    Shokri, Stronati, Song and Shmatikov (2017), Membership inference attacks against machine learning models; Stadler,
    Oprisanu and Troncoso (2022), Synthetic data: anonymisation groundhog day, for released tables.
    """

    question = MemberQuestion()

    def __init__(
        self,
        *,
        records: Microdata,
        members: int = 500,
        auxiliary: int = 2000,
        held_out: int = 1000,
        attacker_knows: str = "mechanism",
    ) -> None:
        super().__init__(records=records, auxiliary=auxiliary, held_out=held_out, attacker_knows=attacker_knows)
        self.members = check_integer("members", members, low=1)
        refuse(
            self.units.size < 2 * members,
            f"members: {2 * members} people are needed, but the table has {self.units.words}",
        )

    def groups(self, rng: Generator) -> Sequence[Integers]:
        """Draw members, as many non-members, auxiliary and held-out people, all distinct."""
        population = rng.permutation(self.units.size)
        members, others, rest = np.split(population, [self.members, 2 * self.members])
        held_out, bystanders = np.split(rest, [min(self.held_out, rest.size // 2)])
        return members, others, bystanders[: self.auxiliary], held_out

    def people(self, rng: Generator) -> tuple[Drawn, Microdata]:
        """Draw the people of one play; the held-out people come second."""
        people_rng, order_rng, own_rng = rng.spawn(3)
        return self.seated(self.groups(people_rng), order_rng, own_rng)

    def draw(self, rng: Generator, choice: Any = None) -> Any:
        """Draw the people of one play (`people`)."""
        people_rng, query_rng = rng.spawn(2)
        return self.measured(*self.people(people_rng), query_rng)


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
        self.originals = check_integer("originals", originals, low=1)
        self.candidates = check_integer("candidates", candidates, low=originals + 1)
        self.decoys = check_choice("decoys", decoys, DECOYS)
        refuse(
            self.units.size < candidates, f"candidates: {candidates} are needed, but the table has {self.units.words}"
        )
        if decoys == "hard":
            group_size(originals, candidates)

    @cached_property
    def _near_groups(self) -> NearGroups:
        # People are near by the first row of each.
        _, first_rows = np.unique(self.units.numbers, return_index=True)
        return NearGroups(self.records.take(first_rows), self._group)

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
        population = original_rng.permutation(self.units.size)
        if self.candidates % self.originals == 0:
            population = population[population < self.units.size - self.units.size % self._group]
        originals, others = population[: self.originals], population[self.originals :]
        rest = (self.units.size - self.candidates) // 2
        held_out, others = np.split(others, [min(self.held_out, rest)])
        decoys = (
            self._near_groups.decoys(originals, decoy_rng)
            if self.decoys == "hard"
            else decoy_rng.choice(others, self.candidates - self.originals, replace=False)
        )
        bystanders = others[~np.isin(others, decoys)][: self.auxiliary]
        seated = self.seated((originals, decoys, bystanders, held_out), order_rng, own_rng)
        return self.measured(*seated, query_rng)
