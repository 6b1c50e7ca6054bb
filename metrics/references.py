"""Reference tables that hold no information about records, and what two samples of one population differ by."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd
from numpy.random import Generator

from metrics.columns import SUPPRESSED, Domain, Floats, read_cells
from metrics.fidelity import association, relative_squared_distance
from metrics.profile import CodedProfile, DenseProfile, Profile

DRAWS = 8
"""Random tables of each kind."""
MARGIN = 4.0
"""Standard deviations between the mean fidelity of random tables and the best that they reach by luck."""
MOST_DRAWN = 20_000
"""Most rows of a random table. Larger tables reach less by luck, so that the floor is not too low for them."""
SPLITS = 6
SWEEPS = 4
"""Most sweeps over the columns in the search for the best choice of constant columns."""
COARSE, FINE = 32, 256
"""Rows of the tables by which the best share of constant rows is searched, first from afar and then near the best."""
ASSOCIATIONS = "associations"


def constant_table(original: Profile) -> CodedProfile:
    """Table in which every column is constant at the original's most frequent bin."""
    row = np.zeros(original.bins)
    for block in original.blocks:
        row[block.start + original.counts[block].argmax()] = 1.0
    return repeated_row(row, original)


def suppressed_table(original: Profile, domains: Mapping[str, Domain]) -> CodedProfile:
    """Table of ``*``, whose cells spread over the bins as those of a release do; `domains` are those of the profile."""
    cells = [read_cells(pd.Series([SUPPRESSED]), domain).mass()[0] for domain in domains.values()]
    return repeated_row(np.concatenate([np.empty(0), *cells]), original)


def repeated_row(row: Floats, original: Profile) -> CodedProfile:
    """Table of as many rows as the original, all with the same mass, of which one is stored."""
    cells = [row[None, block] for block in original.blocks]
    codes = np.zeros(original.rows, dtype=np.intp)
    return CodedProfile(cells, [codes] * len(cells), original.rows)


def uniform_table(
    suppressed: CodedProfile, rng: Generator, *, rows: int | None = None, copies: bool = False
) -> Profile:
    """Table of uniform draws over the values of each column.

    - suppressed: The `suppressed_table`, which gives the share of the values in each bin, and the number of rows.
    - rows, optional: Another number of rows. By default those of `suppressed`, at most `MOST_DRAWN`.
    - copies: Whether one draw decides all cells of a row, so that all columns are associated as strongly as possible.
    """
    count = min(suppressed.rows, MOST_DRAWN) if rows is None else rows
    shared = rng.random(count)
    mass = np.zeros((count, suppressed.bins))
    for start, cells in zip(suppressed.starts, suppressed.cells, strict=True):
        draws = shared if copies else rng.random(count)
        # The last bins are cut off, since a sum of shares may end just below 1 and the missing value has none.
        below = np.cumsum(cells[0])[:-2]
        mass[np.arange(count), start + np.searchsorted(below, draws, side="right")] = 1.0
    return DenseProfile(mass, suppressed.starts)


