"""The linkability game: link two parts of a record through the release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.base.attack import Knowledge
from attacks.base.claims import Claims
from attacks.criteria.nearest_row_linkability import LinkedRows, NearestRows, TwoFiles
from defenses.base.defense import Defense
from defenses.base.microdata import Microdata
from defenses.base.release import MicrodataRelease
from metrics.score import Scores
from scenarios.games.control_group import ControlGroupGame, ControlGroupSecret, controlled

SIDES = ("first", "second")


class Linkability(ControlGroupGame):
    """Linkability: two files hold different columns of the same people, and a released row may link both parts.

    A person is linked if both parts of its record lead to a common released row. Both files hold the originals and the
    strangers, in different orders. Strangers are the control group: their parts lead to a common row by chance, or
    because the row is typical. Rows of the release need not stem from records.

    Parameters
    ----------
    records, originals, strangers, auxiliary, attacker_knows
        See `ControlGroupGame`.
    parts : mapping of str to sequence of str, optional
        Columns of the ``first`` and the ``second`` file. By default the first and the second half of the released
        columns.

    Raises
    ------
    ValueError
        If a number is out of range, the population is too small, or the parts are not two disjoint sets of columns.

    References
    ----------
    Giomi, Boenisch, Wehmeyer and Tasnádi (2023), A unified framework for quantifying privacy risk in synthetic data,
    section 4.2.
    """

    takes: ClassVar[Mapping[str, type[Claims]]] = {"linkability": LinkedRows}

    def __init__(
        self,
        *,
        records: Microdata,
        parts: Mapping[str, Sequence[str]] | None = None,
        originals: int = 500,
        strangers: int = 500,
        auxiliary: int = 1000,
        attacker_knows: str = "mechanism",
    ) -> None:
        super().__init__(
            records=records,
            originals=originals,
            strangers=strangers,
            auxiliary=auxiliary,
            attacker_knows=attacker_knows,
        )
        self.parts = parts
        first, second = self._parts()
        unknown = [name for name in (*first, *second) if name not in records.released_columns]
        if unknown:
            raise ValueError(f"parts: there is no released column {unknown[0]!r}")
        if not first or not second or set(first) & set(second):
            raise ValueError("parts must be two non-empty sets of columns without a common column")

    def _parts(self) -> tuple[list[str], list[str]]:
        columns = list(self.records.released_columns)
        if self.parts is None:
            half = (len(columns) + 1) // 2
            return columns[:half], columns[half:]
        if not isinstance(self.parts, Mapping) or set(self.parts) != set(SIDES):
            raise ValueError("parts must name the columns of first and second")
        return list(self.parts["first"]), list(self.parts["second"])

    def knowledge(self, secret: ControlGroupSecret, defense: Defense) -> Knowledge:
        """Give both files, the auxiliary population, and the mechanism if the game discloses it."""
        people = secret.people()
        first, second = self._parts()
        other = people[second].iloc[_second_order(secret)].reset_index(drop=True)
        return TwoFiles(people[first], secret.auxiliary, self.simulation(defense), other)

    def score(self, secret: ControlGroupSecret, published: MicrodataRelease, claims: Claims, rng: Generator) -> Scores:
        """Count expected links.

        Returns
        -------
        Scores
            ``linkability``: expected share of the originals whose two parts lead to a common row; chance is the same
            share among the strangers. Measures: ``risk``, ``risk_low``, ``risk_high``: the rate after control.

        Raises
        ------
        TypeError
            If the claims are not linked rows.
        ValueError
            If the claims have another number of rows or people.
        """
        links: LinkedRows = self.taken(claims)
        shape = (len(published.frame), len(secret.order))
        if links.first.sure.shape != shape or links.second.sure.shape != shape:
            raise ValueError(f"the claims must be about {shape[0]} rows and {shape[1]} people in each file")
        inverse = np.argsort(_second_order(secret))
        second = NearestRows(links.second.sure[:, inverse], links.second.tied[:, inverse], links.second.drawn[inverse])
        linked = common_row_probability(links.first, second)
        member = secret.member
        return controlled(
            "linkability",
            float(linked[member].sum()),
            int(member.sum()),
            float(linked[~member].sum()),
            int((~member).sum()),
        )


def common_row_probability(first: NearestRows, second: NearestRows) -> NDArray[np.float64]:
    """Probability that two sets of rows have a row in common, for each person, shape (people,).

    Notes
    -----
    If a row is sure in both sets, it is 1. Otherwise m of the t tied rows are drawn for the first set, and n of the u
    tied rows for the second. Let b be the number of tied rows of the first set that are sure in the second, a the
    reverse, and c the number of rows tied in both. The first set draws none of the b rows and j of the c rows with
    probability C(c, j) C(t - b - c, m - j) / C(t, m). The second set then draws none of the other a + j rows with
    probability C(u - a - j, n) / C(u, n). The sum of the products over j is the probability of no common row.
    """
    m, n = first.drawn, second.drawn
    t, u = first.tied.sum(axis=0), second.tied.sum(axis=0)
    a = (first.sure & second.tied).sum(axis=0)
    b = (first.tied & second.sure).sum(axis=0)
    c = (first.tied & second.tied).sum(axis=0)
    none = np.zeros(m.size)
    for j in range(int(m.max(initial=0)) + 1):
        drawn = _log_ways(c, j) + _log_ways(t - b - c, m - j) - _log_ways(t, m)
        none += np.exp(drawn + _log_ways(u - a - j, n) - _log_ways(u, n))
    return np.where((first.sure & second.sure).any(axis=0), 1.0, np.clip(1.0 - none, 0.0, 1.0))


def _log_ways(total: NDArray[np.intp], drawn: NDArray[np.intp] | int) -> NDArray[np.float64]:
    """Logarithm of a binomial coefficient, which itself may overflow; -inf where the coefficient is 0."""
    from scipy.special import gammaln

    count = np.broadcast_to(drawn, total.shape)
    ways = np.full(total.shape, -np.inf)
    valid = (count >= 0) & (count <= total)
    ways[valid] = gammaln(total[valid] + 1) - gammaln(count[valid] + 1) - gammaln(total[valid] - count[valid] + 1)
    return ways


def _second_order(secret: ControlGroupSecret) -> NDArray[np.intp]:
    """Order of the second file, as positions in the first."""
    from copy import deepcopy

    return deepcopy(secret.rng).permutation(secret.order.size)
