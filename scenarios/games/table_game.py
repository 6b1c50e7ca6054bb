"""Base of games on released tables."""

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
from metrics.table_utility import TableUtility, prediction_target
from scenarios.games.game import Game, Secret, check_attacker_knows
from scenarios.games.table_worth import table_worth


@dataclass(frozen=True)
class CandidatesSecret(Secret):
    """Originals, candidates and auxiliary population of one play.

    Attributes
    ----------
    records : Microdata
        The originals.
    candidates : DataFrame, shape (candidates, columns)
        The candidates in clear.
    auxiliary : Microdata
        The auxiliary population.
    """

    records: Microdata = field(repr=False)
    candidates: pd.DataFrame = field(repr=False)
    auxiliary: Microdata = field(repr=False)


@dataclass(frozen=True)
class TableSecret(CandidatesSecret):
    """People of one play, and the utility measure of releases of the originals.

    Attributes
    ----------
    utility : TableUtility
        Measures the utility of releases of the originals.
    """

    utility: TableUtility = field(repr=False)


class TableGame(Game):
    """Abstract game on a released table with rows in random order; a subclass draws and scores.

    Parameters
    ----------
    records : Microdata
        The population.
    attacker_knows : {"mechanism", "nothing"}
        Whether attacks can read the release's channel and repeat the defense on other records.

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
        """Public domains of the released columns: declared ones, otherwise inferred from the population."""
        return {name: self.records.domain(name) for name in self.records.released_columns}

    def public(self, people: Microdata) -> Microdata:
        """Return the same people with the public domains of all columns."""
        return replace(people, domains={**people.domains, **self.domains})

    def publish(self, release: Release, rng: Generator) -> Release:
        """Put the rows in random order."""
        return table(release).shuffled(rng)

    def simulation(self, defense: Defense) -> Callable[[Microdata, Generator], Any] | None:
        """Function that repeats defense and publication on other records; None if the mechanism is not disclosed."""

        def simulate(records: Microdata, rng: Generator) -> Any:
            return self.publish(defense.clone().apply(records, rng), rng)

        return simulate if self.attacker_knows == "mechanism" else None

    def table_utility(self, records: Microdata, held_out: Microdata, rng: Generator) -> TableUtility:
        """Utility measure of releases of `records`; `held_out` tests classifiers, and `rng` draws queries."""
        target = prediction_target(records.sensitive, self.domains)
        return TableUtility(records.frame, self.domains, held_out.frame, target, rng)


class CandidatesGame(TableGame):
    """Abstract game on a released table with candidates in clear; a subclass draws and scores.

    Parameters
    ----------
    records : Microdata
        The population; at least one column is not an identifier.
    auxiliary, held_out : int
        Size of the auxiliary population, and number of people who test classifiers trained on the release. A small
        population gives fewer.
    attacker_knows : {"mechanism", "nothing"}
        See `TableGame`.

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
            raise ValueError("records: every column is an identifier, so nothing would be released")
        self.auxiliary = auxiliary
        self.held_out = held_out

    def knowledge(self, secret: CandidatesSecret, defense: Defense) -> Knowledge:
        """Give the candidates, the auxiliary population, and the mechanism if the game discloses it."""
        return Knowledge(secret.candidates.copy(), self.public(secret.auxiliary), self.simulation(defense))

    def utility(self, secret: TableSecret, release: MicrodataRelease) -> dict[str, float | None]:
        """Anchored utility of the table (`metrics.table_utility.TableUtility`), and its measured k and l."""
        return table_worth(secret.utility, secret.records, release)


def table(release: Release) -> MicrodataRelease:
    """Check that a release is a table, and return it.

    Raises
    ------
    TypeError
        If the release is of another kind.
    """
    if not isinstance(release, MicrodataRelease):
        raise TypeError(f"this game publishes a table, got a {release.kind} release")
    return release
