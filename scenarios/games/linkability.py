"""The linkability game: link two parts of a record through the release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from defenses.base import Microdata
from scenarios.games.control_group import ControlGroupGame
from scenarios.games.questions.link_question import LinkQuestion


class Linkability(ControlGroupGame):
    """Linkability: two files hold different columns of the same people, and a released row may link both parts.

    A person is linked if both parts of its record lead to a common released row. Both files hold the originals and the
    strangers, in different orders. Strangers are the control group: their parts lead to a common row by chance, or
    because the row is typical. Rows of the release need not stem from records.

    Parameters
    ----------
    records, originals, strangers, auxiliary, attacker_knows
        See `ControlGroupGame`.
    parts : mapping of str to sequence of str, optional
        Columns of the ``first`` and the ``second`` file. By default the first and the second half of the released
        columns.

    Raises
    ------
    ValueError
        If a number is out of range, the population is too small, or the parts are not two disjoint sets of columns.

    References
    ----------
    Giomi, Boenisch, Wehmeyer and Tasnádi (2023), A unified framework for quantifying privacy risk in synthetic data,
    section 4.2.
    """

    def __init__(
        self,
        *,
        records: Microdata,
        parts: Mapping[str, Sequence[str]] | None = None,
        originals: int = 500,
        strangers: int = 500,
        auxiliary: int = 1000,
        attacker_knows: str = "mechanism",
    ) -> None:
        super().__init__(
            records=records,
            originals=originals,
            strangers=strangers,
            auxiliary=auxiliary,
            attacker_knows=attacker_knows,
        )
        self.parts = parts
        self.question = LinkQuestion(parts=parts)
        self.question.check(records, originals, strangers)
