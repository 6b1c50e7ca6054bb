"""Test of the declaration that a defense randomizes records independently of each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from scipy import stats

from defenses import Defense, Microdata, MicrodataRelease

FALSE_ALARM = 1e-6
"""Probability at most that a defense whose declaration is true fails."""
RELEASES, COPIES = 200, 2000
"""Releases of the whole table, and copies of one record in one release."""


def dependence(defense: Defense, records: Microdata, rows: Sequence[int], rng: Generator) -> str:
    """Say how some records' released rows depend on other records; empty if they do not visibly.

    A record's released row must have the same distribution among the other records as among copies of itself. Every
    column is compared, and all columns without fractions together. Only coarse differences are found in so few
    releases: 0.2 in a probability near 1/2, or 0.1 in one near 0 or 1.

    Parameters
    ----------
    defense : Defense
        A defense that declares `randomizes_records_independently`.
    records : Microdata
        The table; a defense that treats rare values differently shows it if the chosen records hold some.
    rows : sequence of int
        Positions of the records whose released rows are compared.
    rng : Generator
        Source of all randomness.

    Notes
    -----
    Given the pooled sample, the number of times that one cell occurs among the other records is hypergeometric if both
    distributions are equal. Fractions are compared by the test of Kolmogorov and Smirnov. All tests together have a
    false-alarm probability of at most `FALSE_ALARM` (Bonferroni).
    """
    releases = [defense.apply(records, rng) for _ in range(RELEASES)]
    copied = [defense.apply(records.take(np.full(COPIES, row, dtype=np.intp)), rng) for row in rows]
    sizes = [*[len(records)] * RELEASES, *[COPIES] * len(rows)]
    for release, size in zip([*releases, *copied], sizes, strict=True):
        if not isinstance(release, MicrodataRelease) or not np.array_equal(np.sort(release.origin), np.arange(size)):
            return "does not release one row a record"
    frames = [_in_order(release) for release in releases]
    for row, copies in zip(rows, map(_in_order, copied), strict=True):
        among = pd.concat([frame.iloc[[row]] for frame in frames], ignore_index=True)
        columns = list(_compared(copies, among))
        for name, alone, together in columns:
            if _p_value(alone, together) * len(columns) * len(rows) < FALSE_ALARM:
                return f"releases {name} of a record otherwise among other records than among copies of it"
    return ""


def false_declaration(defense: Defense, found: str) -> str:
    """The message about a declaration that `dependence` found to be false."""
    return f"{type(defense).__name__} {found}: set randomizes_records_independently = False"


def _in_order(release: Any) -> pd.DataFrame:
    """The released rows in the order of their records."""
    frame: pd.DataFrame = release.frame.iloc[np.argsort(release.origin)].reset_index(drop=True)
    return frame


def _compared(first: pd.DataFrame, second: pd.DataFrame) -> Iterator[tuple[str, Any, Any]]:
    """What is compared of two tables: its name, and the cells of either table."""
    whole = []
    for name in first.columns:
        cells = [frame[name] if name in frame else pd.Series(["no column"] * len(frame)) for frame in (first, second)]
        # Whole numbers are texts, but a column of them may become one of fractions by another record's cell.
        kinds = {column.dtype.kind for column in cells}
        if "f" in kinds and kinds <= set("fiu"):
            alone, together = (column.astype(float).fillna(-np.inf).to_numpy() for column in cells)
            yield f"column {name!r}", alone, together
            continue
        texts = [column.astype(str).to_numpy(dtype=object) for column in cells]
        whole.append(texts)
        yield f"column {name!r}", texts[0], texts[1]
    if len(whole) > 1:
        alone, together = (_joined(texts) for texts in zip(*whole, strict=True))
        yield "the row", alone, together


def _joined(columns: Sequence[Any]) -> Any:
    """One text for each row of several columns."""
    return pd.Series(list(zip(*columns, strict=True))).astype(str).to_numpy(dtype=object)


def _p_value(first: Any, second: Any) -> float:
    """Probability, at most, of so different samples of one distribution."""
    if first.dtype.kind == "f":
        return float(stats.ks_2samp(first, second).pvalue)
    codes, cells = pd.factorize(np.concatenate([first, second]))
    pooled = np.bincount(codes, minlength=len(cells))
    seen = np.bincount(codes[first.size :], minlength=len(cells))
    law = stats.hypergeom(codes.size, pooled, second.size)
    return float(min(1.0, 2 * len(cells) * np.minimum(law.cdf(seen), law.sf(seen - 1)).min()))
