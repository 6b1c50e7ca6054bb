"""Random generators that derive from stable names, so that no result depends on order or on other results."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.random import Generator

FORMER_NAMES = {"LeakagePosterior": "TellingPosterior", "SequentialNoise": "SerialNoise"}
"""Renamed methods keep the seeds of their former names, so that their recorded numbers can be repeated."""


def generator(seed: int, *names: str | int) -> Generator:
    """Generator for one purpose of one run.

    Parameters
    ----------
    seed : int
        The run's seed, at least 0.
    names : str or int
        What the generator is for, from the general to the special (scenario, defense, play, attack).
    """
    text = "\0".join(map(str, [seed, *names]))
    for name, former in FORMER_NAMES.items():
        text = text.replace(name, former)
    digest = hashlib.sha256(text.encode()).digest()
    return np.random.default_rng(np.frombuffer(digest, dtype=np.uint32))
