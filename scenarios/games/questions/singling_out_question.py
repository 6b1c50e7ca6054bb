"""Question of singling out: whether a predicate holds for one person alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import pandas as pd
from numpy.random import Generator

from attacks import Claims, Predicates
from attacks.criteria.atomic_predicates import records_met
from defenses import Microdata, MicrodataRelease
from metrics.columns import Booleans, refuse
from metrics.score import Scores
from scenarios.games.people import Drawn
from scenarios.games.questions.question import Question, controlled


class SinglingOutQuestion(Question):
    """Singling out: the adversary claims predicates, and one succeeds if it holds for exactly one original.

    The control group is a table of as many other people. Without the release, a predicate isolates somebody in a table
    of n people with a probability of at most about 0.37. The best predicate holds for one person in n.

    References
    ----------
    Cohen and Nissim (2020), Towards formalizing the GDPR's notion of singling out; Giomi, Boenisch, Wehmeyer and
    Tasnádi (2023), A unified framework for quantifying privacy risk in synthetic data, section 4.1.

    Examples
    --------
    >>> SinglingOutQuestion()
    SinglingOutQuestion()
    """

    takes: ClassVar[Mapping[str, type[Claims]]] = {"singling_out": Predicates}
    names_people: ClassVar[bool] = False

    def check(self, records: Microdata, originals: int, others: int) -> None:
        """Refuse tables of unequal sizes, in which isolation is not equally likely."""
        refuse(
            originals != others, f"others must be as many as originals to be singled out, got {others} and {originals}"
        )

    def isolated(self, predicates: Sequence[Callable[[pd.DataFrame], Booleans]], people: Microdata) -> int:
        """Number of predicates that hold for exactly one record."""
        return records_met(predicates, people.frame).count(1)

    def score(self, people: Drawn, published: MicrodataRelease, claims: Predicates, rng: Generator) -> Scores:
        """Count the predicates that hold for exactly one original, and for exactly one of the others.

        Returns
        -------
        Scores
            ``singling_out``: share of the predicates that isolate an original; chance is the share that isolate one of
            the others. Measures: ``risk``, ``risk_low``, ``risk_high``: the rate after control. All are None if no
            predicate was claimed.
        """
        predicates = claims.predicates
        isolated, isolated_others = (self.isolated(predicates, side) for side in (people.records, people.others))
        return controlled("singling_out", isolated, len(predicates), isolated_others, len(predicates))
