"""Check that the origin of each released row is the record that the row copies."""

from __future__ import annotations

import numpy as np
import pandas as pd

from defenses.base.defense import Defense, released_frame
from defenses.base.release import MicrodataRelease
from metrics.arrays import Booleans, Integers
from scenarios.checks.conformance.people import people
from scenarios.checks.conformance.trying import release_of
from scenarios.running.methods.code_places import defined_at
from scenarios.tables.seeds import generator

RECORDS = 40
"""Few enough that no two of the invented people are equal in all columns but one."""


def check_origins(method: type[Defense]) -> None:
    """Compare released rows with all records.

    The origins are wrong if some columns copy other records throughout and agree with the origins less. These columns
    must tell the records apart, and no column may agree with the origins better. So perturbed columns, and columns that
    move apart from others, are not taken for wrong origins. The numbers of a frame's rows are compared, too.

    Raises
    ------
    AssertionError
        If an origin is wrong; names the row by its position, and the line.
    """
    records = people(RECORDS, generator(0, "origins", 2))
    release = release_of(method, records, "release")
    copied = _copied(release, released_frame(records))
    wrong = np.flatnonzero(copied != release.origin)
    if wrong.size:
        row = wrong[0]
        raise AssertionError(
            f"row {row} stems from record {copied[row]}, but its origin is {release.origin[row]}; if apply leaves rows "
            f"out or moves them, return rowwise_release(frame, channel).take(positions){defined_at(method.apply)}"
        )


def _copied(release: MicrodataRelease, originals: pd.DataFrame) -> Integers:
    """The record from which each row stems by its number or its cells, shape (rows,); else its origin."""
    numbers, in_order = release.frame.index, pd.RangeIndex(len(release.frame))
    is_numbered = pd.api.types.is_integer_dtype(numbers) and not numbers.equals(in_order)
    if is_numbered and np.array_equal(release.origin, in_order):
        return numbers.to_numpy(dtype=np.intp)
    rows = np.flatnonzero(release.origin >= 0)
    columns = [name for name in originals.columns if name in release.frame.columns]
    copied = release.origin.copy()
    if not rows.size or not columns:
        return copied
    # Per column: whether each row agrees with each record, shape (columns, rows, records).
    agrees = np.array([_agreement(release.frame[name].iloc[rows], originals[name]) for name in columns])
    position, origin = np.arange(rows.size), release.origin[rows]
    # Among equally similar records the stated one counts.
    similarity = agrees.sum(axis=0, dtype=float)
    similarity[position, origin] += 0.5
    nearest = similarity.argmax(axis=1)
    of_nearest, of_origin = (agrees[:, position, chosen].mean(axis=1) for chosen in (nearest, origin))
    throughout = [name for name, share in zip(columns, of_nearest, strict=True) if share == 1]
    better = (of_nearest[of_nearest == 1] > of_origin[of_nearest == 1]).any()
    if better and (of_nearest >= of_origin).all() and not originals.duplicated(throughout).any():
        copied[rows] = nearest
    return copied


def _agreement(released: pd.Series, originals: pd.Series) -> Booleans:
    """Whether each released cell is the value of each record; numbers may be written in any way."""
    if pd.api.types.is_numeric_dtype(originals):
        numbers = pd.to_numeric(released, errors="coerce").to_numpy(dtype=float)
        return np.asarray(numbers[:, None] == originals.to_numpy(dtype=float))
    return np.asarray(released.astype(str).to_numpy(dtype=str)[:, None] == originals.astype(str).to_numpy(dtype=str))
