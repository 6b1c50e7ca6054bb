"""Pseudonyms of identifiers that are read in parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.random import SeedSequence
from numpy.typing import NDArray

from defenses import Channel, Pseudonymization
from defenses.base.channel_parts import Independent
from scenarios.tables.parts.files.spool import block_generator
from scenarios.tables.parts.files.sql_names import literal, quoted
from scenarios.tables.parts.records import LargeRecords
from scenarios.tables.parts.released_blocks import PSEUDONYM, LargeRelease, ReleasedBlock
from scenarios.tables.parts.rowwise.steps import rowwise
from scenarios.tables.reading.arrow_tables import text_bytes

_KEY = 32
"""Bytes of the secret key."""
_READ = 1 << 16
"""Number of identifiers that are read at once."""


def pseudonymization(defense: Pseudonymization, records: LargeRecords, root: SeedSequence) -> LargeRelease:
    """Pseudonyms of any number of identifiers, in memory that does not grow with it.

    In memory, pseudonyms are drawn, which needs a table of all identifiers. Here a pseudonym is the beginning, 128
    bits, of SHA-256 of a secret key and the identifier's text. The key has 256 random bits and is forgotten at the end.
    Without it, pseudonyms look like random draws, and no name can be tried. Whoever knows the seed has the key.

    Parameters
    ----------
    defense : Pseudonymization
        The defense.
    records : LargeRecords
        The records.
    root : SeedSequence
        Root of the random generators.

    Raises
    ------
    ValueError
        If a column is not an identifier or there is none.
    """
    # The defense checks its parameters on the distinct values, which have no identifiers.
    defense.apply(records.roles.take([0]), np.random.default_rng(0))
    names = tuple(records.roles.identifiers if defense.columns is None else defense.columns)
    plain = rowwise(records, defense, root, [], Channel(tuple(Independent(name) for name in names)))

    def blocks() -> Iterator[ReleasedBlock]:
        key = block_generator(root, "pseudonyms").bytes(_KEY).hex()
        waiting: dict[str, NDArray[Any]] = {name: np.empty(0, dtype=PSEUDONYM) for name in names}
        stream = _pseudonyms(records, names, key)
        for block in plain.blocks():
            while len(waiting[names[0]]) < len(block):
                arriving = next(stream)
                waiting = {name: np.append(waiting[name], arriving[name]) for name in names}
            columns = {name: waiting[name][: len(block)] for name in names}
            waiting = {name: waiting[name][len(block) :] for name in names}
            yield replace(block, columns={**columns, **block.columns})

    return replace(plain, names=(*names, *plain.names), blocks=blocks)


def _pseudonyms(records: LargeRecords, names: Sequence[str], key: str) -> Iterator[dict[str, NDArray[Any]]]:
    """Pseudonyms of the identifiers of all rows, in the order of the table."""
    missing = ", ".join(literal(text) for text in ["", *records.missing_texts])
    expressions = ", ".join(
        f"CASE WHEN trim({quoted(name)}::VARCHAR) IN ({missing}) THEN NULL "
        f"ELSE 'p' || left(sha256($1 || {quoted(name)}::VARCHAR), 32) END AS {quoted(name)}"
        for name in names
    )
    # A cursor of its own, since the blocks are read at the same time.
    with records.files.plain_errors(), records.files.connection.cursor() as cursor:
        reader = cursor.sql(f"SELECT {expressions} FROM source", params=[key]).to_arrow_reader(_READ)
        for batch in reader:
            yield {name: _texts(batch.column(number)) for number, name in enumerate(names)}


def _texts(column: Any) -> NDArray[Any]:
    """Pseudonyms as texts of equal length, all zero bytes where missing, shape (rows,)."""
    filled = column.cast(pa.large_string()).fill_null("\0" * PSEUDONYM.itemsize)
    return np.frombuffer(text_bytes(filled), dtype=PSEUDONYM)
