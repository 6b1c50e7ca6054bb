"""Games with a control group: attacks are held against what they reach on people who are not in the table."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base.microdata import Microdata
from defenses.base.parameters import check_integer
from defenses.base.release import MicrodataRelease
from metrics.control import risk_after_control
from metrics.score import Score, Scores
from scenarios.games.game import Secret
from scenarios.games.table_game import TableGame
from scenarios.games.table_worth import table_worth


@dataclass(frozen=True)
class ControlGroupSecret(Secret):
    """Who was drawn.

    Attributes
    ----------
    records : Microdata
        The originals.
    strangers : Microdata
        The control group: other people of the same population.
    auxiliary : Microdata
        Yet other people, for the attacker.
    order : ndarray of int, shape (originals + strangers,)
        The order in which the attacker meets them: positions among the originals, then the strangers.
    rng : Generator
        For whatever else belongs to this secret; never drawn from, only copied.
    query_rng : Generator
        Draws the queries by which a release's utility is measured; never drawn from, only copied.
    """

    records: Microdata = field(repr=False)
    strangers: Microdata = field(repr=False)
    auxiliary: Microdata = field(repr=False)
    order: NDArray[np.intp] = field(repr=False)
    rng: Generator = field(repr=False)
    query_rng: Generator = field(repr=False)

    @property
    def member(self) -> NDArray[np.bool_]:
        """Whether each person that the attacker meets is in the table, shape (people,)."""
        return self.order < len(self.records)

    def people(self) -> pd.DataFrame:
        """Everybody that the attacker meets, in clear and in that order, shape (people, columns)."""
        everybody = pd.concat([self.records.frame, self.strangers.frame], ignore_index=True)
        return everybody.iloc[self.order].reset_index(drop=True)


class ControlGroupGame(TableGame):
    """A game on a table of originals with as many strangers as a control group.

    Originals, strangers and the attacker's own people are all different, and drawn alike.

    Parameters
    ----------
    records : Microdata
        The population; at least `originals` + `strangers` records.
    originals, strangers : int
        How many people are released, and how many make the control group.
    auxiliary : int
        How many further people the attacker has for studying; fewer where the population runs out.
    attacker_knows : {"mechanism", "nothing"}
        Whether attackers read the release's channel and may repeat the defense on records of their own.

    Raises
    ------
    ValueError
        If a number is out of range or the population too small.
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
        super().__init__(records=records, attacker_knows=attacker_knows)
        self.originals = originals
        self.strangers = strangers
        self.auxiliary = auxiliary
        check_integer("originals", originals, low=1)
        check_integer("strangers", strangers, low=1)
        check_integer("auxiliary", auxiliary, low=0)
        if len(records) < originals + strangers:
            raise ValueError(
                f"originals and strangers: {originals + strangers} records are needed, the table has {len(records)}"
            )

    @property
    def population(self) -> Microdata:
        """The records under the roles that the game gives them."""
        return self.records

    @property
    def others(self) -> int:
        """How many people are drawn besides originals and strangers."""
        return self.auxiliary

    def draw(self, rng: Generator, choice: Any = None) -> ControlGroupSecret:
        """Draw originals, strangers and the attacker's own people."""
        people_rng, query_rng, order_rng, own_rng = rng.spawn(4)
        population = self.population
        met = self.originals + self.strangers
        drawn = people_rng.permutation(len(population))[: met + self.others]
        records = population.take(drawn[: self.originals])
        strangers = population.take(drawn[self.originals : met])
        return ControlGroupSecret(
            records,
            strangers,
            self.public(population.take(drawn[met:])),
            order_rng.permutation(met),
            own_rng,
            query_rng,
        )

    def utility(self, secret: ControlGroupSecret, release: MicrodataRelease) -> dict[str, float | None]:
        """Anchored utility of the table, classifiers being tested on the strangers, and its k and l as measured."""
        utility = self.table_utility(secret.records, secret.strangers, deepcopy(secret.query_rng))
        return table_worth(utility, secret.records, release.frame)


def controlled(
    goal: str,
    successes: float,
    trials: int,
    control_successes: float,
    control_trials: int,
    **measures: float | None,
) -> Scores:
    """Scores of a goal with a control group; rate and chance are None if either group is empty.

    Returns
    -------
    Scores
        The goal's rate; its chance is the same attack's rate on the control group. Measures: ``risk``, ``risk_low`` and
        ``risk_high``, the rate after control (`metrics.control.risk_after_control`), and those given.
    """
    if not trials or not control_trials:
        empty = Score(goal, None, None, trials, control_trials)
        return Scores.of(empty, risk=None, risk_low=None, risk_high=None, **measures)
    risk = risk_after_control(successes, trials, control_successes, control_trials)
    score = Score(goal, successes / trials, control_successes / control_trials, trials, control_trials)
    return Scores.of(score, risk=risk.value, risk_low=risk.low, risk_high=risk.high, **measures)


def with_sensitive(records: Microdata, column: str | None) -> Microdata:
    """Records whose first sensitive column is `column`, whatever its role was; unchanged where None.

    Raises
    ------
    ValueError
        If there is no such column, it names a person, or None is given and no column is sensitive.
    """
    if column is None:
        if not records.sensitive:
            raise ValueError("sensitive: no column of the table is sensitive; name one")
        return records
    if column not in records.released_columns:
        raise ValueError(
            f"sensitive: there is no released column {column!r}; released are {', '.join(records.released_columns)}"
        )
    return replace(
        records,
        quasi_identifiers=tuple(name for name in records.quasi_identifiers if name != column),
        sensitive=(column, *(name for name in records.sensitive if name != column)),
    )
