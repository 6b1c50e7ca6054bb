"""Random generators of blocks of rows, so that a release is the same for any memory and number of workers."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.random import Generator, SeedSequence


def block_generator(root: SeedSequence, purpose: str, number: int = 0) -> Generator:
    """Random generator for one purpose in one block of rows.

    Parameters
    ----------
    root : SeedSequence
        Root of all generators of one release; it is not changed.
    purpose : str
        What is drawn.
    number : int
        Number of the block.

    Returns
    -------
    Generator
        Equal arguments give equal generators; different ones give independent generators.
    """
    digest = np.frombuffer(hashlib.sha256(purpose.encode()).digest(), dtype="<u4")
    # A sequence that spawned children has keys of one number each; these keys are longer, and no child has them.
    key = (*root.spawn_key, *map(int, digest), number)
    return np.random.default_rng(SeedSequence(root.entropy, spawn_key=key, pool_size=root.pool_size))
