"""Games with a control group of people who are not in the released table."""

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
    """Originals, control group and auxiliary population of one play.

    Attributes
    ----------
    records : Microdata
        The originals.
    strangers : Microdata
        The control group: other people of the same population.
    auxiliary : Microdata
        The auxiliary population: people who are neither originals nor strangers.
    order : ndarray of int, shape (originals + strangers,)
        Order of the targets: positions in the originals followed by the strangers.
    rng : Generator
        Randomness for other parts of this secret. It is only copied, never drawn from.
    query_rng : Generator
        Draws the queries that measure a release's utility. It is only copied, never drawn from.
    """

    records: Microdata = field(repr=False)
    strangers: Microdata = field(repr=False)
    auxiliary: Microdata = field(repr=False)
    order: NDArray[np.intp] = field(repr=False)
    rng: Generator = field(repr=False)
    query_rng: Generator = field(repr=False)

    @property
    def member(self) -> NDArray[np.bool_]:
        """Whether each target is in the table, shape (people,)."""
        return self.order < len(self.records)

    def people(self) -> pd.DataFrame:
        """All targets in clear, in the order of `order`, shape (people, columns)."""
        everybody = pd.concat([self.records.frame, self.strangers.frame], ignore_index=True)
        return everybody.iloc[self.order].reset_index(drop=True)


class ControlGroupGame(TableGame):
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
        super().__init__(records=records, attacker_knows=attacker_knows)
        self.originals = originals
        self.strangers = strangers
        self.auxiliary = auxiliary
        check_integer("originals", originals, low=1)
        check_integer("strangers", strangers, low=1)
        check_integer("auxiliary", auxiliary, low=0)
        if len(records) < originals + strangers:
            raise ValueError(
                f"originals and strangers: {originals + strangers} records are needed, but the table has {len(records)}"
            )

    @property
    def population(self) -> Microdata:
        """The records, with the roles of columns in this game."""
        return self.records

    @property
    def others(self) -> int:
        """Number of people drawn besides originals and strangers."""
        return self.auxiliary

    def draw(self, rng: Generator, choice: Any = None) -> ControlGroupSecret:
        """Draw originals, strangers and the auxiliary population."""
        people_rng, query_rng, order_rng, own_rng = rng.spawn(4)
        population = self.population
        targets = self.originals + self.strangers
        drawn = people_rng.permutation(len(population))[: targets + self.others]
        records = population.take(drawn[: self.originals])
        strangers = population.take(drawn[self.originals : targets])
        return ControlGroupSecret(
            records,
            strangers,
            self.public(population.take(drawn[targets:])),
            order_rng.permutation(targets),
            own_rng,
            query_rng,
        )

    def utility(self, secret: ControlGroupSecret, release: MicrodataRelease) -> dict[str, float | None]:
        """Anchored utility of the table, with strangers as the test set of classifiers, and its measured k and l."""
        utility = self.table_utility(secret.records, secret.strangers, deepcopy(secret.query_rng))
        return table_worth(utility, secret.records, release)


def controlled(
    goal: str,
    successes: float,
    trials: int,
    control_successes: float,
    control_trials: int,
    **measures: float | None,
) -> Scores:
    """Scores of one goal with a control group; rate and chance are None if either group is empty.

    Parameters
    ----------
    goal : str
        The attack's goal.
    successes, trials : float, int
        Successes and trials of the attack on people in the table.
    control_successes, control_trials : float, int
        Successes and trials of the same attack on the control group.
    **measures : float or None
        Further measures to report.

    Returns
    -------
    Scores
        The goal's rate; its chance is the rate on the control group. Measures: ``risk``, ``risk_low`` and
        ``risk_high``, the rate after control (`metrics.control.risk_after_control`), and the given ones.
    """
    if not trials or not control_trials:
        empty = Score(goal, None, None, trials, control_trials)
        return Scores.of(empty, risk=None, risk_low=None, risk_high=None, **measures)
    risk = risk_after_control(successes, trials, control_successes, control_trials)
    score = Score(goal, successes / trials, control_successes / control_trials, trials, control_trials)
    return Scores.of(score, risk=risk.value, risk_low=risk.low, risk_high=risk.high, **measures)


def with_sensitive(records: Microdata, column: str | None) -> Microdata:
    """Return the records with `column` as the first sensitive column; unchanged if it is None.

    Raises
    ------
    ValueError
        If the column does not exist or is an identifier, or if it is None and no column is sensitive.
    """
    if column is None:
        if not records.sensitive:
            raise ValueError("sensitive: the table has no sensitive column; name one")
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
