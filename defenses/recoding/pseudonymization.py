"""Pseudonymization: identifiers replaced by random pseudonyms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from numpy.random import Generator, SeedSequence

from defenses.base import (
    BlockwiseDefense,
    Channel,
    Independent,
    RecordsInBlocks,
    ReleasedBlock,
    ReleasePlan,
    check_columns,
)
from metrics.columns import refuse, refuse_any, require

KEY = 32
"""Bytes of the secret key."""

_TOKEN = re.compile(r"p[0-9a-f]{32}")


def is_pseudonym(value: object) -> bool:
    """Return whether a value has the form of a pseudonym."""
    return isinstance(value, str) and _TOKEN.fullmatch(value) is not None


class Pseudonymization(BlockwiseDefense):
    """Identifiers are replaced by random pseudonyms; all other columns are released unchanged.

    Within one release, a value has the same pseudonym in every row and column, so that a person's rows stay linked. Two
    releases share no pseudonyms. A missing value stays missing.

    It guarantees nothing: an attacker who knows a person's quasi-identifiers finds the row. Pseudonymized data are
    therefore still personal data.

    Parameters
    ----------
    columns : sequence of str, optional
        The identifiers to release as pseudonyms, by default all; the others are dropped.

    Raises
    ------
    ValueError
        If a column is named twice or `columns` is empty. On `apply`, if a column is not an identifier or there is none.
        In a pipeline this must be the first step, since every step drops the identifiers of its input.

    Notes
    -----
    A pseudonym is the beginning, 128 bits, of SHA-256 of a secret key and the identifier's text; two of a million
    pseudonyms are equal with a probability below 2e-27. The key has 256 random bits and is forgotten at the end.
    Without it, pseudonyms look like random draws, and no name can be tried. Whoever knows the seed has the key.
    """

    called = ("Pseudonymization", "Tokenization")

    def __init__(self, *, columns: Sequence[str] | None = None) -> None:
        self.columns = check_columns(columns)
        refuse(columns is not None and not columns, "columns must name at least one identifier")

    def fit(self, records: RecordsInBlocks, rng: Generator) -> ReleasePlan:
        """Draw the key; the pseudonyms are the first columns."""
        roles = records.counted
        names = roles.identifiers if self.columns is None else tuple(self.columns)
        require(
            roles.identifiers, "columns: the table has no identifier to replace; in a pipeline this is the first step"
        )
        identifiers = ", ".join(roles.identifiers)
        refuse_any(
            [name for name in names if name not in roles.identifiers],
            lambda name: f"columns: {name!r} is no identifier of the table; identifiers are {identifiers}",
        )
        channel = Channel(tuple(Independent(name) for name in names))
        return _Pseudonyms((), channel, first=names, key=rng.bytes(KEY).hex())


@dataclass(frozen=True, kw_only=True)
class _Pseudonyms(ReleasePlan):
    """Pseudonyms by a secret key, beside all other columns."""

    key: str = field(repr=False)

    @property
    def changed(self) -> tuple[str, ...]:
        """The pseudonyms, and columns that change otherwise."""
        return (*self.first, *self.made)

    def blocks(self, records: RecordsInBlocks, root: SeedSequence) -> Iterator[ReleasedBlock]:
        """Release all blocks with the pseudonyms of their records."""
        for block, pseudonyms in zip(
            super().blocks(records, root), records.pseudonyms(self.first, self.key), strict=True
        ):
            yield replace(block, columns={**pseudonyms, **block.columns})
