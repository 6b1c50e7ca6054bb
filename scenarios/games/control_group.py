"""Games with a control group of people who are not in the released table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.random import Generator

from defenses.base import Microdata
from metrics.columns import Integers, check_integer, refuse, require
from scenarios.games.table_game import QuestionGame


class ControlGroupGame(QuestionGame):
    """Abstract game on a released table of originals, with strangers as the control group.

    Originals, strangers and the auxiliary population are disjoint and drawn uniformly from the same population.

    Parameters
    ----------
    records : Microdata
        The population; at least `originals` + `strangers` records.
    originals, strangers : int
        Number of released people, and number of people in the control group.
    auxiliary : int
        Size of the auxiliary population; smaller if the population has too few people left.
    attacker_knows : {"mechanism", "nothing"}
        Whether attacks can read the release's channel and repeat the defense on other records.

    Raises
    ------
    ValueError
        If a number is out of range or the population is too small.
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
        self.originals = originals
        self.strangers = strangers
        check_integer("originals", originals, low=1)
        check_integer("strangers", strangers, low=1)
        refuse(
            len(records) < originals + strangers,
            f"originals and strangers: {originals + strangers} records are needed, but the table has {len(records)}",
        )

    @property
    def others(self) -> int:
        """Number of people drawn besides originals and strangers."""
        return self.auxiliary

    def groups(self, rng: Generator) -> Sequence[Integers]:
        """Draw originals, strangers and the auxiliary population, all distinct and uniformly."""
        targets = self.originals + self.strangers
        drawn = rng.permutation(len(self.records))[: targets + self.others]
        originals, strangers, auxiliary = np.split(drawn, [self.originals, targets])
        # The control group also tests classifiers that are trained on the release.
        return originals, strangers, auxiliary, strangers


def with_sensitive(records: Microdata, column: str | None) -> Microdata:
    """Return the records with `column` as the first sensitive column; unchanged if it is None.

    Raises
    ------
    ValueError
        If the column does not exist or is an identifier, or if it is None and no column is sensitive.
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
