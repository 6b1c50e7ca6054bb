"""The singling-out game: predicates that isolate one record of the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from numpy.random import Generator

from attacks.base.attack import Knowledge
from attacks.base.claims import Claims, Predicates
from defenses.base.defense import Defense
from defenses.base.microdata import Microdata
from defenses.base.release import MicrodataRelease
from metrics.score import Scores
from scenarios.games.control_group import ControlGroupGame, ControlGroupSecret, controlled


class SinglingOut(ControlGroupGame):
    """Singling out: the adversary claims predicates, and one succeeds if it holds for exactly one original.

    The control group is a table of as many strangers. Without the release, a predicate isolates somebody in a table of
    n people with a probability of at most about 0.37; the best predicate holds for one person in n. Rows of the release
    need not stem from records.

    Parameters
    ----------
    records, originals, auxiliary, attacker_knows
        See `ControlGroupGame`. There are as many strangers as originals, so isolation is equally likely in both tables.

    References
    ----------
    Cohen and Nissim (2020), Towards formalizing the GDPR's notion of singling out; Giomi, Boenisch, Wehmeyer and
    Tasnádi (2023), A unified framework for quantifying privacy risk in synthetic data, section 4.1.
    """

    takes: ClassVar[Mapping[str, type[Claims]]] = {"singling_out": Predicates}

    def __init__(
        self,
        *,
        records: Microdata,
        originals: int = 500,
        auxiliary: int = 1000,
        attacker_knows: str = "mechanism",
    ) -> None:
        super().__init__(
            records=records,
            originals=originals,
            strangers=originals,
            auxiliary=auxiliary,
            attacker_knows=attacker_knows,
        )

    def knowledge(self, secret: ControlGroupSecret, defense: Defense) -> Knowledge:
        """Give the auxiliary population, and the mechanism if the game discloses it; there are no candidates."""
        no_candidates = secret.records.frame.iloc[:0][list(secret.records.released_columns)]
        return Knowledge(no_candidates, secret.auxiliary, self.simulation(defense))

    def score(self, secret: ControlGroupSecret, published: MicrodataRelease, claims: Claims, rng: Generator) -> Scores:
        """Count the predicates that hold for exactly one original, and for exactly one stranger.

        Returns
        -------
        Scores
            ``singling_out``: share of the predicates that isolate an original; chance is the share that isolate a
            stranger. Measures: ``risk``, ``risk_low``, ``risk_high``: the rate after control. All are None if no
            predicate was claimed.

        Raises
        ------
        TypeError
            If the claims are not predicates.
        """
        predicates = self.taken(claims).predicates
        isolated, isolated_strangers = (
            sum(int(predicate(people.frame).sum() == 1) for predicate in predicates)
            for people in (secret.records, secret.strangers)
        )
        return controlled("singling_out", isolated, len(predicates), isolated_strangers, len(predicates))
