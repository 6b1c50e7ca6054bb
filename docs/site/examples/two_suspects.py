"""A game in one file: which of two people is in the table."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pandas as pd

from attacks import Decisions, Knowledge
from defenses import Microdata
from metrics import Score, Scores
from metrics.table_utility import TableUtility
from scenarios.games.game import Secret
from scenarios.games.table_game import TableGame


@dataclass(frozen=True)
class Suspects(Secret):
    """What one play draws: the released people, and the pairs of suspects."""

    records: Microdata = field(repr=False)
    candidates: pd.DataFrame = field(repr=False)
    auxiliary: Microdata = field(repr=False)
    utility: TableUtility = field(repr=False)


class TwoSuspects(TableGame):
    """Membership in pairs: one of two people is in the released table, and the attack scores both.

    Parameters
    ----------
    records : Microdata
        The population.
    pairs : int
        Number of pairs, and of released people.
    auxiliary : int
        Number of other people whom the adversary knows.
    attacker_knows : {"mechanism", "nothing"}
        See `TableGame`.
    """

    takes: ClassVar = {"membership": Decisions}

    def __init__(self, *, records, pairs=100, auxiliary=500, attacker_knows="mechanism"):
        super().__init__(records=records, attacker_knows=attacker_knows)
        self.pairs = pairs
        self.auxiliary = auxiliary
        if len(records) < 2 * (pairs + auxiliary):
            raise ValueError(f"pairs: {2 * (pairs + auxiliary)} people are needed, the table has {len(records)}")

    def draw(self, rng, choice=None):
        """Draw the released people, one stranger for each of them, and the people whom the adversary knows."""
        order = rng.permutation(len(self.records))
        cuts = np.cumsum([self.pairs, self.pairs, self.auxiliary, self.auxiliary])
        members, strangers, others, held_out = (self.records.take(part) for part in np.split(order, cuts)[:4])
        columns = list(self.records.released_columns)
        candidates = pd.concat([members.frame[columns], strangers.frame[columns]], ignore_index=True)
        return Suspects(members, candidates, self.public(others), self.table_utility(members, held_out, rng))

    def knowledge(self, secret, defense):
        """The attack knows all suspects in clear, but not who of them is in the table."""
        return Knowledge(secret.candidates, secret.auxiliary, self.simulation(defense))

    def score(self, secret, published, claims, rng):
        """Share of pairs in which the member has the higher score; a tie counts half."""
        members, strangers = np.split(self.taken(claims).scores, 2)
        rate = float(np.mean((members > strangers) + 0.5 * (members == strangers)))
        return Scores.of(Score("membership", rate, 0.5, self.pairs))

    def utility(self, secret, release):
        """Utility of the release, as in all games on tables."""
        return secret.utility.score(release.frame)
