"""Linkage names members better than any other attack on a secret mechanism, where rows can be linked."""

import numpy as np
import pandas as pd
import pytest

from attacks import (
    DensityRatioMembership,
    DistanceToClosestRecord,
    Knowledge,
    LinkageMembership,
    LocalLikelihoodMembership,
    MarginalMembership,
    NotApplicable,
)
from defenses import AdditiveNoise, GlobalRecoding, MicrodataRelease, Mondrian, RetentionReplacement
from metrics.ranking import area_under_curve

OTHERS = (
    DistanceToClosestRecord(rounds=1),
    DensityRatioMembership(rounds=1),
    LocalLikelihoodMembership(),
    MarginalMembership(rounds=1),
)


def asked(people, defense, rows, asked, seed=0):
    """A release in random order by a secret mechanism, what the attacker knows, and who is a member."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(people))
    members, others, own = (people.take(part) for part in np.split(order[: rows + asked + 400], [rows, rows + asked]))
    released = defense.apply(members, rng)
    release = MicrodataRelease(released.frame, released.origin).take(rng.permutation(len(released.frame)))
    columns = list(people.released_columns)
    frames = [members.frame[columns].iloc[:asked], others.frame[columns]]
    return release, Knowledge(pd.concat(frames, ignore_index=True), own), np.arange(2 * asked) < asked


def area(attack, release, knowledge, member):
    return area_under_curve(attack.run(release, knowledge, np.random.default_rng(0)).scores, member)


@pytest.mark.thorough
@pytest.mark.long_beyond(2)
@pytest.mark.parametrize(
    "defense", [RetentionReplacement(retention=0.7), AdditiveNoise(scale=0.5), Mondrian(k=5), GlobalRecoding(levels=2)]
)
def test_it_beats_the_best_membership_attack_where_linkage_works(adult_register, defense):
    """Measured .06 to .2 more (120 members, eight columns, two plays); the standard error of a difference is .02."""
    plays = [asked(adult_register, defense, 120, 120, seed) for seed in range(2)]
    best = max(np.mean([area(other, *play) for play in plays]) for other in OTHERS)
    assert np.mean([area(LinkageMembership(), *play) for play in plays]) > best


@pytest.mark.thorough
def test_rows_of_other_people_do_not_hide_members(adult_register):
    """Three in four rows stem from people who are not asked about; guessing has .5, with a standard error of .04."""
    assert area(LinkageMembership(), *asked(adult_register, AdditiveNoise(scale=0.2), 400, 100)) > 0.75


def test_constant_rows_and_no_rows(adult_register):
    release, knowledge, _ = asked(adult_register, GlobalRecoding(levels=1), 20, 20)
    stars = MicrodataRelease(release.frame.assign(**dict.fromkeys(release.frame, "*")), release.origin)
    scores = LinkageMembership().run(stars, knowledge, np.random.default_rng(0)).scores
    assert np.ptp(scores) < 1e-6
    with pytest.raises(NotApplicable, match="no row"):
        LinkageMembership().run(release.take(np.zeros(0, dtype=int)), knowledge, np.random.default_rng(0))
    one = Knowledge(knowledge.candidates.iloc[:1], knowledge.auxiliary)
    assert LinkageMembership().run(release, one, np.random.default_rng(0)).scores.shape == (1,)
