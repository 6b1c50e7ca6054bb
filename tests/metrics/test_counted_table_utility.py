"""Utility by counts of pairs of bins, and by drawn rows."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from metrics import CategoricalDomain
from metrics.profile import CountedProfile, original_profile, profile
from metrics.table_utility import TableUtility

NAMES = tuple("abcd")
DOMAINS = {name: CategoricalDomain(tuple("uvwxyz")) for name in NAMES}


def counted_profile(frame, cuts, spread=original_profile):
    """Profile of a table that arrives in blocks between some rows."""
    whole = spread(frame, DOMAINS)
    counted = CountedProfile(whole.starts, whole.bins)
    for start, end in itertools.pairwise([0, *cuts, len(frame)]):
        counted.update(csr_array(whole.mass[start:end]))
    return counted


def noise(frame, sample):
    """Mean noise of associations over three seeds, measured on some rows of a table."""
    counted = counted_profile(frame, [])
    none = frame[:0]
    return np.mean(
        [
            TableUtility(sample, DOMAINS, none, None, np.random.default_rng(seed), reference=counted).noise
            for seed in range(3)
        ]
    )


def test_the_noise_of_associations_on_drawn_rows_is_that_of_all_rows():
    rng = np.random.default_rng(1)
    rows = 12_000
    common = rng.integers(0, 6, rows)
    codes = {name: np.where(rng.random(rows) < 0.5, common, rng.integers(0, 6, rows)) for name in NAMES}
    frame = pd.DataFrame({name: np.array(list("uvwxyz"))[column] for name, column in codes.items()})
    # The noise of a twelfth of the rows is twelve times as large before it is rescaled.
    assert 0.4 < noise(frame, frame[:1000]) / noise(frame, frame) < 2.5


def test_blocks_in_any_order_give_the_score_of_the_whole_release():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({name: rng.choice(list("uvwxyz"), 900) for name in NAMES})
    frame["b"] = frame["a"]
    released = frame.where(rng.random(frame.shape) < 0.7, "{u|v|w}")
    held_out, drawn = frame[:300], profile(released, DOMAINS)
    whole = TableUtility(frame, DOMAINS, held_out, "d", np.random.default_rng(1)).score(released)
    results = []
    for cuts, order in (([], [0]), ([100, 101, 600], [0, 1, 2, 3]), ([100, 101, 600], [2, 0, 3, 1])):
        reference = counted_profile(frame, cuts)
        utility = TableUtility(frame, DOMAINS, held_out, "d", np.random.default_rng(1), reference=reference)
        counted, ends = CountedProfile(reference.starts, reference.bins), [0, *cuts, len(frame)]
        for number in order:
            counted.merge(counted_profile(released[ends[number] : ends[number + 1]], [], profile))
        results.append(utility.components(counted, drawn))
    assert results[0] == whole
    assert results[1] == results[2]
    for found in results:
        assert found == pytest.approx(whole, abs=1e-6)


def test_counts_are_those_of_the_mass_of_all_rows():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({name: rng.choice(list("uvwxyz"), 100) for name in NAMES})
    table = profile(frame.where(rng.random(frame.shape) < 0.7, "{u|v|w}"), DOMAINS)
    for block in (7, 100, 1 << 18):
        counted = CountedProfile.of(table, block)
        assert counted.rows == 100
        assert counted.joint == pytest.approx(table.mass.T @ table.mass, abs=1e-7)
        assert counted.counts == pytest.approx(table.counts, abs=1e-7)
    before = counted.joint.sum()
    counted.merge(counted)
    assert counted.joint.sum() == 2 * before
