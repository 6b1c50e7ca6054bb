"""Random samples and permutations of rows that are read in parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from defenses import Channel, Pseudonymization, Sampling, Shuffle, StratifiedSampling
from defenses.base import chosen_columns
from defenses.base.channel_parts import Independent, Presence
from metrics.columns import Booleans, Integers, refuse
from scenarios.tables.parts.files.csv_files import literal, quoted
from scenarios.tables.parts.files.spool import block_generator
from scenarios.tables.parts.records import Block, LargeRecords
from scenarios.tables.parts.released_blocks import PSEUDONYM, LargeRelease, ReleasedBlock
from scenarios.tables.parts.rowwise.steps import code_counts, rowwise, step_cells, unchanged_step
from scenarios.tables.reading.arrow_tables import text_bytes

# Pseudonyms of identifiers that are read in parts.

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


SHUFFLED = 1 << 18
"""Number of rows whose permuted values are drawn at once."""


@dataclass
class SequentialSample:
    """Simple random sampling without replacement in each stratum, block by block.

    It is known how many rows of a stratum are still to be read, and how many of them to be sampled. The number sampled
    from the next block is then hypergeometric, and all sets of that many rows are equally likely.

    Parameters
    ----------
    root : SeedSequence
        Root of the random generators.
    left : ndarray of int, shape (strata,)
        Number of rows of each stratum that are still to be read.
    wanted : ndarray of int, shape (strata,)
        Number of them that are still to be sampled.
    strata : callable
        ``strata(block)`` gives the stratum of each row of a block.
    purpose : str
        What the sample is for; another purpose draws another one.
    """

    root: SeedSequence
    left: Integers
    wanted: Integers
    strata: Callable[[Block], Integers]
    purpose: str = "sample"

    def __call__(self, block: Block) -> Booleans:
        """Tell which rows of the next block are sampled, shape (rows,)."""
        rng = block_generator(self.root, self.purpose, block.number)
        strata = self.strata(block)
        sizes = np.bincount(strata, minlength=self.left.size)
        taken = np.zeros(self.left.size, dtype=np.int64)
        # numpy draws no sample of nothing.
        some = np.flatnonzero((sizes > 0) & (self.wanted > 0))
        taken[some] = rng.hypergeometric(self.wanted[some], self.left[some] - self.wanted[some], sizes[some])
        self.left, self.wanted = self.left - sizes, self.wanted - taken
        order = np.lexsort((rng.random(strata.size), strata))
        rank = np.empty(strata.size, dtype=np.int64)
        rank[order] = np.arange(strata.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return np.asarray(rank < taken[strata])


def selection(rows: int, wanted: int, root: SeedSequence, purpose: str = "sample") -> SequentialSample:
    """Simple random sampling of a number of rows from all rows of a table, block by block.

    Parameters
    ----------
    rows, wanted : int
        Number of rows, and of rows to be sampled.
    root : SeedSequence
        Root of the random generators.
    purpose : str
        What the sample is for.
    """
    return SequentialSample(
        root, np.array([rows]), np.array([wanted]), lambda block: np.zeros(len(block), dtype=np.int64), purpose
    )


def sampling(defense: Sampling, records: LargeRecords, root: SeedSequence) -> LargeRelease:
    """Simple random sample of the whole table.

    Parameters
    ----------
    defense : Sampling
        The defense.
    records : LargeRecords
        The records.
    root : SeedSequence
        Root of the random generators.
    """
    rows = records.rows
    count = min(rows, max(1, int(np.floor(defense.rate * rows + 0.5))))
    channel = Channel(sampling_rate=float(defense.rate))
    return rowwise(records, defense, root, [], channel, chosen=lambda: selection(rows, count, root))


def stratified_sampling(defense: StratifiedSampling, records: LargeRecords, root: SeedSequence) -> LargeRelease:
    """Stratified sample of the whole table.

    The systematic rule of `StratifiedSampling` fixes the number of rows of each stratum; which rows these are is a
    simple random sample of the stratum.

    Parameters
    ----------
    defense : StratifiedSampling
        The defense.
    records : LargeRecords
        The records.
    root : SeedSequence
        Root of the random generators.

    Raises
    ------
    ValueError
        If there is no such column, or it holds nearly distinct numbers.
    """
    (name,) = chosen_columns(records.roles, [defense.by], ())
    column = records.columns[name]
    refuse(column.numbers_only, f"by: column {name!r} holds nearly distinct numbers, which make no strata")
    counts = code_counts(column)
    ends = np.floor(defense.rate * np.append(0, np.cumsum(counts)) + block_generator(root, "offset").random())
    wanted = np.minimum(np.diff(ends).astype(np.int64), counts)

    def chosen() -> SequentialSample:
        return SequentialSample(root, counts, wanted, lambda block: block.columns[name])

    return rowwise(records, defense, root, [], Channel(sampling_rate=float(defense.rate)), chosen=chosen)


@dataclass
class _Urn:
    """Codes of a column that are still to be released, by their number."""

    name: str
    left: Integers = field(repr=False)

    def draw(self, rows: int, rng: Generator) -> NDArray[np.int32]:
        """Codes of the next rows, drawn without replacement, shape (rows,)."""
        occurring = np.flatnonzero(self.left)
        drawn = rng.multivariate_hypergeometric(self.left[occurring], rows, method="marginals")
        self.left[occurring] -= drawn
        return rng.permutation(np.repeat(occurring, drawn).astype(np.int32))


def shuffle(defense: Shuffle, records: LargeRecords, root: SeedSequence) -> LargeRelease:
    """Independent permutations of all columns.

    A random permutation of a column is a draw of its values without replacement. So each block draws the numbers of its
    values from those that are left.

    Parameters
    ----------
    defense : Shuffle
        The defense.
    records : LargeRecords
        The records.
    root : SeedSequence
        Root of the random generators.

    Raises
    ------
    ValueError
        If a column holds nearly distinct numbers.
    """
    for name, column in records.columns.items():
        refuse(
            column.numbers_only,
            f"Shuffle: column {name!r} holds nearly distinct numbers; large tables permute values that repeat. "
            "Round it first, or leave it out",
        )
    steps = {name: unchanged_step(records, name) for name in records.columns}

    def blocks() -> Iterator[ReleasedBlock]:
        urns = {name: _Urn(name, code_counts(column)) for name, column in records.columns.items()}
        for number, start in enumerate(range(0, records.rows, SHUFFLED)):
            rows = min(SHUFFLED, records.rows - start)
            columns: dict[str, NDArray[Any]] = {}
            for name, urn in urns.items():
                rng = block_generator(root, f"column {name}", number)
                columns |= steps[name].release(Block(number, start, {name: urn.draw(rows, rng)}), rng)
            yield ReleasedBlock(number, columns, np.full(rows, -1, dtype=np.int64))

    release = rowwise(records, defense, root, [], Channel(tuple(Presence(name) for name in records.columns)))
    return replace(release, cells=step_cells(steps.values()), blocks=blocks)
