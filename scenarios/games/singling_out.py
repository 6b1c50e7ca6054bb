"""The singling-out game: predicates that hold of exactly one record of the table."""

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
    """The attacker names predicates; one singles out if exactly one of the originals meets it.

    The control group is a table of as many strangers: a predicate that holds of one in n people singles somebody out
    of any table of n, about 37 times in 100 at best, and says nothing of the release. Rows of the release need not
    stem from records.

    Parameters
    ----------
    records, originals, auxiliary, attacker_knows
        See `ControlGroupGame`; there are as many strangers as originals, so that both tables are equally easy.

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
        """Hand over other people, and the mechanism where the game discloses it; nobody's values in clear."""
        nobody = secret.records.frame.iloc[:0][list(secret.records.released_columns)]
        return Knowledge(nobody, secret.auxiliary, self.simulation(defense))

    def score(self, secret: ControlGroupSecret, published: MicrodataRelease, claims: Claims, rng: Generator) -> Scores:
        """Count the predicates that hold of exactly one original, and of exactly one stranger.

        Returns
        -------
        Scores
            ``singling_out``: share of the predicates that single out an original; chance is the share that single out a
            stranger. Measures: ``risk``, ``risk_low``, ``risk_high``: the rate after control. All are None if no
            predicate was claimed.

        Raises
        ------
        TypeError
            If the claims are no predicates.
        """
        predicates = self.taken(claims).predicates
        made = len(predicates)
        alone, control = (
            sum(int(predicate(people.frame).sum() == 1) for predicate in predicates)
            for people in (secret.records, secret.strangers)
        )
        return controlled("singling_out", alone, made, control, made)
