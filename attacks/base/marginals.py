"""Marginal frequencies of tables and people, as attacks on aggregate statistics use them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from metrics.arrays import Floats
from metrics.cells import read_cells
from metrics.domains import Domain


@dataclass(frozen=True)
class Attributes:
    """Binary attributes: one for each category and public bin of some columns, missing values being one more.

    Parameters
    ----------
    domains : mapping of str to Domain
        The columns, in order.
    """

    domains: Mapping[str, Domain]

    def shares(self, released: pd.DataFrame) -> Floats:
        """Share of the rows that have each attribute, shape (attributes,); generalized cells count in parts."""
        parts = []
        for name, domain in self.domains.items():
            cells = read_cells(released[name], domain)
            rows = max(1, cells.codes.size)
            parts.append(np.bincount(cells.codes, minlength=cells.missing.size) @ cells.mass() / rows)
        return np.concatenate(parts)

    def sums(self, people: pd.DataFrame, values: Floats) -> Floats:
        """Sum over the attributes that each person has of a value for each attribute, shape (people,).

        Parameters
        ----------
        people : DataFrame, shape (people, columns)
            In clear.
        values : ndarray of float, shape (attributes,)
            What each attribute is worth.
        """
        parts = np.split(values, self.ends)
        columns = zip(self.domains.items(), parts, strict=True)
        total = np.zeros(len(people))
        for (name, domain), part in columns:
            total += part[domain.codes(people[name])]
        return total

    @property
    def ends(self) -> Sequence[int]:
        """Where the attributes of the next column begin, without the first."""
        sizes = [domain.size + 1 for domain in self.domains.values()]
        return [int(end) for end in np.cumsum(sizes)[:-1]]


def homer_scores(attributes: Attributes, people: pd.DataFrame, published: Floats, population: Floats) -> Floats:
    r"""Homer's statistic, ∑ⱼ \|yⱼ - popⱼ\| - \|yⱼ - pubⱼ\|, of people with attributes yⱼ in {0, 1}, shape (people,).

    With yⱼ = 0 a term is popⱼ - pubⱼ and with yⱼ = 1 it is pubⱼ - popⱼ, so that only the attributes that a person has
    need a look: the sum is ∑ⱼ (popⱼ - pubⱼ) + 2 ∑ over yⱼ = 1 of (pubⱼ - popⱼ).
    """
    gain = published - population
    return attributes.sums(people, 2 * gain) - float(gain.sum())


def likelihood_ratio_scores(
    attributes: Attributes, people: pd.DataFrame, published: Floats, population: Floats, floor: float
) -> Floats:
    """Log of published over population shares, summed over the attributes that each person has, shape (people,).

    This is the likelihood ratio of one draw from the published distribution to one from the population's, with columns
    independent; `floor` is added to each share, for attributes that nobody has.
    """
    return attributes.sums(people, np.log(published + floor) - np.log(population + floor))
