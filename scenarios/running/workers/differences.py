"""Where two tables or two answers differ, and what a method changed in its inputs; no value is named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from defenses.base import Hierarchy, MicrodataRelease


def difference(before: pd.DataFrame, after: pd.DataFrame) -> str:
    """The first part in which two tables differ, such as ``column 'age'`` or ``the rows``; empty if they are equal.

    Examples
    --------
    >>> difference(pd.DataFrame({"age": [1, 2]}), pd.DataFrame({"age": [1, 3]}))
    "column 'age'"
    """
    if list(before.columns) != list(after.columns):
        return "the columns"
    if not before.index.equals(after.index):
        return "the rows"
    changed = [name for name in before.columns if not before[name].equals(after[name])]
    return f"column {changed[0]!r}" if changed else ""


def released_difference(first: MicrodataRelease, second: MicrodataRelease) -> str:
    """The first part in which two releases differ, as in `difference`; ``the origins`` after the table."""
    changed = difference(first.frame, second.frame)
    return changed or ("" if np.array_equal(first.origin, second.origin) else "the origins")


def different_attribute(first: Any, second: Any) -> str:
    """Name of the first attribute in which two answers differ, such as those of claims.

    Objects without content that could be compared, such as functions, count as equal. The name is empty if the answers
    are equal, and ``type`` if they are of different types.

    Examples
    --------
    >>> from attacks import Decisions
    >>> different_attribute(Decisions([0.5, 1]), Decisions([0.5, 0]))
    'scores'
    """
    if type(first) is not type(second):
        return "type"
    one, other = vars(first), vars(second)
    for name in {**one, **other}:
        if name not in one or name not in other or not _same(one[name], other[name]):
            return str(name)
    return ""


def _same(first: Any, second: Any) -> bool:
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    if isinstance(first, pd.DataFrame | pd.Series | pd.Index):
        return bool(first.equals(second))
    if isinstance(first, np.ndarray):
        return bool(np.array_equal(first, second, equal_nan=first.dtype.kind in "fc"))
    if isinstance(first, Mapping):
        return first.keys() == second.keys() and all(_same(value, second[key]) for key, value in first.items())
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(_same, first, second))
    if isinstance(first, float):
        return first == second or (first != first and second != second)
    if callable(first):
        return True
    if hasattr(first, "__dict__"):
        return not different_attribute(first, second)
    return "__eq__" not in dir(type(first)) or bool(first == second)


# What objects held before a method ran, to say what it has changed in them.


Change = Callable[[], str | None]


class Snapshot:
    """Remembers the content of objects that several methods share.

    It looks into tables, arrays, mappings, sequences, dataclasses, hierarchies and models with ``get_params``. What
    other objects hold is not compared, nor are attributes that appear later, such as cached properties. Objects are
    given by the names that messages give them.

    Examples
    --------
    >>> import pandas as pd
    >>> from defenses import Microdata
    >>> records = Microdata(pd.DataFrame({"age": [34, 52]}))
    >>> before = Snapshot(records=records)
    >>> before.change()
    >>> records.frame["age"] = 40
    >>> before.change()
    "records, column 'age'"
    """

    def __init__(self, **shared: Any) -> None:
        self._changes: list[Change] = []
        # Objects stay alive as long as this does, so that no other object takes the identity of one.
        self._seen: dict[int, Any] = {}
        for name, value in shared.items():
            self._watch(name, value)

    def change(self) -> str | None:
        """Name of the first object whose content has changed, None where all are as they were."""
        for changed in self._changes:
            if (place := changed()) is not None:
                return place
        return None

    def _watch(self, name: str, value: Any) -> None:
        if value is None or isinstance(value, str | bytes | int | float) or id(value) in self._seen:
            return
        self._seen[id(value)] = value
        if isinstance(value, pd.DataFrame):
            self._changes.append(_TableContent(name, value))
        elif isinstance(value, pd.Series):
            self._changes.append(_TableContent(name, value.to_frame()))
        elif isinstance(value, np.ndarray):
            self._changes.append(_ArrayContent(name, value))
        elif isinstance(value, Mapping):
            self._changes.append(_Parts(name, "entry {!r}", value.keys, value.values))
            self._watch_parts(name, "entry {!r}", dict(value))
        elif isinstance(value, list):
            self._changes.append(_Parts(name, "entry {}", lambda: range(len(value)), lambda: value))
            self._watch_parts(name, "entry {}", dict(enumerate(value)))
        elif isinstance(value, tuple):
            self._watch_parts(name, "entry {}", dict(enumerate(value)))
        elif is_dataclass(value) and not isinstance(value, type):
            self._watch_attributes(name, value, [field.name for field in fields(value)])
        elif isinstance(value, Hierarchy) or hasattr(value, "get_params"):
            self._watch_attributes(name, value, list(vars(value)))

    def _watch_attributes(self, name: str, value: Any, attributes: list[str]) -> None:
        def read() -> list[Any]:
            return [getattr(value, attribute, None) for attribute in attributes]

        settings = getattr(type(value), "__dataclass_params__", None)
        if settings is None or not settings.frozen:
            self._changes.append(_Parts(name, "{}", lambda: attributes, read))
        self._watch_parts(name, "{}", dict(zip(attributes, read(), strict=True)))

    def _watch_parts(self, name: str, naming: str, parts: dict[Any, Any]) -> None:
        for key, part in parts.items():
            # The frame of records is the table that their name means.
            self._watch(name if key == "frame" else f"{name}, {naming.format(key)}", part)


class _Parts:
    """Which parts a mapping, a list or an object has."""

    def __init__(
        self, name: str, naming: str, keys: Callable[[], Iterable[Any]], values: Callable[[], Iterable[Any]]
    ) -> None:
        self.name, self.naming, self.keys, self.values = name, naming, keys, values
        # The parts stay alive, so that no other object takes the identity of one.
        self.before = dict(zip(keys(), list(values()), strict=True))
        self.identities = [*map(id, self.before.values())]

    def __call__(self) -> str | None:
        if [*map(id, self.values())] == self.identities and [*self.keys()] == [*self.before]:
            return None
        after = dict(zip(self.keys(), list(self.values()), strict=True))
        for key in {**self.before, **after}:
            if key not in self.before or key not in after or not _same_part(self.before[key], after[key]):
                return f"{self.name}, {self.naming.format(key)}"
        return None


class _TableContent:
    """Content of a table."""

    def __init__(self, name: str, frame: pd.DataFrame) -> None:
        self.name, self.frame = name, frame
        self.labels, self.index = frame.columns, frame.index
        self.arrays = _arrays(frame)
        self.contents = [_content(array) for array in self.arrays]
        self.before = frame.copy()

    def __call__(self) -> str | None:
        if self._holds_same_arrays():
            return None
        for label, before in self.before.items():
            if label not in self.frame.columns or not _equal_columns(self.frame[label], before):
                return f"{self.name}, column {label!r}"
        if not self.frame.columns.equals(self.labels):
            return f"{self.name}, its columns"
        return None if self.frame.index.equals(self.index) else f"{self.name}, its index"

    def _holds_same_arrays(self) -> bool:
        """Whether the frame has its arrays still, with the same bytes; this takes microseconds for any width."""
        arrays = _arrays(self.frame)
        return (
            self.frame.columns is self.labels
            and self.frame.index is self.index
            and len(arrays) == len(self.arrays)
            and all(
                now is then and content is not None and _content(now) == content
                for now, then, content in zip(arrays, self.arrays, self.contents, strict=True)
            )
        )


class _ArrayContent:
    """Content of an array."""

    def __init__(self, name: str, array: NDArray[Any]) -> None:
        self.name, self.array, self.before = name, array, array.copy()
        self.content = _content(array)

    def __call__(self) -> str | None:
        same = _content(self.array) == self.content or _equal_arrays(self.array, self.before)
        return None if same else self.name


def _arrays(frame: pd.DataFrame) -> list[Any]:
    """Arrays that hold the columns of a frame, several columns in each; to read them column by column takes longer."""
    return list(frame._mgr.arrays)


def _content(array: Any) -> bytes | None:
    """Bytes of an array, which are addresses for objects; None for arrays of another kind than NumPy's."""
    return array.tobytes("A") if isinstance(array, np.ndarray) else None


def _equal_columns(one: Any, other: Any) -> bool:
    return bool(one.dtype == other.dtype and one.reset_index(drop=True).equals(other.reset_index(drop=True)))


def _equal_arrays(one: NDArray[Any], other: NDArray[Any]) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.dtype == object:
        return all(_same_part(a, b) for a, b in zip(one.ravel(), other.ravel(), strict=True))
    return bool(np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"))


def _same_part(one: Any, other: Any) -> bool:
    """Whether a part is the same object or an equal plain value."""
    plain = type(one) is type(other) and isinstance(one, str | bytes | int | float | bool)
    return one is other or (plain and bool(one == other))
