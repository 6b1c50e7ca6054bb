"""What a publisher makes public about a mechanism: the likelihood of released cells under original values.

A `Channel` is a set of parts, each for a column or a tuple of columns; columns that no part names are released as
they are. It is bound to one release and is written and read as TOML.
"""

from __future__ import annotations

import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from metrics.cells import read_cells
from metrics.domains import CategoricalDomain, Domain, NumericDomain

Floats = NDArray[np.float64]
# What fields of parts are annotated with: the types in a channel file, and how messages call them.
_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "float": (float, int),
    "int": (int,),
    "bool": (bool,),
    "Domain": (NumericDomain, CategoricalDomain),
}
_NAMES = {
    "str": "text",
    "float": "a number",
    "int": "a whole number",
    "bool": "true or false",
    "Domain": "a table with low and high, or with categories",
}


@dataclass(frozen=True)
class Likelihood:
    """Log-likelihoods of given released rows under given original rows.

    Parameters
    ----------
    released, original : tuple of ndarray
        What the kernel needs of either side; the first axis of each array runs over rows.
    kernel : callable
        Maps the arrays of both sides, broadcast against each other, to log-likelihoods.
    """

    released: tuple[NDArray[Any], ...]
    original: tuple[NDArray[Any], ...]
    kernel: Callable[..., Floats]

    def table(self) -> Floats:
        """Every released row under every original row, shape (released, original)."""
        left = (array[:, None] for array in self.released)
        right = (array[None, :] for array in self.original)
        return self.kernel(*left, *right)

    def at(self, rows: ArrayLike, candidates: ArrayLike) -> Floats:
        """Released rows under original rows for given pairs of positions, broadcast against each other."""
        left, right = np.asarray(rows), np.asarray(candidates)
        return self.kernel(*(array[left] for array in self.released), *(array[right] for array in self.original))


@dataclass(frozen=True)
class ChannelPart(ABC):
    """How one column, or several jointly, come from a record to its released row.

    Attributes
    ----------
    kind : str
        The part's name in a channel file.
    """

    kind: ClassVar[str]

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns that this part releases."""

    @abstractmethod
    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows; densities where the cells are continuous."""


@dataclass(frozen=True)
class ColumnPart(ChannelPart):
    """A part for one column.

    Parameters
    ----------
    column : str
        Its name.
    domain : Domain
        What its original values may be; how its cells are read.
    """

    column: str
    domain: Domain

    @property
    def columns(self) -> tuple[str, ...]:
        """The one column."""
        return (self.column,)


@dataclass(frozen=True)
class Containment(ColumnPart):
    """The released cell covers the original value: unchanged values, generalization, suppression.

    The log-likelihood is 0 where it does and -inf where it does not: given the value, the cell is certain, or depends
    only on what the attacker cannot know.
    """

    kind: ClassVar[str] = "containment"

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        cells = read_cells(released[self.column], self.domain)
        codes, distinct = pd.factorize(original[self.column], use_na_sentinel=False)
        with np.errstate(divide="ignore"):
            table = np.log(cells.contains(distinct).astype(float))
        return Likelihood((cells.codes,), (codes,), lambda cell, value: table[cell, value])


