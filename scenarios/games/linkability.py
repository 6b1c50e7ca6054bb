"""The linkability game: two parts of a record that lead to the same released row."""

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
    """Two files hold different columns of the same people; a person is linked if both parts lead to a common row.

    The files hold the originals and the strangers, the second in another order than the first. The control group are
    the strangers: parts of their records lead to a common row by chance, or because it is typical. Rows of the release
    need not stem from records.

    Parameters
    ----------
    records, originals, strangers, auxiliary, attacker_knows
        See `ControlGroupGame`.
    parts : mapping of str to sequence of str, optional
        ``first`` and ``second``, the columns of either file; the first and the second half of the released columns
        where not given.

    Raises
    ------
    ValueError
        If a number is out of range, the population too small, or the parts are not two disjoint sets of columns.

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
            raise ValueError("parts must be two sets of columns, neither empty and without a common column")

    def _parts(self) -> tuple[list[str], list[str]]:
        columns = list(self.records.released_columns)
        if self.parts is None:
            half = (len(columns) + 1) // 2
            return columns[:half], columns[half:]
        if not isinstance(self.parts, Mapping) or set(self.parts) != set(SIDES):
            raise ValueError("parts must name the columns of first and second")
        return list(self.parts["first"]), list(self.parts["second"])

    def knowledge(self, secret: ControlGroupSecret, defense: Defense) -> Knowledge:
        """Hand over both files, other people, and the mechanism where the game discloses it."""
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
            among the strangers. Measures: ``risk``, ``risk_low``, ``risk_high``: the rate after control.

        Raises
        ------
        TypeError
            If the claims are no linked rows.
        ValueError
            If they are about other numbers of rows or people.
        """
        links: LinkedRows = self.taken(claims)
        shape = (len(published.frame), len(secret.order))
        if links.first.sure.shape != shape or links.second.sure.shape != shape:
            raise ValueError(f"the claims must be about {shape[0]} rows and {shape[1]} people in each file")
        back = np.argsort(_second_order(secret))
        second = NearestRows(links.second.sure[:, back], links.second.tied[:, back], links.second.drawn[back])
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
    If a row is sure in both sets, it is 1. Otherwise let m of the t tied rows be drawn for the first set, and n of u
    for the second. With b tied rows of the first sure in the second, a the other way round, and c rows tied in both,
    the first set must draw none of the b, and j of the c with probability C(c, j) C(t - b - c, m - j) / C(t, m); the
    second then misses a + j rows with probability C(u - a - j, n) / C(u, n). Summed over j this is the probability of
    no common row.
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


def _log_ways(of: NDArray[np.intp], drawn: NDArray[np.intp] | int) -> NDArray[np.float64]:
    """Logarithm of the number of ways to draw some of several, whose own size no float holds; -inf for none."""
    from scipy.special import gammaln

    count = np.broadcast_to(drawn, of.shape)
    ways = np.full(of.shape, -np.inf)
    some = (count >= 0) & (count <= of)
    ways[some] = gammaln(of[some] + 1) - gammaln(count[some] + 1) - gammaln(of[some] - count[some] + 1)
    return ways


def _second_order(secret: ControlGroupSecret) -> NDArray[np.intp]:
    """The order of the second file: positions in the first."""
    from copy import deepcopy

    return deepcopy(secret.rng).permutation(secret.order.size)
