"""Which defenses release tables that are read in parts, and how."""

from __future__ import annotations

from collections.abc import Callable

from numpy.random import SeedSequence

from defenses.base.defense import MicrodataDefense
from defenses.ldp.reported_table import ReportedTable
from defenses.perturbation.additive_noise import AdditiveNoise
from defenses.perturbation.constant import Constant
from defenses.perturbation.sampling import Sampling
from defenses.perturbation.shuffle import Shuffle
from defenses.perturbation.stratified_sampling import StratifiedSampling
from defenses.pram.optimal_matrix import OptimalMatrix
from defenses.pram.optimal_retention_defense import OptimalRetention, OptimalRetentionWithPrior
from defenses.pram.private_retention import (
    OptimalRetentionByObjective,
    OptimalRetentionByOutput,
    OptimalRetentionFromNoisyHistogram,
)
from defenses.pram.retention_replacement import RetentionReplacement
from defenses.recoding.pseudonymization import Pseudonymization
from defenses.recoding.top_bottom_coding import TopBottomCoding
from scenarios.tables.parts.blocked import blocked
from scenarios.tables.parts.combinations import TooManyCombinations
from scenarios.tables.parts.counted_forms import counted_form
from scenarios.tables.parts.grouped_release import grouped_release
from scenarios.tables.parts.records import LargeRecords
from scenarios.tables.parts.released_blocks import LargeRelease
from scenarios.tables.parts.rowwise.columnwise import columnwise, constant, is_columnwise, top_bottom_coding
from scenarios.tables.parts.rowwise.independent import independent
from scenarios.tables.parts.rowwise.noise import additive_noise
from scenarios.tables.parts.rowwise.pram import optimal_matrix, retention_replacement, retention_vectors
from scenarios.tables.parts.rowwise.pseudonyms import pseudonymization
from scenarios.tables.parts.rowwise.samples import sampling, shuffle, stratified_sampling

# Producers are listed by the exact class, since a subclass may release something else.
ROWWISE: dict[type[MicrodataDefense], Callable[..., LargeRelease]] = {
    AdditiveNoise: additive_noise,
    Constant: constant,
    OptimalMatrix: optimal_matrix,
    OptimalRetention: retention_vectors,
    OptimalRetentionByObjective: retention_vectors,
    OptimalRetentionByOutput: retention_vectors,
    OptimalRetentionFromNoisyHistogram: retention_vectors,
    OptimalRetentionWithPrior: retention_vectors,
    Pseudonymization: pseudonymization,
    ReportedTable: independent,
    RetentionReplacement: retention_replacement,
    Sampling: sampling,
    Shuffle: shuffle,
    StratifiedSampling: stratified_sampling,
    TopBottomCoding: top_bottom_coding,
}
"""Defenses that release each row by itself, given counts of the whole table, and how."""

_OFFER = "`--blocks 10000` applies the method to random blocks of about 10,000 rows"


def large_release(
    defense: MicrodataDefense, records: LargeRecords, root: SeedSequence, *, rows: int | None = None
) -> LargeRelease:
    """Make a release of records that are read in parts.

    Parameters
    ----------
    defense : MicrodataDefense
        The defense.
    records : LargeRecords
        The records.
    root : SeedSequence
        Root of the random generators.
    rows : int, optional
        Mean number of rows of the random blocks to which a defense is applied that needs the whole table.

    Raises
    ------
    ValueError
        If the parameters do not fit the records, or the defense needs all rows, or counts too many combinations, and
        `rows` is not given.
    """
    produce = ROWWISE.get(type(defense))
    if produce is None and is_columnwise(defense):
        produce = columnwise
    if produce is None and defense.randomizes_records_independently:
        produce = independent
    form = counted_form(defense) if produce is None else None
    name = type(defense).__name__
    if rows is not None:
        if produce is not None:
            raise ValueError(f"--blocks: {name} takes tables of any size as they are; leave the option out")
        return blocked(defense, records, root, rows)
    if form is not None:
        try:
            return grouped_release(form, records)
        except TooManyCombinations as error:
            raise ValueError(f"{error}; {_OFFER}") from None
    if produce is None:
        raise ValueError(f"{name} needs all rows in memory, and {records.files.path} is read in parts; {_OFFER}")
    return produce(defense, records, root)
