"""The attribute inference game: infer sensitive values from quasi-identifiers and a release."""

from __future__ import annotations

from functools import cached_property

from defenses.base import Microdata
from scenarios.games.control_group import ControlGroupGame, with_sensitive
from scenarios.games.questions.attribute_question import AttributeQuestion


class AttributeInference(ControlGroupGame):
    """Attribute inference: the adversary knows quasi-identifiers and infers the sensitive value.

    The targets are all people in the table and a control group of strangers, in random order. What an attack infers
    about strangers follows from statistics of the population alone and is not a leak. A number is inferred correctly if
    the answer lies in the same public bin.

    Parameters
    ----------
    records, originals, strangers, auxiliary, attacker_knows
        See `ControlGroupGame`.
    sensitive : str, optional
        The column to infer, by default the first sensitive one. Defenses treat it as sensitive too.

    Raises
    ------
    ValueError
        If a number is out of range, the population is too small, the sensitive column is missing, or no
        quasi-identifier is left.
    """

    question = AttributeQuestion()

    def __init__(
        self,
        *,
        records: Microdata,
        sensitive: str | None = None,
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
        self.sensitive = sensitive
        self.question.check(self.population, originals, strangers)

    @cached_property
    def population(self) -> Microdata:
        """The records, with the column to infer as the first sensitive one."""
        return with_sensitive(self.records, self.sensitive)
