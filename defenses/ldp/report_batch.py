"""Reports of a protocol: their arrays, and the format that each array must have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.columns import refuse


@dataclass(frozen=True)
class Part:
    """Type, shape and range of one array of a protocol's reports.

    Parameters
    ----------
    dtype : type
        The exact NumPy type.
    columns : int, optional
        Number of entries a person; by default the array is one-dimensional with one number a person.
    top : int, optional
        Largest number, if the range is smaller than the type's; the smallest is then 0.
    bits : int
        Length of one person's entries as sent.
    """

    dtype: Any
    columns: int | None = None
    top: int | None = None
    bits: int = 0

    def fits(self, array: Any) -> bool:
        """Return whether an array has this type, shape and range."""
        if not isinstance(array, np.ndarray) or array.dtype != self.dtype:
            return False
        if array.shape[1:] != (() if self.columns is None else (self.columns,)):
            return False
        return self.top is None or not array.size or bool(array.min() >= 0 and array.max() <= self.top)

    def __str__(self) -> str:
        shape = "(n,)" if self.columns is None else f"(n, {self.columns})"
        bounds = "" if self.top is None else f", within 0..{self.top}"
        return f"{np.dtype(self.dtype)}, shape {shape}{bounds}"


def numbers_to(top: int) -> Part:
    """Return the part of one number a person, 0 to `top`, in the smallest type that holds them."""
    return Part(np.min_scalar_type(int(top)), top=int(top), bits=int(top).bit_length())


def packed(width: int) -> Part:
    """Return the part of `width` bits a person, eight to a byte."""
    return Part(np.uint8, columns=-(-int(width) // 8), bits=int(width))


@dataclass(frozen=True, eq=False)
class ReportBatch:
    """Reports of one protocol, one a person.

    Parameters
    ----------
    protocol : FrequencyOracle
        The protocol that made the reports and that alone can read them.
    parts : mapping of str to ndarray
        Parts of the reports by name; every array holds one entry or row a person, in the persons' order.

    Raises
    ------
    ValueError
        If there is no part, or the parts are not arrays of one length.
    """

    protocol: Any
    parts: Mapping[str, NDArray[Any]] = field(repr=False)

    def __post_init__(self) -> None:
        arrays = list(self.parts.values())
        refuse(
            any(not isinstance(part, np.ndarray) or not part.ndim for part in arrays)
            or (len({len(part) for part in arrays}) != 1),
            "the parts of reports must be arrays of one length, one entry a person",
        )

    def __len__(self) -> int:
        return len(next(iter(self.parts.values())))

    @property
    def nbytes(self) -> int:
        """Memory of the reports, in bytes."""
        return sum(part.nbytes for part in self.parts.values())

    def take(self, positions: ArrayLike | slice) -> ReportBatch:
        """Return the reports at `positions`, shape (m,), or in a slice."""
        rows = positions if isinstance(positions, slice) else np.asarray(positions)
        return ReportBatch(self.protocol, {name: part[rows] for name, part in self.parts.items()})


def chunks(n: int, width: int, entries: int = 1 << 22) -> Iterator[slice]:
    """Yield slices of n rows, each of about so many entries of tables with `width` columns."""
    step = max(1, entries // max(1, width))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))
