"""Pace of two sets of results: how many times as long releases and attacks took, and what of it is the machine's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log, log1p

import numpy as np

from leaderboard.results.result import Result
from leaderboard.statistics.paired_results import RELEASE, ended_pairs, grouped
from metrics.columns.arrays import Floats

COMPARABLE = 3
"""Smallest number of defenses (or pairs of defense and attack) from which the machine's speed is estimated."""
AGREED = 0.1
"""Two estimates of the machine's speed agree if they differ by at most this share."""


@dataclass(frozen=True)
class Paces:
    """How many times as long the head took as the base for the same work, by what was timed.

    Parameters
    ----------
    releases, attacks : tuple of float
        Median over plays of each release, and of each pair of defense and attack, which is timed apart from the
        release; in ascending order. Only results that both sides computed anew count, since a result that is known from
        an earlier run was timed in that run.

    Examples
    --------
    Two of three defenses are slower, and no attack is: that is not the machine.

    >>> Paces((1.0, 3.0, 3.0), (0.98, 1.0, 1.02)).machine is None
    True
    >>> round(Paces((2.9, 3.0, 3.0), (2.98, 3.0, 3.02)).machine, 2)
    3.0
    """

    releases: tuple[float, ...] = ()
    attacks: tuple[float, ...] = ()

    @property
    def medians(self) -> tuple[float | None, float | None]:
        """Median of the releases and of the attacks; None for fewer than `COMPARABLE`."""
        releases, attacks = (
            float(np.exp(np.median(np.log(times)))) if len(times) >= COMPARABLE else None
            for times in (self.releases, self.attacks)
        )
        return releases, attacks

    @property
    def machine(self) -> float | None:
        """The machine's pace, by which times are corrected; None if it is not known.

        Releases and attacks must agree. Releases alone are what is compared. So all of them must have changed alike, or
        their median must not have changed.
        """
        releases, attacks = self.medians
        if releases is None:
            return attacks
        others = self.releases if attacks is None else (attacks,)
        if attacks is None and _agree(releases, 1.0):
            return releases
        return releases if all(_agree(releases, other) for other in others) else None


def _agree(one: float, other: float) -> bool:
    return abs(log(one / other)) <= log1p(AGREED)


def paces(base: Sequence[Result], head: Sequence[Result]) -> Paces:
    """How many times as long the head took for the same work, by release and by trial."""
    return paces_of(grouped(base), grouped(head))


def pace(base: Sequence[Result], head: Sequence[Result]) -> float | None:
    """Time that the head took for the same work, as a multiple of the base's; None if it cannot be estimated.

    The estimate is the median over the releases of at least three defenses, if the median over the trials of at least
    three pairs of defense and attack agrees with it (`Paces.machine`). With fewer defenses it is the median over the
    trials. This common factor is attributed to the machine, or to code that all methods use, and not to one method.
    """
    return paces(base, head).machine


def paces_of(
    before: Mapping[tuple[str, ...], dict[int, Result]], after: Mapping[tuple[str, ...], dict[int, Result]]
) -> Paces:
    """The paces of results in groups."""
    factors: dict[bool, list[float]] = {True: [], False: []}
    for identity in set(before) & set(after):
        pairs = ended_pairs(before[identity], after[identity])
        log_ratios = log_ratios_of([pair for pair in pairs if computed_anew(*pair)])
        if log_ratios.size:
            factors[len(identity) == RELEASE].append(float(np.exp(np.median(log_ratios))))
    return Paces(tuple(sorted(factors[True])), tuple(sorted(factors[False])))


def computed_anew(base: Result, head: Result) -> bool:
    """Whether the two results were computed separately, so that neither side reused the other's."""
    return (base.key, base.created, base.seconds) != (head.key, head.created, head.seconds)


def log_ratios_of(pairs: Sequence[tuple[Result, Result]]) -> Floats:
    """Logarithms of the ratios of times, head to base; pairs with a time of 0 are left out."""
    seconds = np.array([(one.seconds, other.seconds) for one, other in pairs], dtype=float).reshape(-1, 2)
    seconds = seconds[(seconds > 0).all(axis=1)]
    log_ratios: Floats = np.log(seconds[:, 1] / seconds[:, 0])
    return log_ratios
