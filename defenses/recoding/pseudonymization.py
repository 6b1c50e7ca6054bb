"""Identifiers replaced by random pseudonyms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from defenses.base.channel import Channel
from defenses.base.channel_parts import Independent
from defenses.base.columns import check_columns
from defenses.base.defense import MicrodataDefense, released_frame, rowwise_release
from defenses.base.microdata import Microdata
from defenses.base.release import MicrodataRelease

_BYTES = 16
"""Length of a pseudonym: the chance that two of a million are the same is below 2e-27."""


_TOKEN = re.compile(r"p[0-9a-f]{32}")


def is_pseudonym(value: object) -> bool:
    """Whether a value has the form of a pseudonym."""
    return isinstance(value, str) and _TOKEN.fullmatch(value) is not None


class Pseudonymization(MicrodataDefense):
    """Identifiers are released as random pseudonyms, and everything else as it is.

    Within one release a value has the same pseudonym wherever it stands, in whatever column, so that a person's rows
    stay linked; two releases share none. A missing value stays missing.

    It guarantees nothing: whoever knows the quasi-identifiers of a person finds the row, which is why pseudonymized
    data are personal data still.

    Parameters
    ----------
    columns : sequence of str, optional
        The identifiers to release under pseudonyms; all of them where not given, and the others not at all.

    Raises
    ------
    ValueError
        If columns are named twice or none is; on `apply`, if a column is no identifier or there is none. In a
        pipeline this is the first step, since every step drops the identifiers that it is given.

    Notes
    -----
    Pseudonyms are drawn at random rather than computed from the value: a hash, with a key that leaks or without one,
    is undone by trying all names. Nothing but the publisher's own table leads back from them.
    """

    def __init__(self, *, columns: Sequence[str] | None = None) -> None:
        check_columns(columns)
        if columns is not None and not columns:
            raise ValueError("columns must name at least one identifier")
        self.columns = columns

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release the records with pseudonyms in front."""
        names = records.identifiers if self.columns is None else tuple(self.columns)
        if not records.identifiers:
            raise ValueError("columns: the table has no identifier to replace; in a pipeline this is the first step")
        for name in names:
            if name not in records.identifiers:
                known = ", ".join(records.identifiers)
                raise ValueError(f"columns: {name!r} is no identifier of the table; identifiers are {known}")
        pseudonyms = _pseudonyms([records.frame[name] for name in names], rng)
        frame = pd.concat([pd.DataFrame(dict(zip(names, pseudonyms, strict=True))), released_frame(records)], axis=1)
        return rowwise_release(frame, Channel(tuple(Independent(name) for name in names)))


def _pseudonyms(columns: Sequence[pd.Series[Any]], rng: Generator) -> list[np.ndarray]:
    """One array of pseudonyms a column, shape (n,); None where missing."""
    values = np.concatenate([column.to_numpy(dtype=object) for column in columns])
    codes, distinct = pd.factorize(values, use_na_sentinel=True)
    digits = rng.bytes(_BYTES * len(distinct)).hex().encode()
    tokens = np.char.add("p", np.frombuffer(digits, dtype=f"S{2 * _BYTES}").astype(str)).astype(object)
    cells = np.append(tokens, np.array([None], dtype=object))
    return np.split(cells[codes], len(columns))
