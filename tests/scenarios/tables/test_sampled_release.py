"""Samples of released rows: which rows are drawn, and what a channel still knows of the whole release."""

import numpy as np
import pandas as pd
import pytest

import attacks as a
from attacks.base.attack import Knowledge
from defenses import Channel, Microdata, MicrodataRelease
from defenses.base.channel_parts import Presence
from scenarios.tables.sampled_release import MOST_PAIRS, MOST_SPARSE, drawn_rows, sampled_release, sampling_notes

PEOPLE = pd.DataFrame({"job": ["cook", "cook", "nurse", "pilot", "judge"], "age": [20, 30, 40, 50, 60]})
RELEASED = PEOPLE.head(4).assign(job=["pilot", "cook", "nurse", "cook"]).astype(str)


@pytest.mark.parametrize(("rows", "candidates"), [(100_000, 100_000), (400, 10**9), (10, 2)])
def test_the_pairs_stay_below_the_limit(rows, candidates):
    drawn = drawn_rows(a.NearestNeighbour(), rows, candidates, None, 0)
    assert drawn.size == 1 or drawn.size * candidates <= MOST_PAIRS
    assert drawn.size == min(rows, max(1, MOST_PAIRS // candidates))
    assert len(set(drawn.tolist()) & set(range(rows))) == drawn.size


def test_an_attack_that_compares_no_pairs_of_large_tables_keeps_more_rows():
    assert drawn_rows(a.LikelihoodAssignment(), MOST_SPARSE, 10**6, None, 0).size == MOST_SPARSE
    assert drawn_rows(a.LikelihoodAssignment(), 10**6, 10**6, None, 0).size == MOST_SPARSE
    [note, _] = sampling_notes(a.LikelihoodAssignment(), MOST_SPARSE, 10**6, 10**6, asked=False)
    assert "answers are about 100,000 of 1,000,000 released rows" in note
    assert "the limit is 100,000" in note
    assert "BlockedLinkage answers for all rows" in note
    for attack in (a.BlockedLinkage(), a.ExpectationMaximizationLinkage(), a.GroupLinkage()):
        assert drawn_rows(attack, 10**6, 10**6, None, 0).size == 10**6
    assert drawn_rows(a.BlockedLinkage(), 10**6, 10**6, 100, 0).size == 100


@pytest.mark.parametrize("drawn", [[0], [1, 3], [0, 1, 2]])
def test_a_shuffled_column_is_known_of_the_whole_release(drawn):
    release = MicrodataRelease(RELEASED, np.arange(4), Channel((Presence("job"),)))
    knowledge = Knowledge(PEOPLE, Microdata(PEOPLE))
    rng = np.random.default_rng(0)
    whole = a.LikelihoodAssignment().evidence(release, knowledge, rng)
    part = a.LikelihoodAssignment().evidence(sampled_release(release, np.array(drawn)), knowledge, rng)
    assert (part == whole[drawn]).all()
    # Cooks are half of the release; the judge is not in it.
    assert part[0, 0] != part[0, 4]
    assert np.isfinite(whole).any()


def test_channels_in_files_know_no_part_for_samples():
    with pytest.raises(ValueError, match="has kind 'sample'"):
        Channel.from_toml("[[part]]\nkind = 'sample'\n")
