"""Reference tables that hold no information about records, and what two samples of one population differ by."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.random import Generator

from metrics.arrays import Floats
from metrics.fidelity import association
from metrics.profile import Profile

DRAWS = 8
"""Random tables of each kind."""
MARGIN = 4.0
"""Standard deviations between the mean fidelity of random tables and the best that they reach by luck."""
SPLITS = 6


def constant_table(original: Profile) -> Profile:
    """Table in which every column is constant at the original's most frequent bin."""
    mass = np.zeros_like(original.mass)
    for start, end in _blocks(original):
        mass[:, start + original.counts[start:end].argmax()] = 1.0
    return Profile(mass, original.starts)


def suppressed_table(original: Profile) -> Profile:
    """Table of ``*``: every cell spreads evenly over the values of its column, without the missing value."""
    mass = np.zeros_like(original.mass)
    for start, end in _blocks(original):
        mass[:, start : end - 1] = 1 / max(1, end - 1 - start)
    return Profile(mass, original.starts)


def uniform_table(original: Profile, rng: Generator, *, rows: int | None = None, copies: bool = False) -> Profile:
    """Table of uniform draws over the values of each column.

    Parameters
    ----------
    original : Profile
        Gives the columns and the number of rows.
    rng : Generator
        Draws the cells.
    rows : int, optional
        Another number of rows.
    copies : bool
        Whether one draw decides all cells of a row, so that all columns are associated as strongly as possible.
    """
    count = original.rows if rows is None else rows
    shared = rng.random(count)
    mass = np.zeros((count, original.mass.shape[1]))
    for start, end in _blocks(original):
        draws = shared if copies else rng.random(count)
        mass[np.arange(count), start + np.floor(draws * max(1, end - 1 - start)).astype(np.intp)] = 1.0
    return Profile(mass, original.starts)


def information_free_fidelity(
    original: Profile, fidelity: Callable[[Profile], dict[str, float]], rng: Generator
) -> dict[str, float]:
    """Best fidelity, by component, of releases that hold no information about the records, in [0, 1].

    The releases are constants, ``*``, and uniform draws over the values. The constants are the original's most
    frequent values, the best that a guess can be. Draws count with their mean plus `MARGIN` standard deviations, since
    single tables reach more by luck. Draws with fewer rows and draws with equal columns have strong associations and
    count, too. Two kinds of release may exceed the floor. One chooses by column between constants and ``*`` and so
    knows how balanced the columns are. The other has rows of constants among rows of ``*``, which associates all
    columns about as strongly as the original's on average.

    Parameters
    ----------
    original : Profile
        The original table.
    fidelity : callable
        Fidelity of a table to the original, by component.
    rng : Generator
        Draws the random tables.
    """
    rows = original.rows
    best = dict.fromkeys(fidelity(constant_table(original)), 0.0)
    for count in (rows, max(2, rows // 3)):
        for name, values in _values([uniform_table(original, rng, rows=count) for _ in range(DRAWS)], fidelity).items():
            best[name] = max(best[name], min(1.0, float(values.mean() + MARGIN * values.std(ddof=1))))
    constant, suppressed = constant_table(original), suppressed_table(original)
    few = [uniform_table(original, rng, rows=max(2, rows // 16)) for _ in range(DRAWS // 2)]
    for tables in ([constant], [suppressed], [uniform_table(original, rng, copies=True)], few):
        for name, values in _values(tables, fidelity).items():
            best[name] = max(best[name], float(values.mean()))
    return best


def _values(tables: Sequence[Profile], fidelity: Callable[[Profile], dict[str, float]]) -> dict[str, Floats]:
    scores = [fidelity(table) for table in tables]
    return {name: np.array([score[name] for score in scores]) for name in scores[0]}


def association_noise(original: Profile, rng: Generator) -> float:
    r"""Mean absolute difference of `association` between two samples of the original's size and population.

    Pairs have the weights of `weighted_association_fidelity`. Random halves of the original are two samples of n/2
    rows. The standard deviation of a difference falls with the square root of the number of rows, so that samples of n
    rows differ by 1/√2 of what the halves differ by.

    Parameters
    ----------
    original : Profile
        The original table; 0 if it has fewer than 4 rows or 2 columns.
    rng : Generator
        Draws the halves.

    References
    ----------
    Politis, Romano and Wolf (1999), Subsampling, chapter 2, for rescaling statistics of smaller samples.
    """
    if original.rows < 4 or original.starts.size < 2:
        return 0.0
    weights = association(original) ** 2
    if not weights.any():
        return 0.0
    half = original.rows // 2
    differences = []
    for _ in range(SPLITS):
        order = rng.permutation(original.rows)
        first, second = (
            Profile(original.mass[part], original.starts) for part in (order[:half], order[half : 2 * half])
        )
        differences.append(np.average(np.abs(association(first) - association(second)), weights=weights))
    return float(np.mean(differences) / np.sqrt(2))


def _blocks(table: Profile) -> Iterator[tuple[int, int]]:
    """First bin, and the bin after the last, of each column."""
    ends = np.append(table.starts[1:], table.mass.shape[1])
    return zip(table.starts.tolist(), ends.tolist(), strict=True)
