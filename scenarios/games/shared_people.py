"""One question among several about the same people and the same release."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from defenses.base import Microdata
from metrics.columns import Integers, check_integer, refuse
from scenarios.games.questions.question import Question
from scenarios.games.table_game import QuestionGame


class SharedPeople(QuestionGame):
    """One question about people who are drawn once for all questions of a scenario.

    Each play draws originals, others, the adversary's own people and held-out people, all distinct and uniformly. The
    defense releases the originals once. A scenario that lists several questions puts each to this release. The others
    are decoys, non-members or the control group, as the question has it.

    Parameters
    ----------
    records : Microdata
        The population; at least `originals` + `others` records.
    question : Question
        Says what the adversary knows, and scores its claims.
    originals, others : int
        Number of released people, and of people who are not in the table.
    auxiliary, held_out : int
        Number of the adversary's own people, and of people who test classifiers trained on the release.
    attacker_knows : {"mechanism", "nothing"}
        Whether attacks can read the release's channel and repeat the defense on other records.

    Raises
    ------
    ValueError
        If a number is out of range, the population is too small, or the question cannot be asked about it.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from attacks import NearestNeighbour
    >>> from defenses import Identity, Microdata
    >>> from scenarios import RowQuestion, SharedPeople, play
    >>> records = Microdata(pd.DataFrame({"age": range(18, 78)}), quasi_identifiers=("age",))
    >>> sizes = {"originals": 10, "others": 10, "auxiliary": 20, "held_out": 20}
    >>> game = SharedPeople(records=records, question=RowQuestion(), **sizes)
    >>> outcome = play(Identity(), NearestNeighbour(), game, np.random.default_rng(1))
    >>> outcome.scores["reidentification"].rate
    1.0
    """

    variants = ("question",)
    shares_people = True

    def __init__(
        self,
        *,
        records: Microdata,
        question: Question,
        originals: int = 1000,
        others: int = 1000,
        auxiliary: int = 1000,
        held_out: int = 1000,
        attacker_knows: str = "mechanism",
    ) -> None:
        super().__init__(records=records, auxiliary=auxiliary, held_out=held_out, attacker_knows=attacker_knows)
        self.question = question
        self.originals = check_integer("originals", originals, low=1)
        self.others = check_integer("others", others, low=1)
        needed = originals + others + auxiliary + held_out
        refuse(
            self.units.size < needed,
            f"originals, others, auxiliary and held_out: {needed} people are needed, but the table has "
            f"{self.units.words}",
        )
        question.check(records, originals, others)

    def groups(self, rng: Generator) -> Sequence[Integers]:
        """Draw all people distinct and uniformly."""
        ends = np.cumsum([self.originals, self.others, self.auxiliary, self.held_out])
        return np.split(rng.permutation(self.units.size), ends)[:4]
