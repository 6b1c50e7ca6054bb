"""What games on released tables have in common: shuffled rows, what attackers are handed, anchored utility."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from numpy.random import Generator

from attacks.attack import Knowledge
from defenses.defense import Defense
from defenses.microdata import Microdata
from defenses.release import MicrodataRelease, Release
from metrics.classes import k_anonymity
from metrics.diversity import l_diversity
from metrics.utility import TableUtility, prediction_target
from scenarios.game import Game, Secret


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
    """A game on a released table; a subclass draws and scores."""

    def publish(self, release: Release, rng: Generator) -> Release:
        """Shuffle the rows."""
        return table(release).shuffled(rng)

    def knowledge(self, secret: CandidatesSecret, defense: Defense) -> Knowledge:
        """Hand over the candidates, other people, and the mechanism where the game discloses it."""

        def simulate(records: Microdata, rng: Generator) -> Any:
            return self.publish(defense.clone().apply(records, rng), rng)

        known = simulate if self.attacker_knows == "mechanism" else None
        return Knowledge(secret.candidates.copy(), secret.auxiliary, known)

    def utility(self, secret: TableSecret, release: MicrodataRelease) -> dict[str, float | None]:
        """Anchored utility of the table (`metrics.utility.TableUtility`), and its k and l as measured."""
        roles = secret.records
        measured: dict[str, float | None] = {"k": None, "l": None}
        if roles.quasi_identifiers and len(release.frame):
            measured["k"] = k_anonymity(release.frame, roles.quasi_identifiers)
            if roles.sensitive:
                measured["l"] = min(
                    l_diversity(release.frame, roles.quasi_identifiers, name) for name in roles.sensitive
                )
        return {**secret.utility.score(release.frame), **measured}


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


def table_utility(population: Microdata, records: Microdata, held_out: Microdata, rng: Generator) -> TableUtility:
    """What scores releases of `records`, over the population's domains; `rng` draws its queries."""
    domains = {name: population.domain(name) for name in population.released_columns}
    target = prediction_target(records.sensitive, domains)
    return TableUtility(records.frame, domains, held_out.frame, target, rng)
