"""Marginal frequencies of binary attributes, and membership scores from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import pandas as pd

from metrics.columns import Domain, Floats, read_cells


@dataclass(frozen=True)
class BinaryAttributes:
    """Binary attributes of records: one for each category or public bin of some columns, and for missing values."""

    domains: Mapping[str, Domain]

    def shares(self, released: pd.DataFrame) -> Floats:
        """Marginal frequency of each attribute, shape (attributes,).

        A generalized cell counts fractionally for each value that it covers.
        """
        parts = []
        for name, domain in self.domains.items():
            cells = read_cells(released[name], domain)
            counts = np.bincount(cells.codes, minlength=cells.missing.size)
            parts.append(counts @ cells.mass() / max(1, cells.codes.size))
        return np.concatenate(parts)

    def sums(self, people: pd.DataFrame, values: Floats) -> Floats:
        """Sum of the attributes' values, shape (attributes,), over the attributes of each person, shape (people,)."""
        columns = zip(self.domains.items(), np.split(values, self.ends), strict=True)
        return sum((part[domain.codes(people[name])] for (name, domain), part in columns), np.zeros(len(people)))

    @property
    def ends(self) -> Sequence[int]:
        """Position of the first attribute of each column after the first."""
        return list(accumulate(domain.size + 1 for domain in self.domains.values()))[:-1]


def homer_scores(attributes: BinaryAttributes, people: pd.DataFrame, published: Floats, population: Floats) -> Floats:
    r"""Homer's statistic, ∑ⱼ \|yⱼ - popⱼ\| - \|yⱼ - pubⱼ\|, of people with attributes yⱼ in {0, 1}, shape (people,).

    A term is popⱼ - pubⱼ if yⱼ = 0, and pubⱼ - popⱼ if yⱼ = 1. The sum is therefore ∑ⱼ (popⱼ - pubⱼ) plus twice the sum
    of pubⱼ - popⱼ over the attributes with yⱼ = 1. Only a person's attributes are looked up.
    """
    gain = published - population
    return attributes.sums(people, 2 * gain) - float(gain.sum())


def likelihood_ratio_scores(
    attributes: BinaryAttributes, people: pd.DataFrame, published: Floats, population: Floats, floor: float
) -> Floats:
    """Log-likelihood ratio of each person under published and population frequencies, shape (people,).

    It is the sum over the person's attributes of the log of published over population frequency. The columns are
    treated as independent. `floor` is added to each frequency, since attributes may have frequency 0.
    """
    return attributes.sums(people, np.log(published + floor) - np.log(population + floor))