def information_free_fidelity(
    original: Profile, suppressed: CodedProfile, fidelity: Mapping[str, Callable[[Profile], float]], rng: Generator
) -> dict[str, float]:
    """Best fidelity, by component, of releases that hold no information about the records, in [0, 1].

    The releases are constants, ``*``, and uniform draws over the values. The constants are the original's most frequent
    values, the best that a guess can be. Draws count with their mean plus `MARGIN` standard deviations, since single
    tables reach more by luck. Draws with fewer rows and draws with equal columns count, too. So do tables that are
    constant in some columns and ``*`` in the others, and tables with rows of constants among rows of ``*``. The columns
    and the share of rows are those of the best fidelity. Whoever mixes constants, ``*`` and draws associates all pairs
    of columns alike. Hence the floor of associations is at least that of the best table in which they are.

    - suppressed: Its `suppressed_table`.
    - fidelity: For each component, the fidelity of a table to the original.

    No floor can cover a share of rows for each column. Consider columns of two values, a share p of which are the more
    frequent one. Constants in 2p - 1 of the rows and ``*`` in the others have exactly the original's marginals, so that
    the floor would be 1 for all tables of such columns. The shares hold the information: they are the marginals. A pair
    of columns likewise reaches any strength of association, if the others are left out. Hence the share of rows is
    chosen once, for all columns.
    """
    rows = min(original.rows, MOST_DRAWN)
    best = dict.fromkeys(fidelity, 0.0)
    for count in (rows, max(2, rows // 3)):
        for name, values in _values(
            [uniform_table(suppressed, rng, rows=count) for _ in range(DRAWS)], fidelity
        ).items():
            best[name] = max(best[name], min(1.0, float(values.mean() + MARGIN * values.std(ddof=1))))
    constant = constant_table(original)
    few = [uniform_table(suppressed, rng, rows=max(2, rows // 16)) for _ in range(DRAWS // 2)]
    for tables in ([constant], [suppressed], [uniform_table(suppressed, rng, copies=True)], few):
        for name, values in _values(tables, fidelity).items():
            best[name] = max(best[name], float(values.mean()))
    for name, measure in fidelity.items():
        if name == ASSOCIATIONS:
            searched = _equally_associated(original)
        else:
            searched = max(
                _best_columns(constant, suppressed, measure), _best_share(constant, suppressed, measure, rng)
            )
        best[name] = max(best[name], searched)
    return best


def _values(tables: Sequence[Profile], fidelity: Mapping[str, Callable[[Profile], float]]) -> dict[str, Floats]:
    return {name: np.array([measure(table) for table in tables]) for name, measure in fidelity.items()}


def _equally_associated(original: Profile) -> float:
    """Best `relative_association_fidelity` of tables in which all pairs have one strength, which is the mean."""
    if original.starts.size < 2:
        return 0.0
    strength = association(original)
    return 1 - relative_squared_distance(strength, np.full_like(strength, strength.mean()), strength)


def _best_columns(constant: CodedProfile, suppressed: CodedProfile, measure: Callable[[Profile], float]) -> float:
    """Best fidelity of tables whose columns are each constant or ``*``, by coordinate ascent from either."""
    kinds = [np.hstack(table.cells) for table in (constant, suppressed)]
    best = 0.0
    for start in kinds:
        mass = start
        reached = measure(DenseProfile(mass, constant.starts))
        for _ in range(SWEEPS):
            before = reached
            for block in constant.blocks:
                # One of the two kinds is the column's own.
                for kind in kinds:
                    if (mass[:, block] == kind[:, block]).all():
                        continue
                    trial = mass.copy()
                    trial[:, block] = kind[:, block]
                    if (value := measure(DenseProfile(trial, constant.starts))) > reached:
                        mass, reached = trial, value
            if reached == before:
                break
        best = max(best, reached)
    return best


def _best_share(
    constant: CodedProfile, suppressed: CodedProfile, measure: Callable[[Profile], float], rng: Generator
) -> float:
    """Best fidelity of tables of constant rows among rows of ``*`` or of draws, over the share of constant rows.

    On average draws are no nearer than ``*``. They are tried at the best share, and as a few among constants, since
    single tables reach more by luck.
    """
    pair = np.vstack([np.hstack(table.cells) for table in (constant, suppressed)])

    def reached(count: int, rows: int) -> float:
        return measure(DenseProfile(np.repeat(pair, [count, rows - count], axis=0), constant.starts))

    coarse = [reached(count, COARSE) for count in range(COARSE + 1)]
    near, step = int(np.argmax(coarse)), FINE // COARSE
    fine = {count: reached(count, FINE) for count in range(max(0, (near - 1) * step), min(FINE, (near + 1) * step) + 1)}
    best = max(fine, key=lambda count: fine[count])
    reaches = [*coarse, fine[best]]
    for copies, count in product((False, True), (best, FINE - FINE // 16)):
        values = []
        for _ in range(DRAWS):
            mass = uniform_table(suppressed, rng, copies=copies).mass
            mass[: round(count / FINE * len(mass))] = pair[0]
            values.append(measure(DenseProfile(mass, constant.starts)))
        reaches.append(min(1.0, float(np.mean(values) + MARGIN * np.std(values, ddof=1))))
    return max(reaches)


def association_noise(original: CodedProfile, rng: Generator) -> float:
    r"""Mean `relative_squared_distance` of `association` of two samples of the original's size and population.

    It is relative to the original's sum of squares. Random halves of the original are two samples of n/2 rows. The
    variance of a difference falls with the number of rows, so that samples of n rows differ by half of what the halves
    differ by. It is 0 if the original has fewer than 4 rows or 2 columns.

    Source: Politis, Romano and Wolf (1999), Subsampling, chapter 2, for rescaling statistics of smaller samples.
    """
    if original.rows < 4 or original.starts.size < 2:
        return 0.0
    strength = association(original)
    if not strength.any():
        return 0.0
    half = original.rows // 2
    distances = []
    for _ in range(SPLITS):
        order = rng.permutation(original.rows)
        first, second = (association(original.take(part)) for part in (order[:half], order[half : 2 * half]))
        distances.append(relative_squared_distance(first, second, strength))
    return float(np.mean(distances) / 2)
