"""Asking a query session within its budget."""

from __future__ import annotations

import math

import numpy as np

from defenses.base.queries import BudgetSpent, Query, QuerySession
from metrics.columns import Floats


def ask(session: QuerySession, query: Query, epsilon: float | None = None) -> Floats | None:
    """The session's answer as an array, None if the budget is spent."""
    try:
        return np.asarray(session.answer(query, epsilon), dtype=float)
    except BudgetSpent:
        return None


def even_share(session: QuerySession, queries: int) -> float | None:
    """Epsilon for each query such that all queries together spend the budget; None if the budget is infinite or spent.

    One answer at epsilon is more informative than r answers at epsilon / r. An attacker who knows its queries therefore
    divides the budget by their number and asks each once.
    """
    if queries < 1 or not math.isfinite(session.remaining) or session.remaining <= 0:
        return None
    # The factor keeps rounding from making the last query too expensive.
    return session.remaining / queries * (1 - 1e-9)
