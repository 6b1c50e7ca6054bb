"""Wire labels of garbled circuits: 128 bits each, and the hash that encrypts them."""

from __future__ import annotations

from hashlib import sha256

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Labels = NDArray[np.uint64]
"""Labels, shape (..., 2): two words of 64 bits each; the lowest bit of the first word is the colour."""

LABEL_BYTES = 16
_ONE = np.uint64(1)


def random_labels(shape: tuple[int, ...], rng: Generator) -> Labels:
    """Independent uniform labels, shape (*shape, 2)."""
    return rng.integers(0, 2**64, (*shape, 2), dtype=np.uint64, endpoint=False)


def random_offset(rng: Generator) -> Labels:
    """The secret offset between both labels of every wire (free XOR), shape (2,); its colour is 1."""
    offset = random_labels((), rng)
    offset[0] |= _ONE
    return offset


def colours(labels: Labels) -> NDArray[np.bool_]:
    """Colours of labels (point and permute), shape (...): they say which row of a table to use, not which value."""
    return (labels[..., 0] & _ONE).astype(bool)


def selected(which: NDArray[np.bool_], labels: Labels) -> Labels:
    """The labels where `which` is true and 0 elsewhere; `which` has the labels' shape without the last axis."""
    return np.where(which[..., None], labels, np.uint64(0))


def hashed(labels: Labels, first_tweak: int) -> Labels:
    """SHA-256 of each label and its tweak, cut to 128 bits; the tweaks count up from `first_tweak`.

    Parameters
    ----------
    labels : ndarray of uint64, shape (n, 2)
        Labels to hash.
    first_tweak : int
        Tweak of the first label. No tweak may be used for two labels of one kind.
    """
    tweaks = np.arange(first_tweak, first_tweak + len(labels), dtype=np.uint64)
    text = np.column_stack([labels, tweaks]).astype("<u8").tobytes()
    digests = b"".join([sha256(text[start : start + 24]).digest() for start in range(0, len(text), 24)])
    return np.frombuffer(digests, dtype="<u8").reshape(-1, 4)[:, :2].astype(np.uint64)


def digests(labels: Labels) -> list[bytes]:
    """SHA-256 of each label, in full, to publish: it identifies a label and does not reveal it."""
    return [sha256(b"output" + label.astype("<u8").tobytes()).digest() for label in labels.reshape(-1, 2)]
