"""Games with a control group of people who are not in the released table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.random import Generator

from defenses.base import Microdata
from metrics.columns import Integers, check_integer, refuse, require
from scenarios.games.questions.attribute_question import AttributeQuestion
from scenarios.games.questions.person_questions import LinkQuestion, SinglingOutQuestion
from scenarios.games.table_game import QuestionGame


class ControlGroupGame(QuestionGame):
    """Abstract game on a released table of originals, with strangers as the control group.

    Originals, strangers and the auxiliary population are disjoint and drawn uniformly from the same population. A
    ValueError is raised if a number is out of range or the population is too small.

    - records: The population; at least `originals` + `strangers` records.
    - originals, strangers: Number of released people, and number of people in the control group.
    - auxiliary: Size of the auxiliary population; smaller if the population has too few people left.
    - attacker_knows, {"mechanism", "nothing"}: Whether attacks can read the release's channel and repeat the defense on
      other records.
    """

    def __init__(
        self,
        *,
        records: Microdata,
        originals: int = 500,
        strangers: int = 500,
        auxiliary: int = 1000,
        attacker_knows: str = "mechanism",
    ) -> None:
        super().__init__(records=records, auxiliary=auxiliary, attacker_knows=attacker_knows)
        self.originals = check_integer("originals", originals, low=1)
        self.strangers = check_integer("strangers", strangers, low=1)
        needed = originals + strangers
        refuse(
            self.units.size < needed,
            f"originals and strangers: {needed} records are needed, but the table has {self.units.words}",
        )

    @property
    def others(self) -> int:
        """Number of people drawn besides originals and strangers."""
        return self.auxiliary

    def groups(self, rng: Generator) -> Sequence[Integers]:
        """Draw originals, strangers and the auxiliary population, all distinct and uniformly."""
        targets = self.originals + self.strangers
        drawn = rng.permutation(self.units.size)[: targets + self.others]
        originals, strangers, auxiliary = np.split(drawn, [self.originals, targets])
        # The control group also tests classifiers that are trained on the release.
        return originals, strangers, auxiliary, strangers


def with_sensitive(records: Microdata, column: str | None) -> Microdata:
    """Return the records with `column` as the first sensitive column; unchanged if it is None.

    Raises ValueError if the column does not exist or is an identifier, or if it is None and no column is sensitive.
    """
    if column is None:
        require(records.sensitive, "sensitive: the table has no sensitive column; name one")
        return records
    records.check_released("sensitive", column)
    return replace(
        records,
        quasi_identifiers=tuple(name for name in records.quasi_identifiers if name != column),
        sensitive=(column, *(name for name in records.sensitive if name != column)),
    )


# The attribute inference game: infer sensitive values from quasi-identifiers and a release.


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


# The linkability game: link two parts of a record through the release.


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


# The singling-out game: predicates that isolate one record of the table.


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
