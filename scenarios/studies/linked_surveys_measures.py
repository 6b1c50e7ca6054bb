"""Measurements of linked surveys: likelihoods of all people, multiplied over the surveys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from defenses.base.microdata import Microdata
from defenses.ldp.reported_table import ReportedTable
from metrics.arrays import Floats
from scenarios.studies.measuring import Losses, by_play
from scenarios.studies.shipped_records import shipped_records
from scenarios.tables.seeds import generator

# Number of people among whom the right one is looked for, beside the first.
SHORTLIST = 10


@dataclass(frozen=True)
class SurveysResult:
    """Re-identification after each survey, under one protocol, splitting and epsilon.

    Attributes
    ----------
    protocol, splitting : str
        The protocol and the use of the budget.
    epsilon : float
        Privacy of a person in one survey.
    right, listed, predicted : ndarray of float, shape (plays, surveys)
        Share of people who are most likely for their own reports, and who are among the ten most likely; ties are
        broken at random. Mean posterior of the most likely.
    """

    protocol: str
    splitting: str
    epsilon: float
    right: Floats
    listed: Floats
    predicted: Floats


def linked_population(dataset: str, columns: Sequence[str], persons: int) -> Microdata:
    """The columns of a shipped data set.

    Raises
    ------
    ValueError
        If there is no such data set or column, or fewer people without a missing value.
    """
    records = shipped_records(dataset, columns)
    frame = records.frame[list(columns)].dropna().reset_index(drop=True)
    if len(frame) < persons:
        raise ValueError(f"persons: {persons} are needed, but {dataset!r} has {len(frame)}")
    return Microdata(frame, quasi_identifiers=tuple(columns), domains={name: records.domains[name] for name in columns})


def measure_surveys(
    population: Microdata,
    persons: int,
    surveys: int,
    protocol: str,
    splitting: str,
    epsilon: float,
    plays: int,
    seed: int,
) -> SurveysResult:
    """Survey `plays` draws of people; people and asked columns are the same for all protocols and splittings.

    Parameters
    ----------
    population : Microdata
        All people.
    persons, surveys : int
        Number of people and of surveys in a play.
    protocol, splitting : str
        See `ReportedTable`.
    epsilon : float
        Privacy of a person in one survey.
    plays : int
        Number of draws.
    seed : int
        Seed of all randomness.
    """
    names = population.released_columns
    shape = (plays, surveys)
    right, listed, predicted = np.empty(shape), np.empty(shape), np.empty(shape)
    for play in range(plays):
        people_rng = generator(seed, "linked-surveys", "people", play)
        people = population.take(people_rng.choice(len(population), persons, replace=False))
        sizes = people_rng.integers((len(names) + 1) // 2, len(names) + 1, size=surveys)
        asked = [sorted(people_rng.choice(len(names), size, replace=False)) for size in sizes]
        rng = generator(seed, "linked-surveys", protocol, splitting, repr(epsilon), play)
        logs = np.zeros((persons, persons))
        for survey, (positions, survey_rng) in enumerate(zip(asked, rng.spawn(surveys), strict=True)):
            defense = ReportedTable(
                protocol=protocol,
                epsilon=epsilon,
                splitting=splitting,
                amplified=splitting == "RS+FD",
                columns=[names[position] for position in positions],
                missing="refuse",
            )
            report_rng, tie_rng = survey_rng.spawn(2)
            logs += _log_likelihood(defense, people, report_rng)
            right[play, survey], listed[play, survey], predicted[play, survey] = _matched(logs, tie_rng)
    return SurveysResult(protocol, splitting, epsilon, right, listed, predicted)


def losses_of_surveys(result: SurveysResult) -> Losses:
    """Share of people who are re-identified after the last survey, in each play."""
    return by_play(success=result.right[:, -1].tolist())


def _log_likelihood(defense: ReportedTable, people: Microdata, rng: Generator) -> Floats:
    """Log-likelihood of each row of reports under each person, shape (persons, persons)."""
    assert defense.columns is not None  # noqa: S101 (the caller names them)
    asked = people.frame[list(defense.columns)]
    release = defense.apply(people, rng)
    assert release.channel is not None  # noqa: S101 (reports have a channel)
    parts = release.channel.likelihoods(release.frame[list(defense.columns)], asked, dict(people.domains))
    return np.asarray(sum(part.table() for part in parts.values()))


def _matched(logs: Floats, rng: Generator) -> tuple[float, float, float]:
    """Shares of rows whose own person is first, and among the first ten; mean largest posterior."""
    own = np.diag(logs)[:, None]
    # Log-likelihoods of equal people differ by rounding errors.
    tolerance = 1e-9 * np.maximum(1.0, np.abs(own))
    better, tied = (logs > own + tolerance).sum(axis=1), (np.abs(logs - own) <= tolerance).sum(axis=1)
    rank = better + rng.integers(tied)
    posterior = np.exp(logs - logs.max(axis=1, keepdims=True))
    return float((rank == 0).mean()), float((rank < SHORTLIST).mean()), float((1 / posterior.sum(axis=1)).mean())
