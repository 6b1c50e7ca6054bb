"""The base of PRAM defenses with a retention probability for each category."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.channel import Channel
from defenses.channel_parts import RetentionVector
from defenses.columns import category_codes, check_columns, filled
from defenses.defense import MicrodataDefense, chosen_columns, released_frame, rowwise_release
from defenses.guarantee import Guarantee
from defenses.microdata import Microdata
from defenses.pram.sampling import replace
from defenses.release import MicrodataRelease
from metrics.cells import escape
from metrics.domains import Domain, NumericDomain

Floats = NDArray[np.float64]

MOST_CELLS = 10_000_000
"""Combinations of categories up to which columns are randomized jointly."""


class RetentionVectors(MicrodataDefense):
    """PRAM with a retention probability for each category; how these come about is the subclass's.

    A column takes the categories of its domain; one with numbers takes its public bins, and a number is released as
    its bin or another. In a column in which a value is missing, the missing value is one more category. Columns are
    randomized independently and share the budget evenly, or jointly: then their combinations are the categories.
    """

    columns: Sequence[str] | None
    jointly: bool

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release the randomized columns."""
        frame = released_frame(records)
        groups = self._groups(records)
        parts = []
        for names, generator in zip(groups, rng.spawn(len(groups)), strict=True):
            domains = tuple(records.domain(name) for name in names)
            sizes = tuple(size_of(records, name) for name in names)
            cells = np.ravel_multi_index(tuple(category_codes(records, name) for name in names), sizes)
            counts = np.bincount(cells, minlength=int(np.prod(sizes)))
            retention = self._retention(records, names, counts, len(groups), generator)
            released = np.unravel_index(replace(cells, retention, generator), sizes)
            for name, domain, codes in zip(names, domains, released, strict=True):
                frame[name] = pd.Series(_cells(domain)[codes], dtype=object)
            parts.append(RetentionVector(names, domains, sizes, tuple(retention.tolist())))
        return rowwise_release(frame, Channel(tuple(parts)))

    @abstractmethod
    def _retention(
        self, records: Microdata, names: tuple[str, ...], counts: NDArray[np.intp], share: int, rng: Generator
    ) -> Floats:
        """Retention probabilities of a group of columns that gets one of `share` parts of the budget."""

    def _groups(self, records: Microdata) -> tuple[tuple[str, ...], ...]:
        names = filled(records, chosen_columns(records, self.columns, records.quasi_identifiers))
        if self.jointly and names:
            cells = np.prod([float(size_of(records, name)) for name in names])
            if cells > MOST_CELLS:
                raise ValueError(
                    f"jointly: the columns {', '.join(names)} have {cells:.3g} cells, at most {MOST_CELLS:,}"
                )
            return (names,)
        return tuple((name,) for name in names)

    def _check_common(self, columns: Sequence[str] | None, jointly: bool) -> None:
        check_columns(columns)
        if not isinstance(jointly, bool):
            raise ValueError(f"jointly must be true or false, got {jointly!r}")

    def _not_public(self, records: Microdata) -> Guarantee | None:
        """Return the empty guarantee where the categories themselves are read from the records."""
        names = [name for group in self._groups(records) for name in group]
        if not names:
            return Guarantee(statement="none: no column is randomized")
        read = [name for name in names if name not in records.domains]
        if read:
            return Guarantee(statement=f"none: the domain of {', '.join(read)} is not public but read from the records")
        holes = [name for name in names if size_of(records, name) > records.domain(name).size]
        if holes:
            return Guarantee(
                statement=f"none: that a value of {', '.join(holes)} is missing, which makes missing a category, is "
                "read from the records"
            )
        return None

    def _about(self, records: Microdata) -> str:
        names = ", ".join(name for group in self._groups(records) for name in group)
        return f"one record replaced by any other, of the columns {names} together; other columns are released as is"


def size_of(records: Microdata, name: str) -> int:
    """Categories of a column, with one for missing values where there are any."""
    return records.domain(name).size + int(records.frame[name].isna().any())


def _cells(domain: Domain) -> NDArray[np.object_]:
    """Each category or bin as a released cell, and the missing one."""
    names = domain.cells() if isinstance(domain, NumericDomain) else [escape(name) for name in domain.categories]
    return np.array([*names, None], dtype=object)
