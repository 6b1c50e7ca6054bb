"""Hidden columns of targets, and the released cells of these columns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from attacks.base import Knowledge, applicable, values
from defenses.base import MicrodataRelease
from metrics.columns import Domain, Floats, Integers, NumericDomain, read_cells

MOST_VALUES = 200
"""Largest number of values of a column that are distinguished; rarer ones are never claimed."""


@dataclass(frozen=True)
class HiddenColumn:
    """A released column that the attacker does not know of the targets.

    - domain: Its categories or public bins, d of them.
    - support: Categories or bins that the release gives weight to, ascending; at most `MOST_VALUES`, the most frequent
      ones.
    - mass, shape (rows, support): Share of each released row in each value of the support. A row sums to 1, or to 0 if
      its cell has no such value.
    """

    name: str
    domain: Domain
    support: Integers
    mass: Floats

    @property
    def frequency(self) -> Floats:
        """Share of each value of the support in the release, shape (d,)."""
        return np.asarray(self.mass.sum(axis=0) / self.mass.sum())

    def named(self, positions: Integers) -> pd.Series:
        """Values at positions in the support, -1 for none, as claims state them; shape (n,)."""
        answers = values(self.domain).iloc[self.support[positions]].reset_index(drop=True)
        if not isinstance(self.domain, NumericDomain):
            answers = answers.astype(object)
        return answers.where(positions >= 0, None if answers.dtype == object else np.nan)


def hidden_columns(release: MicrodataRelease, knowledge: Knowledge) -> list[HiddenColumn]:
    """Released columns with a public role that the attacker does not know of the targets, in the release's order.

    Columns whose cells are all missing are left out, since nothing can be learned about them. If none is left,
    `NotApplicable` is raised.
    """
    columns = []
    for name in hidden_names(release, knowledge):
        domain = knowledge.auxiliary.domain(name)
        mass = read_cells(release.frame[name], domain).row_mass()[:, :-1]
        total = mass.sum(axis=0)
        support = np.sort(np.argsort(-total, kind="stable")[: min(MOST_VALUES, np.count_nonzero(total))])
        mass = mass[:, support]
        weight = mass.sum(axis=1, keepdims=True)
        if support.size:
            columns.append(HiddenColumn(name, domain, support, mass / np.where(weight > 0, weight, 1.0)))
    applicable(columns, "the release has no value of a hidden column")
    return columns


def hidden_names(release: MicrodataRelease, knowledge: Knowledge) -> list[str]:
    """Names of the released columns with a public role that the attacker does not know of the targets."""
    roles = {*knowledge.auxiliary.quasi_identifiers, *knowledge.auxiliary.sensitive}
    return [str(name) for name in release.frame.columns if name in roles and name not in knowledge.candidates.columns]


def about_column(knowledge: Knowledge, name: str) -> Knowledge:
    """Return the knowledge with one hidden column as the only sensitive column, as attribute attacks expect it."""
    quasi_identifiers = tuple(one for one in knowledge.auxiliary.quasi_identifiers if one in knowledge.candidates)
    auxiliary = replace(knowledge.auxiliary, quasi_identifiers=quasi_identifiers, sensitive=(name,))
    return replace(knowledge, auxiliary=auxiliary)
