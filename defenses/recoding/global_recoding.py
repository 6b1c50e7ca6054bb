"""Full-domain generalization of columns."""

from __future__ import annotations

from collections.abc import Mapping

from numpy.random import Generator

from defenses.base import (
    Channel,
    Containment,
    Microdata,
    MicrodataDefense,
    MicrodataRelease,
    chosen_columns,
    filled,
    released_frame,
    rowwise_release,
)
from metrics.columns import check_integer, in_column, require


class GlobalRecoding(MicrodataDefense):
    """Full-domain generalization: every value of a column is generalized to the same level of its hierarchy.

    It guarantees nothing by itself: the number of records that share a row depends on the table.

    Parameters
    ----------
    levels : mapping of str to int, or int
        Level of each column, 0 for no change; or one level for every quasi-identifier that has a hierarchy, limited to
        the height of the hierarchy.

    Raises
    ------
    ValueError
        If a level is not an integer of at least 0.

    References
    ----------
    Samarati (2001), "Protecting respondents' identities in microdata release", full-domain generalization.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from defenses import GlobalRecoding, Hierarchy, Microdata
    >>> ages = Hierarchy.from_intervals([[30, 40]], low=20, high=49, integer=True)
    >>> frame = pd.DataFrame({"age": [23, 37, 48]})
    >>> records = Microdata(frame, quasi_identifiers=("age",), hierarchies={"age": ages})
    >>> GlobalRecoding(levels={"age": 1}).apply(records, np.random.default_rng(0)).frame["age"].tolist()
    ['[20,29]', '[30,39]', '[40,49]']
    """

    called = ("Global recoding", "Full-domain generalization", "Generalization")

    def __init__(self, *, levels: Mapping[str, int] | int = 1) -> None:
        if isinstance(levels, Mapping):
            for column, level in levels.items():
                check_integer(f"levels[{column!r}]", level, low=0)
        else:
            check_integer("levels", levels, low=0)
        self.levels = levels

    columnwise = True
    """Cells follow from the values in their columns."""

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release the generalized columns."""
        frame = released_frame(records)
        parts = []
        for name, level in self._levels(records).items():
            try:
                frame[name] = records.hierarchies[name].generalize(records.frame[name], level)
            except ValueError as error:
                raise in_column(name, error) from None
            parts.append(Containment(name, records.domain(name)))
        return rowwise_release(frame, Channel(tuple(parts)))

    def check(self, records: Microdata) -> None:
        """Check that the columns have hierarchies with these levels."""
        self._levels(records)

    def _levels(self, records: Microdata) -> dict[str, int]:
        """Level of each column that is generalized."""
        if isinstance(self.levels, Mapping):
            for name in chosen_columns(records, tuple(self.levels), ()):
                require(name in records.hierarchies, f"levels: column {name!r} has no hierarchy")
                height = records.hierarchies[name].height
                level = self.levels[name]
                require(level <= height, f"levels: column {name!r} has levels 0 to {height}, got {level}")
            levels = dict(self.levels)
        else:
            covered = [name for name in records.quasi_identifiers if name in records.hierarchies]
            levels = {name: min(self.levels, records.hierarchies[name].height) for name in covered}
        return {name: levels[name] for name in filled(records, tuple(levels)) if levels[name] > 0}
