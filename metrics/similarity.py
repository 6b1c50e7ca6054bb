"""Similarity of released rows to original records, cell by cell."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from metrics.columns.domains import Domain, NumericDomain
from metrics.profile import Profile


def record_similarity(original: Profile, released: Profile, domains: Mapping[str, Domain]) -> NDArray[np.float64]:
    """Mean similarity over columns of every original to every released row, shape (originals, released), in [0, 1].

    The similarity of numbers and ordered categories is 1 - |distance of bins| / (bins - 1). That of other categories
    and of missing values is 1 if they are equal and 0 otherwise. A generalized cell has the mean similarity of the
    values that it covers, so that ``*`` has no advantage over a guess.

    Parameters
    ----------
    original, released : Profile
        Tables spread over the bins of `domains`.
    domains : mapping of str to Domain
        The columns, in the order of the profiles.
    """
    total = np.zeros((original.rows, released.rows))
    for position, domain in enumerate(domains.values()):
        total += original.block(position) @ _bin_similarity(domain) @ released.block(position).T
    return total / max(1, len(domains))


def _bin_similarity(domain: Domain) -> NDArray[np.float64]:
    """Similarity of bins, shape (size + 1, size + 1); the last one is the missing value."""
    similarity = np.eye(domain.size + 1)
    if isinstance(domain, NumericDomain) or domain.ordered:
        position = np.arange(domain.size)
        similarity[:-1, :-1] = 1 - np.abs(position[:, None] - position) / max(1, domain.size - 1)
    return similarity
