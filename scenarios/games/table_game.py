"""What games on released tables have in common: shuffled rows, what attackers are handed, anchored utility."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pandas as pd
from numpy.random import Generator

from attacks.base.attack import Knowledge
from defenses.base.defense import Defense
from defenses.base.microdata import Microdata
from defenses.base.parameters import check_integer
from defenses.base.release import MicrodataRelease, Release
from metrics.domains import Domain
from metrics.utility import TableUtility, prediction_target
from scenarios.games.game import Game, Secret, check_attacker_knows
from scenarios.games.table_worth import table_worth


@dataclass(frozen=True)
class CandidatesSecret(Secret):
    """Who was drawn.

    Attributes
    ----------
    records : Microdata
        The originals.
    candidates : DataFrame, shape (candidates, columns)
        People in clear, among whom the attacker looks.
    auxiliary : Microdata
        Other people, for the attacker.
    """

    records: Microdata = field(repr=False)
    candidates: pd.DataFrame = field(repr=False)
    auxiliary: Microdata = field(repr=False)


@dataclass(frozen=True)
class TableSecret(CandidatesSecret):
    """Who was drawn, and what releases of them are worth.

    Attributes
    ----------
    utility : TableUtility
        Scores releases of the originals.
    """

    utility: TableUtility = field(repr=False)


class TableGame(Game):
    """A game on a released table; a subclass draws and scores.

    Parameters
    ----------
    records : Microdata
        The population.
    attacker_knows : {"mechanism", "nothing"}
        Whether attackers read the release's channel and may repeat the defense on records of their own.

    Raises
    ------
    ValueError
        If a parameter is refused.
    """

    def __init__(self, *, records: Microdata, attacker_knows: str) -> None:
        check_attacker_knows(attacker_knows)
        self.records = records
        self.attacker_knows = attacker_knows

    @cached_property
    def domains(self) -> dict[str, Domain]:
        """Domains of the released columns, which everybody knows: the declared ones, else what the population shows."""
        return {name: self.records.domain(name) for name in self.records.released_columns}

    def public(self, people: Microdata) -> Microdata:
        """The same people with the public domains of all columns, as attackers are handed them."""
        return replace(people, domains={**people.domains, **self.domains})

    def publish(self, release: Release, rng: Generator) -> Release:
        """Shuffle the rows."""
        return table(release).shuffled(rng)

    def simulation(self, defense: Defense) -> Callable[[Microdata, Generator], Any] | None:
        """What repeats defense and publication on other records, where the game discloses the mechanism."""

        def simulate(records: Microdata, rng: Generator) -> Any:
            return self.publish(defense.clone().apply(records, rng), rng)

        return simulate if self.attacker_knows == "mechanism" else None

    def table_utility(self, records: Microdata, held_out: Microdata, rng: Generator) -> TableUtility:
        """What scores releases of `records`; classifiers are tested on those held out, and `rng` draws queries."""
        target = prediction_target(records.sensitive, self.domains)
        return TableUtility(records.frame, self.domains, held_out.frame, target, rng)


class CandidatesGame(TableGame):
    """A game on a released table and people in clear, among whom the attacker looks; a subclass draws and scores.

    Parameters
    ----------
    records : Microdata
        The population; some columns are no identifiers.
    auxiliary, held_out : int
        How many further people the attacker has for studying, and how many test what classifiers learn from the
        release; fewer where the population runs out.
    attacker_knows : {"mechanism", "nothing"}
        As in `TableGame`.

    Raises
    ------
    ValueError
        If a parameter is refused.
    """

    def __init__(self, *, records: Microdata, auxiliary: int, held_out: int, attacker_knows: str) -> None:
        check_integer("auxiliary", auxiliary, low=0)
        check_integer("held_out", held_out, low=0)
        super().__init__(records=records, attacker_knows=attacker_knows)
        if not records.released_columns:
            raise ValueError("records: every column is an identifier, so that nothing would be released")
        self.auxiliary = auxiliary
        self.held_out = held_out

    def knowledge(self, secret: CandidatesSecret, defense: Defense) -> Knowledge:
        """Hand over the candidates, other people, and the mechanism where the game discloses it."""
        return Knowledge(secret.candidates.copy(), self.public(secret.auxiliary), self.simulation(defense))

    def utility(self, secret: TableSecret, release: MicrodataRelease) -> dict[str, float | None]:
        """Anchored utility of the table (`metrics.utility.TableUtility`), and its k and l as measured."""
        return table_worth(secret.utility, secret.records, release.frame)


def table(release: Release) -> MicrodataRelease:
    """The release as a table.

    Raises
    ------
    TypeError
        If it is of another kind.
    """
    if not isinstance(release, MicrodataRelease):
        raise TypeError(f"this game publishes tables, got a {release.kind} release")
    return release
