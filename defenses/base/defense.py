"""The contract of defenses: on tables, and on blocks of rows after counts of the table are learned."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from defenses.base import blocks as sizes
from defenses.base.blocks import (
    PSEUDONYM,
    Block,
    CellList,
    CountedCells,
    RecordsInBlocks,
    ReleasePlan,
    block_generator,
    drawn_root,
)
from defenses.base.channel import Channel
from defenses.base.columns import (
    CodedColumn,
    code_column,
    code_values,
    filled,
    is_number_column,
    is_numeric,
    plain_numbers,
)
from defenses.base.guarantee import Guarantee
from defenses.base.microdata import Microdata
from defenses.base.parametrized import Parametrized
from defenses.base.release import MicrodataRelease, Release
from metrics.columns import Floats, Integers, escape_column


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


class BlockwiseDefense(MicrodataDefense):
    """A defense that learns counts of a table, draws what concerns the whole table, and releases it block by block.

    Releases are the same whether the table is held in memory or read in parts, by any number of workers.

    Examples
    --------
    Each number moves by at most a share of the column's standard deviation. The deviation is that of the whole table,
    and the moves are drawn block by block:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from defenses import BlockwiseDefense, Microdata
    >>> from defenses.base import ReleasePlan, Step
    >>> class Moved(BlockwiseDefense):
    ...     def __init__(self, *, column="age", share=0.1):
    ...         self.column, self.share = column, share
    ...     def fit(self, records, rng):
    ...         most = self.share * records.deviation(self.column)
    ...         def move(block, rng):
    ...             return {self.column: block.numbers(self.column) + rng.uniform(-most, most, len(block))}
    ...         return ReleasePlan([Step((self.column,), {}, move)], channel=None)
    >>> records = Microdata(pd.DataFrame({"age": [34, 52, 20], "job": ["a", "b", "c"]}))
    >>> released = Moved().apply(records, np.random.default_rng(1)).frame
    >>> released["job"].tolist(), bool((released["age"] - records.frame["age"]).abs().max() < 1.4)
    (['a', 'b', 'c'], True)
    """

    needs: Needs = "rows"

    @abstractmethod
    def fit(self, records: RecordsInBlocks, rng: Generator) -> ReleasePlan:
        """Learn from counts what every block needs, and draw what concerns the whole table.

        Raises
        ------
        ValueError
            If the parameters do not fit these records.
        """

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release the records, block by block."""
        root = drawn_root(rng)
        table = RecordsInMemory(records)
        return table.released(self.fit(table, block_generator(root, "fit")), root)