@dataclass(frozen=True)
class Channel:
    """What is public about a mechanism, bound to one release.

    Parameters
    ----------
    parts : tuple of ChannelPart
        For disjoint columns, which are released independently of each other given the record.
    sampling_rate : float
        Share of the records that were drawn for release, in (0, 1].

    Raises
    ------
    ValueError
        If two parts name one column or the rate lies outside (0, 1].
    """

    parts: tuple[ChannelPart, ...] = ()
    sampling_rate: float = 1.0

    def __post_init__(self) -> None:
        names = [name for part in self.parts for name in part.columns]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two parts of the channel release column {twice[0]!r}")
        if not 0 < self.sampling_rate <= 1:
            raise ValueError(f"sampling_rate must lie in (0, 1], got {self.sampling_rate}")

    @property
    def columns(self) -> frozenset[str]:
        """The columns that some part changes."""
        return frozenset(name for part in self.parts for name in part.columns)

    def combined(self, later: Channel) -> Channel | None:
        """Return the channel of this mechanism followed by `later`, None where they touch a column both."""
        if self.columns & later.columns:
            return None
        return Channel((*self.parts, *later.parts), self.sampling_rate * later.sampling_rate)

    def likelihoods(
        self, released: pd.DataFrame, original: pd.DataFrame, domains: dict[str, Domain]
    ) -> dict[tuple[str, ...], Likelihood]:
        """Log-likelihoods by columns; they add up over the columns.

        Parameters
        ----------
        released : DataFrame, shape (rows, columns)
            Released rows; only columns that `original` has as well are looked at.
        original : DataFrame, shape (candidates, columns)
            Original rows.
        domains : dict of str to Domain
            For the columns that are released as they are.

        Raises
        ------
        ValueError
            If a part releases several columns of which one side lacks some, or cells cannot be read.
        """
        shared = [str(name) for name in released.columns if name in original.columns]
        result = {}
        for part in self.parts:
            lacking = [name for name in part.columns if name not in shared]
            if lacking and len(part.columns) > 1:
                raise ValueError(f"column {lacking[0]!r} is missing; it is released jointly with others")
            if not lacking:
                result[part.columns] = part.bind(released, original)
        for name in shared:
            if name not in self.columns:
                result[name,] = Containment(name, domains[name]).bind(released, original)
        return result

    def to_toml(self) -> str:
        """Write the channel as TOML."""
        import tomli_w

        parts = [
            {"kind": part.kind, **{f.name: _plain(getattr(part, f.name)) for f in fields(part)}} for part in self.parts
        ]
        return tomli_w.dumps({"sampling_rate": self.sampling_rate, "part": parts})

    @staticmethod
    def from_toml(text: str) -> Channel:
        """Read a channel from TOML.

        Raises
        ------
        ValueError
            If the text is no TOML, a part is of unknown kind, or lacks or misnames a field.
        """
        try:
            content = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"the channel is no TOML: {error}") from None
        unknown = sorted(set(content) - {"sampling_rate", "part"})
        if unknown:
            raise ValueError(f"the channel has no key {unknown[0]!r}; it has sampling_rate and part")
        parts, rate = content.get("part", []), content.get("sampling_rate", 1.0)
        if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
            raise ValueError("the channel's parts must be tables under [[part]]")
        if not _is_a(rate, "float"):
            raise ValueError(f"sampling_rate must be a number, got {rate!r}")
        return Channel(tuple(_read_part(dict(part), number) for number, part in enumerate(parts, start=1)), float(rate))


def _kinds(base: type[ChannelPart] = ChannelPart) -> dict[str, type[ChannelPart]]:
    import defenses.channel_parts  # noqa: F401 (defines the other kinds)

    found = {base.kind: base} if hasattr(base, "kind") else {}
    for child in base.__subclasses__():
        found.update(_kinds(child))
    return found


def _read_part(content: dict[str, Any], number: int) -> ChannelPart:
    kinds = _kinds()
    kind = content.pop("kind", None)
    if kind not in kinds:
        raise ValueError(f"part {number} of the channel has kind {kind!r}; known are {', '.join(sorted(kinds))}")
    types = {f.name: str(f.type) for f in fields(kinds[kind])}
    where = f"part {number} of the channel ({kind})"
    if set(content) != set(types):
        wrong = sorted(set(content) ^ set(types))[0]
        raise ValueError(f"{where}: {'unknown' if wrong in content else 'no'} field {wrong!r}")
    try:
        values = {name: _rich(value) for name, value in content.items()}
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: {error}") from None
    for name, value in values.items():
        if not _is_a(value, types[name]):
            raise ValueError(f"{where}: field {name!r} must be {_NAMES.get(types[name], 'a list')}")
    return kinds[kind](**values)


def _is_a(value: Any, annotation: str) -> bool:
    """Whether a value read from TOML is of the type that a part's field is annotated with."""
    if annotation.startswith("tuple["):
        element = annotation.removeprefix("tuple[").removesuffix(", ...]")
        return isinstance(value, tuple) and all(_is_a(item, element) for item in value)
    if isinstance(value, bool):
        return annotation == "bool"
    return isinstance(value, _TYPES[annotation])


def _plain(value: Any) -> Any:
    if isinstance(value, NumericDomain):
        return {"low": value.low, "high": value.high, "integer": value.integer, "cuts": list(value.cuts)}
    if isinstance(value, CategoricalDomain):
        return {"categories": list(value.categories), "ordered": value.ordered}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def _rich(value: Any) -> Any:
    if isinstance(value, dict):
        if not isinstance(value.get("categories", []), list):
            raise ValueError("categories must be a list")
        return CategoricalDomain(**value) if "categories" in value else NumericDomain(**value)
    return tuple(_rich(item) for item in value) if isinstance(value, Sequence) and not isinstance(value, str) else value
