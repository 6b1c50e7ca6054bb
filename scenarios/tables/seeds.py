"""Random generators seeded by stable names, so that no result depends on order or on other results."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.random import Generator

FORMER_NAMES = {"LeakagePosterior": "TellingPosterior", "SequentialNoise": "SerialNoise"}
"""Former names of renamed methods: they enter seeds, so recorded numbers stay reproducible."""


def generator(seed: int, *names: str | int) -> Generator:
    """Random generator for one purpose in one run."""
    text = "\0".join(map(str, [seed, *names]))
    for name, former in FORMER_NAMES.items():
        text = text.replace(name, former)
    digest = hashlib.sha256(text.encode()).digest()
    return np.random.default_rng(np.frombuffer(digest, dtype=np.uint32))
