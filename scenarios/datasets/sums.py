"""Checksums of tables that are not read from a file."""

from __future__ import annotations

import hashlib

import pandas as pd


def frame_sum(frame: pd.DataFrame) -> str:
    """SHA-256 of the column names and all values, 64 hexadecimal digits."""
    digest = hashlib.sha256("\0".join(map(str, frame.columns)).encode())
    digest.update(pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes())
    return digest.hexdigest()
