"""Shuffled columns."""

import numpy as np
from defense_tools import apply, people, table

from defenses.base.defense import released_frame
from defenses.perturbation.shuffle import Shuffle


def test_shuffle_keeps_columns_and_breaks_rows():
    records = people(500)
    release = apply(Shuffle(), records)
    original = released_frame(records)
    for name in release.frame.columns:
        assert sorted(map(str, release.frame[name])) == sorted(map(str, original[name]))
    assert (release.origin == -1).all()
    twin = table(x=np.arange(2000), y=np.arange(2000))
    mixed = apply(Shuffle(), twin).frame
    # The correlation of independent permutations has standard deviation 1 / sqrt(1999).
    assert abs(np.corrcoef(mixed["x"], mixed["y"])[0, 1]) < 5 / np.sqrt(1999)
