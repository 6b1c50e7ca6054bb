"""Likelihood assignment reads every kind of channel: the truth is never impossible, and knowing it never hurts."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import stats

from attacks import AssignmentLinkage, LikelihoodAssignment
from attacks.linkage.channel_factors import IMPOSSIBLE
from attacks.linkage.row_matching import matching_posterior
from defenses import (
    CellSuppression,
    Channel,
    GlobalRecoding,
    Identity,
    Microaggregation,
    MicrodataRelease,
    Mondrian,
    RankSwapping,
    RecordSuppression,
    RetentionReplacement,
    Rounding,
    Sampling,
    TopBottomCoding,
)
from defenses.perturbation.additive_noise import AdditiveNoise
from scenarios import CandidateFile, load
from scenarios.seeds import generator
from scenarios.tables.dataset import with_columns

COLUMNS = ["age", "job", "marital", "education", "balance", "month", "duration"]
NUMBERS = ["age", "balance", "duration"]
CATEGORIES = ["job", "marital", "education", "month"]
# What a release tells beyond which values each cell covers: there knowing the channel helps.
TELLING = {
    "PRAM": RetentionReplacement(retention=0.6, columns=CATEGORIES),
    "PRAM on bins": RetentionReplacement(retention=0.6),
    "noise": AdditiveNoise(scale=1.0, columns=NUMBERS),
    "top and bottom coding": TopBottomCoding(share=0.2, columns=NUMBERS),
    "microaggregation": Microaggregation(k=4),
    "rank swapping": RankSwapping(window=0.3, columns=NUMBERS),
    "rounding": Rounding(base=500, columns=["balance", "duration"]),
}
# Gower's distance is 0 from a cell to what it covers, so that it knows as much of these.
COVERING = {
    "global recoding": GlobalRecoding(levels=2),
    "suppressed cells": CellSuppression(k=2),
    "suppressed records": RecordSuppression(k=2, columns=["marital", "education"]),
    "sampling": Sampling(rate=0.5),
    "Mondrian": Mondrian(k=3),
    "a copy": Identity(),
}
DEFENSES = {**TELLING, **COVERING}
PLAYS = 8
# One wrong alarm in a hundred runs of all tests here, were all attacks exactly alike.
ALARM = 0.01 / (len(DEFENSES))


@pytest.fixture(scope="module")
def game():
    return CandidateFile(
        records=with_columns(load("bank"), COLUMNS).records,
        originals=50,
        candidates=100,
        decoys="hard",
        auxiliary=50,
        held_out=50,
    )


def played(game, defense):
    """Per play: the release, what the attacker has, and the candidate of each row."""
    for number in range(PLAYS):
        secret = game.draw(generator(7, "draw", number))
        release = game.publish(
            defense.clone().apply(secret.records, generator(7, "apply", number)), generator(7, number)
        )
        yield release, game.knowledge(secret, defense), secret.answers[release.origin]


def right(attack, release, knowledge, truth):
    return (attack.run(release, knowledge, generator(7, "run")).best(generator(7)) == truth).mean()


@pytest.fixture(scope="module")
def measured(game):
    """Of each defense, per play: rows that the channel adds, how much surer it makes, and if the truth is possible."""

    @cache
    def measure(name):
        found, surer, possible = [], [], []
        for release, knowledge, truth in played(game, DEFENSES[name]):
            known = right(LikelihoodAssignment(), release, knowledge, truth)
            found.append(known - right(AssignmentLinkage(), release, knowledge, truth))
            blind = MicrodataRelease(release.frame, release.origin, Channel())
            rows = np.arange(truth.size)
            scores = [
                LikelihoodAssignment().evidence(handed, knowledge, generator(7))[rows] for handed in (release, blind)
            ]
            possible.append((scores[0][rows, truth] > IMPOSSIBLE).all())
            sure = [np.log(np.maximum(matching_posterior(score)[rows, truth], 1e-6)).mean() for score in scores]
            surer.append(sure[0] - sure[1])
        return np.array(found), np.array(surer), possible

    return measure


@pytest.mark.parametrize("name", DEFENSES)
def test_the_truth_is_never_impossible(measured, name):
    assert all(measured(name)[2])


@pytest.mark.parametrize("name", DEFENSES)
def test_knowing_the_channel_is_no_worse_than_gowers_distance(measured, name):
    found = measured(name)[0]
    if found.std() > 0:
        assert stats.ttest_1samp(found, 0, alternative="less").pvalue > ALARM
    else:
        assert found.mean() >= 0


@pytest.mark.parametrize("name", TELLING)
def test_the_channel_is_read(measured, name):
    # Read as a release that only covers, it rules the truth out wherever a value was changed.
    surer = measured(name)[1]
    assert (surer >= 0).all()
    assert surer.max() > 0


def test_a_wrong_channel_is_caught(game):
    # One that denies noise makes the truth impossible; one that says that values are hardly ever kept loses rows.
    lost = []
    for release, knowledge, truth in played(game, TELLING["noise"]):
        denied = MicrodataRelease(release.frame, release.origin, Channel())
        scores = LikelihoodAssignment().evidence(denied, knowledge, generator(7))
        assert (scores[np.arange(truth.size), truth] <= IMPOSSIBLE).any()
    for release, knowledge, truth in played(game, TELLING["PRAM on bins"]):
        parts = tuple(replace(part, retention=0.01) for part in release.channel.parts)
        denied = MicrodataRelease(release.frame, release.origin, Channel(parts))
        rates = [right(LikelihoodAssignment(), handed, knowledge, truth) for handed in (denied, release)]
        lost.append(rates[0] - rates[1])
    assert stats.ttest_1samp(lost, 0, alternative="less").pvalue < ALARM
