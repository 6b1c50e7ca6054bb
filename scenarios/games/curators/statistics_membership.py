"""The membership inference game on a curator that answers statistics."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from numpy.random import Generator

from attacks.base import Knowledge
from defenses import Defense, Release, StatisticsRelease
from defenses.base.queries import Histogram
from scenarios.games.curators.statistics_game import AnalystQuery, answered_utility
from scenarios.games.membership import Membership
from scenarios.games.people import Drawn


@dataclass(frozen=True)
class StatisticsMembershipSecret(Drawn):
    """Members and candidates of one play.

    Attributes
    ----------
    seed : int
        Seed of the noise in the answers that measure utility.
    """

    seed: int = field(repr=False)


class StatisticsMembership(Membership):
    """Membership inference on statistics: half of the candidates are the records of a curator.

    The adversary asks any queries until the curator refuses. It knows the candidates in clear and the auxiliary
    population, and scores how likely each candidate is a member.

    Parameters
    ----------
    records, members, auxiliary, held_out, attacker_knows
        See `Membership`.

    References
    ----------
    Homer and others (2008), Resolving individuals contributing trace amounts of DNA to highly complex mixtures.
    """

    accepts: ClassVar[str] = "statistics"
    kind: ClassVar[str] = "statistics"

    def draw(self, rng: Generator, choice: Any = None) -> Any:
        """Draw members, as many non-members, and the auxiliary population, all distinct."""
        people_rng, seed_rng = rng.spawn(2)
        drawn, _ = self.people(people_rng)
        seed = int(seed_rng.integers(2**31))
        return StatisticsMembershipSecret(**vars(drawn), seed=seed)

    def publish(self, release: Release, rng: Generator) -> Release:
        """Return the release unchanged; attacks query it."""
        return release

    def knowledge(self, secret: Drawn, defense: Defense) -> Knowledge:
        """Give the candidates and the auxiliary population; the curator's mechanism is not repeated."""
        return Knowledge(secret.candidates, secret.auxiliary)

    def utility(self, secret: Any, release: Any) -> dict[str, float | None]:
        """Accuracy of the histograms of all columns, asked in one session with an evenly divided budget.

        Returns
        -------
        dict
            ``utility_answers``: max(0, 1 - E/E_0), with E the sum of absolute errors of the histograms, and E_0 that of
            uniform histograms. A refused histogram counts as uniform.

        Raises
        ------
        TypeError
            If the release is not a statistics release.
        """
        if not isinstance(release, StatisticsRelease):
            raise TypeError(f"this game publishes statistics, got a {release.kind} release")
        records = secret.records
        workload = [
            AnalystQuery(Histogram(name), len(records) / records.domain(name).size) for name in records.released_columns
        ]
        return answered_utility(records, release, workload, secret.seed)
