"""The channel of a release: likelihoods of released cells under original values.

A `Channel` is the public description of a mechanism. It consists of parts, one for each column or tuple of columns
that the mechanism changes; all other columns are released unchanged. It belongs to one release and is written and
read as TOML.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import pandas as pd

from defenses.base.channel_parts import ChannelPart, Containment, Likelihood
from defenses.base.channel_parts.file import is_a, read_part, written_part
from metrics.columns import Domain, errors_at, refuse_any, require


@dataclass(frozen=True)
class Channel:
    """The public description of a mechanism, for one release.

    Parameters
    ----------
    parts : tuple of ChannelPart
        Parts for disjoint columns; given the record, they release their columns independently of each other.
    sampling_rate : float
        Share of the records that are drawn for release, in (0, 1].

    Raises
    ------
    ValueError
        If two parts name one column or the rate lies outside (0, 1].

    Examples
    --------
    >>> import pandas as pd
    >>> from defenses import Channel
    >>> from defenses.base.channel_parts import Rounded
    >>> channel = Channel((Rounded("age", 10.0),))
    >>> released, original = pd.DataFrame({"age": [20, 30]}), pd.DataFrame({"age": [19, 33]})
    >>> channel.likelihoods(released, original, {})["age",].table().tolist()
    [[0.0, -inf], [-inf, 0.0]]
    """

    parts: tuple[ChannelPart, ...] = ()
    sampling_rate: float = 1.0

    def __post_init__(self) -> None:
        names = [name for part in self.parts for name in part.columns]
        refuse_any(
            sorted({name for name in names if names.count(name) > 1}),
            lambda name: f"two parts of the channel release column {name!r}",
        )
        require(0 < self.sampling_rate <= 1, f"sampling_rate must lie in (0, 1], got {self.sampling_rate}")

    @property
    def columns(self) -> frozenset[str]:
        """The columns that some part releases."""
        return frozenset(name for part in self.parts for name in part.columns)

    @property
    def original_domains(self) -> Mapping[str, Domain]:
        """Domains of the original values, for the columns whose part states one."""
        return MappingProxyType({name: domain for part in self.parts for name, domain in part.original_domains.items()})

    def combined(self, later: Channel) -> Channel | None:
        """Return the channel of this mechanism followed by `later`; None where both release the same column."""
        if self.columns & later.columns:
            return None
        return Channel((*self.parts, *later.parts), self.sampling_rate * later.sampling_rate)

    def likelihoods(
        self, released: pd.DataFrame, original: pd.DataFrame, domains: dict[str, Domain]
    ) -> dict[tuple[str, ...], Likelihood]:
        """Log-likelihoods of released rows under original rows, by columns; their sum is the log-likelihood of the row.

        Parameters
        ----------
        released : DataFrame, shape (rows, columns)
            Released rows; columns that `original` lacks are ignored.
        original : DataFrame, shape (candidates, columns)
            Original rows.
        domains : dict of str to Domain
            Domains of the columns that are released unchanged.

        Raises
        ------
        ValueError
            If one of the tables lacks some of the columns that a part releases jointly, or a cell cannot be read.
        """
        shared = [str(name) for name in released.columns if name in original.columns]
        result = {}
        for part in self.parts:
            lacking = [name for name in part.columns if name not in shared]
            usable = part.restricted(shared) if lacking else part
            if usable is None and len(lacking) < len(part.columns):
                raise ValueError(f"column {lacking[0]!r} is missing; it is released jointly with others")
            if usable is not None:
                result[usable.columns] = usable.bind(released, original)
        for name in shared:
            if name not in self.columns:
                result[name,] = Containment(name, domains[name]).bind(released, original)
        return result

    def to_toml(self) -> str:
        """Write the channel as TOML."""
        import tomli_w

        return tomli_w.dumps({"sampling_rate": self.sampling_rate, "part": [written_part(part) for part in self.parts]})

    @staticmethod
    def from_toml(text: str) -> Channel:
        """Read a channel from TOML.

        Raises
        ------
        ValueError
            If the text is not TOML, a part has an unknown kind, or a field is missing or unknown.
        """
        with errors_at("the channel is not valid TOML"):
            content = tomllib.loads(text)
        refuse_any(
            sorted(set(content) - {"sampling_rate", "part"}),
            lambda key: f"the channel has no key {key!r}; it has sampling_rate and part",
        )
        parts, rate = content.get("part", []), content.get("sampling_rate", 1.0)
        require(
            isinstance(parts, list) and all(isinstance(part, dict) for part in parts),
            "the channel's parts must be tables under [[part]]",
        )
        require(is_a(rate, "float"), f"sampling_rate must be a number, got {rate!r}")
        return Channel(tuple(read_part(dict(part), number) for number, part in enumerate(parts, start=1)), float(rate))
