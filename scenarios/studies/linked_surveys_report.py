"""Report of linked surveys: guesses of one value in theory, and re-identification by protocol and splitting."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from defenses.base.microdata import Microdata
from defenses.ldp.local_reports import LocalReports
from defenses.ldp.pure_oracle import PureOracle
from leaderboard.pages.number_text import counted, exact
from leaderboard.pages.report import Section, Table, Value
from scenarios.studies.linked_surveys_measures import SHORTLIST, SurveysResult


def guess_section(population: Microdata, protocols: Sequence[str], levels: Sequence[float]) -> Section:
    """Closed forms of the best guess of one value from one report, mean over the columns."""
    rows: list[list[Value]] = []
    for name in protocols:
        row: list[Value] = [name]
        for level in levels:
            oracles = [
                LocalReports(protocol=name, epsilon=level).protocol_for(population.domains[column].size)
                for column in population.released_columns
            ]
            guesses = [protocol.best_guess for protocol in oracles if isinstance(protocol, PureOracle)]
            row.append(100 * float(np.mean(guesses)) if guesses else None)
        rows.append(row)
    return Section(
        "One value from one report",
        (
            "The best guess of a uniformly distributed value is right with this probability, by the protocol's closed "
            "form. Optimized unary encoding and local hashing stay near 1/2, since they drop the own value half of the "
            "time.",
        ),
        (
            Table(
                "Right guesses, percent",
                ("protocol", *(f"ε = {level:g}" for level in levels)),
                rows,
                note=f"Mean over the {len(population.released_columns)} columns.",
            ),
        ),
    )


def splitting_section(splitting: str, results: Sequence[Sequence[SurveysResult]], persons: int, plays: int) -> Section:
    """Re-identification under one splitting, by protocol, epsilon and number of surveys."""
    surveys = results[0][0].right.shape[1]
    rows: list[list[Value]] = []
    for protocol in results:
        for result in protocol:
            last = result.right[:, -1]
            error = None if plays == 1 else 2 * 100 * float(last.std(ddof=1) / np.sqrt(plays))
            rows.append(
                [
                    result.protocol,
                    result.epsilon,
                    100 * float(result.right[:, 0].mean()),
                    100 * float(last.mean()),
                    error,
                    100 * float(result.predicted[:, -1].mean()),
                    100 * float(result.listed[:, -1].mean()),
                ]
            )
    return Section(
        f"Splitting {splitting}",
        ("The predicted rate is the mean posterior of the most likely person: the product of the likelihoods.",),
        (
            Table(
                f"Re-identified among {persons} persons, percent",
                (
                    "protocol",
                    "ε a survey",
                    "1 survey",
                    counted(surveys, "survey"),
                    "±",
                    "predicted",
                    f"among the first {SHORTLIST}",
                ),
                rows,
                digits=1,
                note=f"{counted(plays, 'draw')} of people. ±: two standard errors, across draws. "
                f"Chance: {exact(100 / persons)} %.",
            ),
        ),
    )
