"""Asking a query session within its budget."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from defenses.base.queries import BudgetSpent, Query, QuerySession


def ask(session: QuerySession, query: Query, epsilon: float | None = None) -> NDArray[np.float64] | None:
    """The session's answer as an array, None where the budget is spent."""
    try:
        return np.asarray(session.answer(query, epsilon), dtype=float)
    except BudgetSpent:
        return None


def even_share(session: QuerySession, queries: int) -> float | None:
    """What to spend on each of some queries so that the budget is just spent; None where there is no end to it.

    One answer at epsilon tells more than r answers at epsilon / r, so that whoever knows its questions divides the
    budget by their number and asks each once.
    """
    if queries < 1 or not math.isfinite(session.remaining) or session.remaining <= 0:
        return None
    # Rounding must not make the last query too expensive.
    return session.remaining / queries * (1 - 1e-9)
