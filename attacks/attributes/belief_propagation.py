"""Loopy belief propagation on pairwise factor graphs, vectorized over instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from metrics.arrays import Floats

CONVERGED = 1e-6
"""Largest change of a message at which the iteration ends."""


def pairwise_beliefs(
    unary: Sequence[Floats], pairwise: Mapping[tuple[int, int], Floats], *, iterations: int = 20, damping: float = 0.3
) -> list[Floats]:
    """Marginals of a pairwise factor graph by sum-product belief propagation.

    Every instance has the distribution p(x) proportional to the product of its unary factors and of pairwise factors
    that all instances share.

    Parameters
    ----------
    unary : sequence of ndarray, shapes (instances, d_j)
        Positive unary factors of each variable j.
    pairwise : mapping of (int, int) to ndarray, shape (d_j, d_k)
        Positive factors of pairs of variables (j, k) with j < k.
    iterations : int
        Largest number of rounds in which every message is updated; 0 leaves the unary factors alone.
    damping : float
        Weight of the previous logarithm of a message, in [0, 1).

    Returns
    -------
    list of ndarray, shapes (instances, d_j)
        Beliefs about each variable; every row sums to 1. They are the exact marginals if the pairs form a forest and
        the iteration converges. With loops they are the Bethe approximation.

    Notes
    -----
    The message from j to k is m_jk(x_k) = sum over x_j of u_j(x_j) f_jk(x_j, x_k) times the messages to j from all
    variables but k. Logarithms of messages are kept, shifted to a maximum of 0 for each instance.

    References
    ----------
    Pearl (1988), Probabilistic reasoning in intelligent systems, chapter 4; Murphy, Weiss and Jordan (1999), Loopy
    belief propagation for approximate inference, for damping.
    """
    logs = [_shifted(np.log(factor)) for factor in unary]
    factors = {**pairwise, **{(k, j): factor.T for (j, k), factor in pairwise.items()}}
    messages = {(j, k): np.zeros_like(logs[k]) for j, k in factors}
    for _ in range(iterations):
        totals = _totals(logs, messages)
        change = 0.0
        for (j, k), factor in factors.items():
            incoming = _shifted(totals[j] - messages[k, j])
            update = damping * messages[j, k] + (1 - damping) * _shifted(np.log(np.exp(incoming) @ factor))
            change = max(change, float(np.abs(update - messages[j, k]).max(initial=0.0)))
            totals[k] = totals[k] + update - messages[j, k]
            messages[j, k] = update
        if change < CONVERGED:
            break
    beliefs = [np.exp(_shifted(total)) for total in _totals(logs, messages)]
    return [belief / belief.sum(axis=1, keepdims=True) for belief in beliefs]


def _totals(logs: Sequence[Floats], messages: Mapping[tuple[int, int], Floats]) -> list[Floats]:
    """Logarithm of each variable's unary factor times all messages to it."""
    totals = [log.copy() for log in logs]
    for (_, k), message in messages.items():
        totals[k] += message
    return totals


def _shifted(log: Floats) -> Floats:
    shifted: Floats = log - log.max(axis=1, keepdims=True)
    return shifted
