"""What the reports of a release tell of each row's value."""

from __future__ import annotations

import numpy as np

from attacks.base.attack import Knowledge, NotApplicable
from defenses.base.release import ReportsRelease
from metrics.arrays import Floats


def round_likelihoods(release: ReportsRelease, rounds: int | None = None) -> list[Floats]:
    """Log-likelihood of each value under each report, shape (n, d), one table a round; a round sent again counts once.

    Parameters
    ----------
    release : ReportsRelease
        Whose protocol has ``log_likelihood(reports)``.
    rounds : int, optional
        Only the first so many; all by default.

    Raises
    ------
    NotApplicable
        If the protocol has no likelihood, or there is no round.
    """
    likelihood = getattr(release.protocol, "log_likelihood", None)
    if likelihood is None:
        raise NotApplicable("the reports' protocol has no likelihood")
    if not len(release.reports):
        raise NotApplicable("there is no report")
    tables: list[Floats] = []
    for reports in release.reports[:rounds]:
        table = np.asarray(likelihood(reports), dtype=float)
        # Memoized reports are the same in every round for every row; fresh ones practically never are.
        if not any(np.array_equal(table, known) for known in tables):
            tables.append(table)
    return tables


def log_prior(knowledge: Knowledge, column: str, d: int) -> Floats:
    """Logarithm of each value's share among the attacker's own people, shape (d,), one person more for each value."""
    records = knowledge.auxiliary
    codes = records.domain(column).codes(records.frame[column])
    counts = np.bincount(codes[codes < d], minlength=d) + 1.0
    return np.asarray(np.log(counts / counts.sum()))


def reported_column(knowledge: Knowledge) -> str:
    """The column that the reports are about.

    Raises
    ------
    NotApplicable
        If the attacker's people do not show one.
    """
    if not knowledge.auxiliary.sensitive:
        raise NotApplicable("nothing says which column the reports are about")
    return knowledge.auxiliary.sensitive[0]


def posterior(logs: Floats) -> Floats:
    """Probabilities from unnormalised logarithms, row by row."""
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