class RecordsInMemory(RecordsInBlocks):
    """Records in memory, whose columns are coded when they are asked for.

    Parameters
    ----------
    records : Microdata
        The records.
    """

    def __init__(self, records: Microdata) -> None:
        self._records = records
        self._coded: dict[str, CodedColumn] = {}
        self._numbers: dict[str, Floats] = {}

    @property
    def counted(self) -> Microdata:
        """The records."""
        return self._records

    def is_coded(self, name: str) -> bool:
        """Numbers are read as they are."""
        return not (is_number_column(self.counted.frame[name]) and is_numeric(self.counted, name))

    def coded(self, name: str) -> CodedColumn:
        """A column by its domain, or by its cells where it was released before."""
        if name not in self._coded:
            column = self.counted.frame[name]
            declared = None if name in self.counted.generalized else self.counted.domains.get(name)
            self._coded[name] = (
                code_values(column, ascending=True) if declared is None else code_column(column, declared)
            )
        return self._coded[name]

    def numbers(self, name: str) -> Floats:
        """Numbers of a column, shape (n,)."""
        if name not in self._numbers:
            self._numbers[name] = plain_numbers(self.counted.frame[name])
        return self._numbers[name]

    def column(self, name: str) -> CountedCells:
        """Distinct values of a column as they are stored, with the number of records of each."""
        coded = self.coded(name)
        if not coded.codes.size:
            return CountedCells(pd.Series(coded.values, name=name), coded.counts)
        # A code without records takes the value of the first record.
        first = np.zeros(coded.size, dtype=np.intp)
        first[coded.codes[::-1]] = np.arange(coded.codes.size)[::-1]
        return CountedCells(self.counted.frame[name].iloc[first].reset_index(drop=True), coded.counts)

    def blocks(self, names: Sequence[str] = ()) -> Iterator[Block]:
        """Blocks of `BLOCK` records; columns are looked up when they are asked for."""
        rows = len(self.counted)
        for number, start in enumerate(range(0, rows, sizes.BLOCK)):
            yield BlockInMemory(number, start, min(rows, start + sizes.BLOCK), self)

    def records(self, block: Block) -> Microdata:
        """The records of a block."""
        return self.counted.take(np.arange(block.start, block.start + len(block)))

    def number_at(self, name: str, position: int) -> float:
        """Number at a position among the sorted numbers of a column."""
        numbers = self.numbers(name)
        return float(np.partition(numbers[~np.isnan(numbers)], position)[position])

    def pseudonyms(self, names: Sequence[str], key: str) -> Iterator[Mapping[str, NDArray[Any]]]:
        """Pseudonyms of identifiers, block by block."""
        columns = {name: _pseudonyms(self.counted.frame[name], key) for name in names}
        for block in self.blocks():
            yield {name: column[block.start : block.start + len(block)] for name, column in columns.items()}

    def released(self, plan: ReleasePlan, root: SeedSequence) -> MicrodataRelease:
        """All blocks of a plan as one release, whose other columns stay as they are."""
        blocks = list(plan.blocks(self, root))
        origin = np.concatenate([np.arange(0), *(block.origin for block in blocks)])
        frame = released_frame(self.counted, dict.fromkeys(plan.changed))
        kept = slice(None) if origin.size == len(self.counted) else origin
        columns: dict[str, Any] = {
            name: _series([block.columns[name] for block in blocks], plan.cells.get(name))
            if name in plan.changed
            else frame[name].iloc[kept].reset_index(drop=True)
            for name in (*plan.first, *self.counted.released_columns)
        }
        return MicrodataRelease(pd.DataFrame(columns, index=pd.RangeIndex(origin.size)), origin, plan.channel)


@dataclass(frozen=True)
class BlockInMemory(Block):
    """Consecutive records in memory."""

    stop: int
    records: RecordsInMemory = field(repr=False)

    def __len__(self) -> int:
        return self.stop - self.start

    def codes(self, name: str) -> Integers:
        """Code of each record in a column."""
        return self.records.coded(name).codes[self.start : self.stop]

    def numbers(self, name: str) -> Floats:
        """Number of each record in a column of numbers."""
        return self.records.numbers(name)[self.start : self.stop]

    def values(self, name: str, kind: Any) -> pd.Series[Any]:
        """Values of a column as they are: a large integer is no float."""
        return self.records.counted.frame[name].iloc[self.start : self.stop]


def _series(parts: Sequence[NDArray[Any]], cells: CellList | None) -> pd.Series[Any]:
    """Released column of the codes, numbers or pseudonyms of some blocks."""
    if not parts:
        return pd.Series([], dtype=object)
    stored = np.concatenate(parts)
    if cells is not None:
        return cells.column(stored)
    if stored.dtype == PSEUDONYM:
        return pd.Series(stored.astype(str), dtype=object).where(stored != b"", None)
    return pd.Series(stored)


def _pseudonyms(column: pd.Series[Any], key: str) -> NDArray[Any]:
    """Pseudonym of each value of a column, shape (n,); empty where missing."""
    codes, distinct = pd.factorize(column.astype(object), use_na_sentinel=True)
    texts = [f"p{hashlib.sha256(f'{key}{value}'.encode()).hexdigest()[:32]}" for value in distinct]
    return np.array([*texts, ""], dtype=PSEUDONYM)[codes]
