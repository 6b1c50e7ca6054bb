"""Likelihoods, priors and posteriors of values given randomized reports."""

from __future__ import annotations

import numpy as np

from attacks.base import Knowledge, applicable, given
from defenses.base import ReportsRelease
from metrics.columns import Floats


def round_likelihoods(release: ReportsRelease, rounds: int | None = None) -> list[Floats]:
    """Log-likelihood of each value under each report, one table of shape (n, d) for each distinct round.

    Rounds that repeat an earlier one (memoized reports) count once.

    Parameters
    ----------
    release : ReportsRelease
        Reports of a protocol that has ``log_likelihood(reports)``.
    rounds : int, optional
        Number of rounds to read, from the first; all by default.

    Raises
    ------
    NotApplicable
        If the protocol has no likelihood, or there is no round.
    """
    likelihood = given(getattr(release.protocol, "log_likelihood", None), "the reports' protocol has no likelihood")
    applicable(len(release.reports), "there is no report")
    tables: list[Floats] = []
    for reports in release.reports[:rounds]:
        table = np.asarray(likelihood(reports), dtype=float)
        # Memoized reports are equal in every round for every row; fresh ones practically never are.
        if not any(np.array_equal(table, earlier) for earlier in tables):
            tables.append(table)
    return tables


def log_prior(knowledge: Knowledge, column: str, d: int) -> Floats:
    """Log of each value's share among the attacker's own people, with one person added to each value; shape (d,)."""
    records = knowledge.auxiliary
    codes = records.domain(column).codes(records.frame[column])
    counts = np.bincount(codes[codes < d], minlength=d) + 1.0
    return np.asarray(np.log(counts / counts.sum()))


def reported_column(knowledge: Knowledge) -> str:
    """The column that the reports are about: the first sensitive one.

    Raises
    ------
    NotApplicable
        If the attacker's people have no sensitive column.
    """
    applicable(knowledge.auxiliary.sensitive, "nothing says which column the reports are about")
    return knowledge.auxiliary.sensitive[0]


def posterior(logs: Floats) -> Floats:
    """Probabilities from unnormalised log-probabilities, row by row."""
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
