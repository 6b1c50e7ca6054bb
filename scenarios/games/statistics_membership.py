"""The membership game on statistics: say who of the candidates is among the records that a curator answers about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.base.attack import Knowledge
from defenses.base.defense import Defense
from defenses.base.queries import Histogram
from defenses.base.release import Release, StatisticsRelease
from scenarios.games.membership import Membership
from scenarios.games.statistics_game import Question, answered_utility
from scenarios.games.table_game import CandidatesSecret


@dataclass(frozen=True)
class StatisticsMembershipSecret(CandidatesSecret):
    """Who was drawn.

    Attributes
    ----------
    member : ndarray of bool, shape (candidates,)
        Which candidates are originals.
    seed : int
        Of the noise in the answers by which utility is measured.
    """

    member: NDArray[np.bool_] = field(repr=False)
    seed: int = field(repr=False)


class StatisticsMembership(Membership):
    """Membership in the records behind statistics: half of the candidates are those that a curator answers about.

    The attacker asks what it wants as long as the curator answers, has the candidates in clear and people of its own,
    and says of each candidate how surely it is a member.

    Parameters
    ----------
    records, members, auxiliary, held_out, attacker_knows
        As in `Membership`.

    References
    ----------
    Homer and others (2008), Resolving individuals contributing trace amounts of DNA to highly complex mixtures.
    """

    accepts: ClassVar[str] = "statistics"
    kind: ClassVar[str] = "statistics"

    def draw(self, rng: Generator, choice: Any = None) -> Any:
        """Draw members, as many others, and bystanders, all different people."""
        people_rng, seed_rng = rng.spawn(2)
        drawn = self.people(people_rng)
        seed = int(seed_rng.integers(2**31))
        return StatisticsMembershipSecret(drawn.records, drawn.candidates, drawn.auxiliary, drawn.member, seed)

    def publish(self, release: Release, rng: Generator) -> Release:
        """Open the curator to questions."""
        return release

    def knowledge(self, secret: CandidatesSecret, defense: Defense) -> Knowledge:
        """Hand over the candidates and other people."""
        return Knowledge(secret.candidates.copy(), self.public(secret.auxiliary))

    def utility(self, secret: Any, release: Any) -> dict[str, float | None]:
        """How near the histograms of all columns come, asked in one session with the budget divided evenly.

        Returns
        -------
        dict
            ``utility_answers``: 1 - (sum of absolute errors) / (the same where each category gets an equal share),
            floored at 0; a refused histogram counts as equal shares.

        Raises
        ------
        TypeError
            If the release is no statistics release.
        """
        if not isinstance(release, StatisticsRelease):
            raise TypeError(f"this game publishes statistics, got a {release.kind} release")
        records = secret.records
        workload = [
            Question(Histogram(name), len(records) / records.domain(name).size) for name in records.released_columns
        ]
        return answered_utility(records, release, workload, secret.seed)
