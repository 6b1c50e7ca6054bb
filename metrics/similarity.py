"""How similar a released row is to an original record, cell by cell."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from metrics.domains import Domain, NumericDomain
from metrics.profile import Profile


def record_similarity(original: Profile, released: Profile, domains: Mapping[str, Domain]) -> NDArray[np.float64]:
    """Mean similarity over columns of every original to every released row, shape (originals, released), in [0, 1].

    Numbers and ordered categories are as similar as their bins are near, 1 - |distance| / (bins - 1), other categories
    are equal or not, and so is a missing value. A generalized cell is as similar as the values that it covers are on
    average, so that ``*`` gains nothing on a guess.

    Parameters
    ----------
    original, released : Profile
        Tables spread over the bins of `domains`.
    domains : mapping of str to Domain
        The columns, in the profiles' order.
    """
    total = np.zeros((original.rows, released.rows))
    for position, domain in enumerate(domains.values()):
        total += original.block(position) @ _alike(domain) @ released.block(position).T
    return total / max(1, len(domains))


def _alike(domain: Domain) -> NDArray[np.float64]:
    """Similarity of bins, shape (size + 1, size + 1); the last one is the missing value."""
    alike = np.eye(domain.size + 1)
    if isinstance(domain, NumericDomain) or domain.ordered:
        place = np.arange(domain.size)
        alike[:-1, :-1] = 1 - np.abs(place[:, None] - place) / max(1, domain.size - 1)
    return alike
