"""How the values of a column came to be released, as shares of kept, disturbed and replaced values."""

from __future__ import annotations

from dataclasses import dataclass

from attacks.linkage.noise_families import Noise


@dataclass(frozen=True)
class ColumnMechanism:
    """Mechanism of one column.

    Attributes
    ----------
    shares : tuple of float
        Shares of kept, disturbed and replaced values.
    noise : Noise
        Noise of disturbed values; without meaning for columns without noise.
    evenly : bool
        Whether values are replaced by all values of the domain equally likely, else by frequency.
    """

    shares: tuple[float, float, float]
    noise: Noise
    evenly: bool = False
