"""Pseudonymization: identifiers replaced by random pseudonyms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from defenses.base import (
    Channel,
    Microdata,
    MicrodataDefense,
    MicrodataRelease,
    check_columns,
    released_frame,
    rowwise_release,
)
from defenses.base.channel_parts import Independent
from metrics.columns import refuse, refuse_any, require

_BYTES = 16
"""Length of a pseudonym; the probability that two of a million pseudonyms are equal is below 2e-27."""


_TOKEN = re.compile(r"p[0-9a-f]{32}")


def is_pseudonym(value: object) -> bool:
    """Return whether a value has the form of a pseudonym."""
    return isinstance(value, str) and _TOKEN.fullmatch(value) is not None


class Pseudonymization(MicrodataDefense):
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
    Pseudonyms are drawn at random, not computed from the value. A hash can be reversed by trying all names, if it has
    no key or its key leaks. Only the publisher's own table links pseudonyms to identifiers.
    """

    def __init__(self, *, columns: Sequence[str] | None = None) -> None:
        self.columns = check_columns(columns)
        refuse(columns is not None and not columns, "columns must name at least one identifier")

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release the records with the pseudonyms as first columns."""
        names = records.identifiers if self.columns is None else tuple(self.columns)
        require(
            records.identifiers, "columns: the table has no identifier to replace; in a pipeline this is the first step"
        )
        identifiers = ", ".join(records.identifiers)
        refuse_any(
            [name for name in names if name not in records.identifiers],
            lambda name: f"columns: {name!r} is no identifier of the table; identifiers are {identifiers}",
        )
        pseudonyms = _pseudonyms([records.frame[name] for name in names], rng)
        frame = pd.concat([pd.DataFrame(dict(zip(names, pseudonyms, strict=True))), released_frame(records)], axis=1)
        return rowwise_release(frame, Channel(tuple(Independent(name) for name in names)))


def _pseudonyms(columns: Sequence[pd.Series[Any]], rng: Generator) -> list[np.ndarray]:
    """One array of pseudonyms per column, shape (n,); None where missing."""
    values = np.concatenate([column.to_numpy(dtype=object) for column in columns])
    codes, distinct = pd.factorize(values, use_na_sentinel=True)
    digits = rng.bytes(_BYTES * len(distinct)).hex().encode()
    tokens = np.char.add("p", np.frombuffer(digits, dtype=f"S{2 * _BYTES}").astype(str)).astype(object)
    cells = np.append(tokens, np.array([None], dtype=object))
    return np.split(cells[codes], len(columns))
