"""An invented population that types emoji, visits sites and writes new words."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.random import Generator

from defenses.base.hierarchy import TableHierarchy
from defenses.base.microdata import Microdata
from metrics.arrays import Floats
from metrics.domains import CategoricalDomain

TONES = ("yellow", "light", "medium-light", "medium", "medium-dark", "dark")
# Share of people who prefer each tone, and how often they use the preferred tone.
TONE_SHARES = (0.35, 0.20, 0.17, 0.12, 0.09, 0.07)
LOYALTY = 0.85
GESTURES = (
    "thumbs up", "folded hands", "clapping", "OK hand", "raised hands", "flexed arm", "waving", "victory",
    "crossed fingers", "facepalm", "shrug", "raised fist", "thumbs down", "pointing up", "pointing right",
    "call me", "handshake", "open hands", "writing", "nail polish", "selfie", "dancing", "running", "walking",
    "bowing", "raising a hand", "no gesture", "OK gesture", "massage", "haircut", "teacher", "student", "cook",
    "farmer", "judge", "astronaut", "pilot", "artist", "singer", "firefighter",
)  # fmt: skip
WORDS = ("yolo", "selfie", "meme", "hangry", "vlog", "emoji", "noob", "fomo")


def power_law_shares(d: int, exponent: float = 1.0) -> Floats:
    """Shares of d values that fall with their rank, shape (d,)."""
    weights = np.arange(1, d + 1) ** -exponent
    return np.asarray(weights / weights.sum())


def emoji(persons: int, each: int, rng: Generator) -> Microdata:
    """Emoji with a skin tone, `each` of every person; a person uses the preferred tone in 85 of 100 emoji.

    Gestures follow a power law and are independent of tones. Level 1 of the emoji's hierarchy is its tone.
    """
    names = [f"{gesture}, {tone}" for gesture in GESTURES for tone in TONES]
    preferred = rng.choice(len(TONES), persons, p=TONE_SHARES)
    tone = np.repeat(preferred, each)
    other = rng.random(tone.size) >= LOYALTY
    tone[other] = rng.choice(len(TONES), int(other.sum()), p=TONE_SHARES)
    gesture = rng.choice(len(GESTURES), tone.size, p=power_law_shares(len(GESTURES)))
    frame = pd.DataFrame(
        {
            "person": np.repeat(np.arange(persons), each),
            "emoji": np.array(names, dtype=object)[gesture * len(TONES) + tone],
        }
    )
    levels = [[f"{gesture}, {tone}", tone, "*"] for gesture in GESTURES for tone in TONES]
    return Microdata(
        frame,
        identifiers=("person",),
        sensitive=("emoji",),
        domains={"emoji": CategoricalDomain(tuple(names))},
        hierarchies={"emoji": TableHierarchy(levels)},
        person="person",
    )


def words(count: int, rng: Generator) -> list[str]:
    """Typed words: 45 of 100 come from `WORDS`, earlier ones more often; the others are random and almost unique."""
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    typed = rng.choice(letters, (count, 6)).astype("<U1").view("<U6").ravel()
    new = rng.random(count) < 0.45
    typed[new] = np.array(WORDS)[rng.choice(len(WORDS), int(new.sum()), p=power_law_shares(len(WORDS), 0.5))]
    return [str(word) for word in typed]
