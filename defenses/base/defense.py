"""The contract of a defense."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.random import Generator

from defenses.base.channel import Channel
from defenses.base.columns import filled, is_numeric
from defenses.base.guarantee import Guarantee
from defenses.base.microdata import Microdata
from defenses.base.parametrized import Parametrized
from defenses.base.release import MicrodataRelease, Release
from metrics.columns import escape_column


class Defense(Parametrized, ABC):
    """A method to publish records.

    Attributes
    ----------
    kind : str
        The kind of release that `apply` returns.
    randomizes_records_independently : bool
        True if `apply` always releases one row a record, whose distribution depends on that record and the domains
        alone. An audit then counts a table of copies of one record as that many runs. False guarantees nothing.

    Examples
    --------
    Randomized response: each person's answer is flipped with probability 1/4.

    >>> import numpy as np
    >>> import pandas as pd
    >>> from defenses import Defense, Microdata, ReportsRelease
    >>> class FlippedAnswers(Defense):
    ...     kind = "reports"
    ...     def apply(self, records, rng):
    ...         flips = rng.random(len(records)) < 0.25
    ...         return ReportsRelease([records.frame["smokes"] ^ flips], protocol={"flip": 0.25})
    >>> records = Microdata(pd.DataFrame({"smokes": [True, False, False]}), sensitive=("smokes",))
    >>> release = FlippedAnswers().apply(records, np.random.default_rng(1))
    >>> release.protocol, release.reports[0].shape
    ({'flip': 0.25}, (3,))
    """

    kind: ClassVar[str] = "microdata"
    randomizes_records_independently: ClassVar[bool] = False

    @abstractmethod
    def apply(self, records: Microdata, rng: Generator) -> Release:
        """Make a release of `records`, which are not modified.

        Raises
        ------
        ValueError
            If the parameters do not fit these records.
        """

    def check(self, records: Microdata) -> None:
        """Check before any random draw that the parameters fit these records.

        Raises
        ------
        ValueError
            If they do not; names the parameter.
        """
        self.guarantee(records)

    def guarantee(self, records: Microdata) -> Guarantee:
        """Return the privacy guarantee of every release of these records; the default guarantees nothing.

        Raises
        ------
        ValueError
            If the parameters do not fit these records.
        """
        return Guarantee()


def applied(defense: Defense, records: Any, rng: Generator) -> Any:
    """What a defense releases of records.

    Raises ValueError if it is no release; the message names the class and what `apply` must return.
    """
    release = defense.apply(records, rng)
    if not isinstance(release, Release):
        kinds = {each.kind: each.__name__ for each in Release.__subclasses__()}
        right = f"apply must return a {kinds.get(defense.kind, 'Release')}, got {type(release).__name__}"
        raise ValueError(f"{type(defense).__name__}: {right}")
    return release


Needs = Literal["rows", "histograms", "combinations", "permutation", "table"]
"""What a defense of tables learns of a table before it releases a row; see `MicrodataDefense`."""


class MicrodataDefense(Defense):
    """A defense that publishes a table.

    Attributes
    ----------
    needs : {"rows", "histograms", "combinations", "permutation", "table"}
        What the defense learns of a table before it releases a row. This decides how a table is released that is read
        in parts:

        - *rows*: nothing, or how many records there are. Rows are released block by block.
        - *histograms*: how many records have each value of a column. Rows are then released block by block.
        - *combinations*: how many records have each combination of values in some columns. Each combination is given
          its released cells, and rows are then released block by block.
        - *permutation*: columns as a whole, whose values change places.
        - *table*: all records at once, which must fit into memory. This is the default, for any class with `apply`.

    Examples
    --------
    Top coding of ages at 90:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from defenses import Microdata, MicrodataDefense
    >>> from defenses.base.defense import released_frame, rowwise_release
    >>> class TopCoding(MicrodataDefense):
    ...     def apply(self, records, rng):
    ...         ages = records.frame["age"].clip(upper=90)
    ...         return rowwise_release(released_frame(records, {"age": ages}), channel=None)
    >>> records = Microdata(pd.DataFrame({"age": [34, 97]}), quasi_identifiers=("age",))
    >>> TopCoding().apply(records, np.random.default_rng(1)).frame["age"].tolist()
    [34, 90]
    """

    @property
    def needs(self) -> Needs:
        """What the defense learns of a table before it releases a row."""
        return "rows" if self.columnwise or self.randomizes_records_independently else "table"

    @property
    def columnwise(self) -> bool:
        """Whether nothing is drawn, and cells follow from the values in their columns and from parameters alone.

        Large tables are then released by the values that occur in each column.
        """
        return False

    @abstractmethod
    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release a table: rows in the order of the records, without identifiers."""


def released_frame(records: Microdata, cells: Mapping[str, Any] | None = None) -> pd.DataFrame:
    """Return the records without identifiers, as released cells, with rows numbered from 0.

    Parameters
    ----------
    records : Microdata
        The n records.
    cells : mapping of str to array_like, each of shape (n,), optional
        Released cells of the columns that a defense replaces.
    """
    replaced = cells or {}
    columns = {}
    for name in records.released_columns:
        if name in replaced:
            columns[name] = replaced[name]
            continue
        column = records.frame[name].reset_index(drop=True)
        columns[name] = column if name in records.generalized else escape_column(column, records.domains.get(name))
    return pd.DataFrame(columns, index=pd.RangeIndex(len(records)))


def rowwise_release(frame: pd.DataFrame, channel: Channel | None) -> MicrodataRelease:
    """Return a release whose row i stems from record i."""
    return MicrodataRelease(frame, np.arange(len(frame)), channel)


def numeric_columns(records: Microdata, columns: Sequence[str] | None) -> tuple[str, ...]:
    """The columns that hold values among those given, by default among the numeric quasi-identifiers.

    Raises ValueError if a column is not released.
    """
    default = [name for name in records.quasi_identifiers if is_numeric(records, name)]
    return filled(records, chosen_columns(records, columns, default))


def chosen_columns(records: Microdata, columns: Sequence[str] | None, default: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that a defense works on: the ones given, or its default.

    Raises ValueError if a given column does not exist or is an identifier.
    """
    names = tuple(default if columns is None else columns)
    for name in names:
        records.check_released("columns", name)
    return names
