"""Pairs of values of a domain on which local mechanisms are audited."""

from __future__ import annotations

import numpy as np

# Largest number of values that occur in a pair.
SHOWN = 8


def value_pairs(d: int) -> list[tuple[int, int]]:
    """Pairs in which every value of a small domain occurs, and those of an even spread over a large one.

    These are neighbouring pairs of the chosen values, and the first with the last value. A mechanism that treats one
    value differently is run on that value if the domain has at most `SHOWN` values.

    Parameters
    ----------
    d : int
        Number of values.

    Examples
    --------
    >>> value_pairs(5)
    [(0, 1), (2, 3), (0, 4)]
    >>> value_pairs(100)
    [(0, 1), (17, 34), (50, 66), (83, 99), (0, 99)]
    """
    chosen = np.arange(d) if d <= SHOWN else np.append(0, np.linspace(1, d - 1, SHOWN - 1).round().astype(int))
    paired = chosen[: chosen.size // 2 * 2].reshape(-1, 2).tolist()
    return list(dict.fromkeys([*map(tuple, paired), (0, d - 1)]))
