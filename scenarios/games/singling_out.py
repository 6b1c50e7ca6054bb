"""The singling-out game: predicates that isolate one record of the table."""

from __future__ import annotations

from defenses.base import Microdata
from scenarios.games.control_group import ControlGroupGame
from scenarios.games.questions.singling_out_question import SinglingOutQuestion


class SinglingOut(ControlGroupGame):
    """Singling out: the adversary claims predicates, and one succeeds if it holds for exactly one original.

    The control group is a table of as many strangers. Without the release, a predicate isolates somebody in a table of
    n people with a probability of at most about 0.37. The best predicate holds for one person in n. Rows of the release
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

    question = SinglingOutQuestion()

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
