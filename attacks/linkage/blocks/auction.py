"""Sparse assignment of rows to candidates by auction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from metrics.columns import Floats, Integers

# Smallest increment of a price, in units of log-likelihood, and how far below its likeliest candidate a row goes.
INCREMENT, FURTHEST = 0.02, 12.0
# Value of a place in a row's list that holds no candidate.
EMPTY = -1e8


def auction(candidate: NDArray[np.integer], value: Floats, alternative: Floats, candidates: int) -> Integers:
    """Assign rows to different candidates, by an auction with a total value within .02 per row of the largest.

    All unassigned rows bid at the same time for the candidate of the largest value minus price. A candidate goes to the
    highest bidder, whose bid exceeds the price by the row's margin over its second-best candidate and by .02. A row
    whose candidates have all become too dear leaves. Leaving is worth `alternative`, but at least the value of the
    likeliest candidate less 12, which bounds prices.

    Returned is the place of the assigned candidate in each row's list, shape (rows,); -1 for rows that are left over.

    - candidate, shape (rows, depth): Candidates of each row.
    - value, shape (rows, depth): Log-likelihoods; below -1e8 where a place is empty.
    - alternative, shape (rows,): Value of no assignment to a listed candidate.

    Source: Bertsekas (1988), The auction algorithm: a distributed relaxation method for the assignment problem.
    """
    rows, depth = value.shape
    price = np.zeros(candidates)
    owner = np.full(candidates, -1, dtype=np.intp)
    assigned = np.full(rows, -1, dtype=np.intp)
    leave = np.maximum(alternative, value.max(axis=1) - FURTHEST)
    active = np.flatnonzero(value.max(axis=1) > EMPTY)
    while active.size:
        gain = value[active] - price[candidate[active]]
        place = gain.argmax(axis=1)
        top = gain[np.arange(active.size), place]
        gain[np.arange(active.size), place] = -np.inf
        second = np.maximum(gain.max(axis=1) if depth > 1 else -np.inf, leave[active])
        bidding = top >= leave[active]
        bidder, place = active[bidding], place[bidding]
        wanted = candidate[bidder, place]
        bid = price[wanted] + top[bidding] - second[bidding] + INCREMENT
        order = np.lexsort((-bid, wanted))
        first = order[np.r_[True, wanted[order][1:] != wanted[order][:-1]]] if order.size else order
        winner, won = bidder[first], wanted[first]
        evicted = owner[won]
        evicted = evicted[evicted >= 0]
        assigned[evicted] = -1
        owner[won], price[won] = winner, bid[first]
        assigned[winner] = place[first]
        active = np.concatenate([np.delete(bidder, first), evicted])
    return assigned
