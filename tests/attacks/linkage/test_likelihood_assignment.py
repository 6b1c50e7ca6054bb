"""Likelihood assignment: optimal matching, exact marginals, and gain from every kind of channel."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from linkage_tools import DOMAINS, NOISY, permanents, small_release
from playing_tools import secret_of
from scipy import stats

from attacks import AssignmentLinkage, Knowledge, LikelihoodAssignment, NotApplicable
from attacks.linkage.channel_factors import IMPOSSIBLE
from attacks.linkage.linkage_answers import matching_posterior
from defenses import (
    CellSuppression,
    Channel,
    GlobalRecoding,
    Identity,
    Microaggregation,
    Microdata,
    MicrodataRelease,
    Mondrian,
    RankSwapping,
    RecordSuppression,
    RetentionReplacement,
    Rounding,
    Sampling,
    Shuffle,
    TopBottomCoding,
)
from defenses.base.channel_parts import Retention
from defenses.perturbation.additive_noise import AdditiveNoise
from metrics import CategoricalDomain
from scenarios import CandidateFile, load, play
from scenarios.tables.dataset import with_columns
from scenarios.tables.seeds import generator

COLUMNS = ["age", "job", "marital", "education", "balance", "month", "duration"]
NUMBERS = ["age", "balance", "duration"]
CATEGORIES = ["job", "marital", "education", "month"]
# Mechanisms whose channels say more than which values each cell covers.
INFORMATIVE = {
    "PRAM": RetentionReplacement(retention=0.6, columns=CATEGORIES),
    "PRAM on bins": RetentionReplacement(retention=0.6),
    "noise": AdditiveNoise(scale=1.0, columns=NUMBERS),
    "top and bottom coding": TopBottomCoding(share=0.2, columns=NUMBERS),
    "microaggregation": Microaggregation(k=4),
    "rank swapping": RankSwapping(window=0.3, columns=NUMBERS),
    "rounding": Rounding(base=500, columns=["balance", "duration"]),
}
# Mechanisms whose channels say only which values each cell covers. Gower's distance uses as much: it is 0 for these.
COVERING = {
    "global recoding": GlobalRecoding(levels=2),
    "suppressed cells": CellSuppression(k=2),
    "suppressed records": RecordSuppression(k=2, columns=["marital", "education"]),
    "sampling": Sampling(rate=0.5),
    "Mondrian": Mondrian(k=3),
    "a copy": Identity(),
}
DEFENSES = {**INFORMATIVE, **COVERING}
FEW_PLAYS, PLAYS = 4, 8
# False-alarm probability of each test: .01 in all, if both attacks are equally good.
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


def played(game, defense, plays):
    """For each play: the release, the attacker's knowledge, and the true candidate of each row."""
    for number in range(plays):
        secret = secret_of(game, generator(7, "draw", number))
        release = game.publish(
            defense.clone().apply(secret.records, generator(7, "apply", number)), generator(7, number)
        )
        yield release, game.knowledge(secret, defense), secret.answers[release.origin]


def accuracy(attack, release, knowledge, truth):
    return (attack.run(release, knowledge, generator(7, "run")).best(generator(7)) == truth).mean()


@pytest.fixture(scope="module", params=[FEW_PLAYS, pytest.param(PLAYS, marks=pytest.mark.long)])
def measured(game, request):
    """By defense, for each play: gain of the channel over Gower's distance in correct rows, and possible truth."""

    def measure(name):
        gains, possible = [], []
        for release, knowledge, truth in played(game, DEFENSES[name], request.param):
            aware = accuracy(LikelihoodAssignment(), release, knowledge, truth)
            gains.append(aware - accuracy(AssignmentLinkage(), release, knowledge, truth))
            rows = np.arange(truth.size)
            scores = LikelihoodAssignment().evidence(release, knowledge, generator(7))
            possible.append((scores[rows, truth] > IMPOSSIBLE).all())
        return np.array(gains), possible

    return measure


def log_posterior_of_truth(release, knowledge, truth):
    rows = np.arange(truth.size)
    scores = LikelihoodAssignment().evidence(release, knowledge, generator(7))[rows]
    return np.log(np.maximum(matching_posterior(scores)[rows, truth], 1e-6)).mean()


@pytest.mark.parametrize("name", DEFENSES)
def test_the_truth_is_possible_and_knowing_the_channel_no_worse_than_gowers_distance(measured, name):
    gains, possible = measured(name)
    assert all(possible)
    if gains.std() > 0:
        assert stats.ttest_1samp(gains, 0, alternative="less").pvalue > ALARM
    else:
        assert gains.mean() >= 0


@pytest.mark.thorough_beyond(1)
@pytest.mark.long_beyond(4)
@pytest.mark.parametrize("name", sorted(INFORMATIVE, key=lambda name: name != "microaggregation"))
def test_the_channel_is_used(game, name):
    """The truth is likelier by the channel than without it, in at least 11 of 12 plays.

    Without the channel, the truth is impossible wherever a value was changed. If few values are changed, numbers alone
    tell the candidates apart, so that retention is low here. An attack that does not use the channel has gains of 0 and
    fails. One whose gains are as often below 0 passes with probability 13 / 2^12, below .0032. In the first 16 plays of
    each defense, no gain was 0 or below.
    """
    stronger = {"PRAM": RetentionReplacement(retention=0.3, columns=CATEGORIES)}
    gains = []
    for release, knowledge, truth in played(game, {**INFORMATIVE, **stronger}[name], 12):
        blind = MicrodataRelease(release.frame, release.origin, Channel())
        gains.append(
            log_posterior_of_truth(release, knowledge, truth) - log_posterior_of_truth(blind, knowledge, truth)
        )
    assert sum(gain > 0 for gain in gains) >= 11


@pytest.mark.thorough
def test_a_wrong_channel_is_caught(game):
    # A channel without the noise makes the truth impossible. One with a retention of .01 loses rows.
    lost = []
    for release, knowledge, truth in played(game, INFORMATIVE["noise"], FEW_PLAYS):
        denied = MicrodataRelease(release.frame, release.origin, Channel())
        scores = LikelihoodAssignment().evidence(denied, knowledge, generator(7))
        assert (scores[np.arange(truth.size), truth] <= IMPOSSIBLE).any()
    for release, knowledge, truth in played(game, INFORMATIVE["PRAM on bins"], PLAYS):
        parts = tuple(replace(part, retention=0.01) for part in release.channel.parts)
        denied = MicrodataRelease(release.frame, release.origin, Channel(parts))
        rates = [accuracy(LikelihoodAssignment(), view, knowledge, truth) for view in (denied, release)]
        lost.append(rates[0] - rates[1])
    assert stats.ttest_1samp(lost, 0, alternative="less").pvalue < ALARM


@pytest.mark.thorough
def test_likelihood_assignment_is_the_best_of_all_permutations():
    names = tuple("abcdef")
    domain = CategoricalDomain(names)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        candidates = pd.DataFrame({name: rng.choice(names, 6) for name in ("x", "y", "z")})
        records = Microdata(candidates, quasi_identifiers=("x", "y", "z"), domains=dict.fromkeys("xyz", domain))
        release = RetentionReplacement(retention=0.6).apply(records, rng)
        knowledge = Knowledge(candidates, records)
        answer = LikelihoodAssignment().run(release.view(rng), knowledge, rng).best(rng)
        parts = release.channel.likelihoods(release.frame, candidates, dict(records.domains))
        table = np.sum([part.table() for part in parts.values()], axis=0)
        best = max(sum(table[row, person] for row, person in enumerate(order)) for order in permutations(range(6)))
        assert table[np.arange(6), answer].sum() == pytest.approx(best)


def test_likelihood_needs_a_channel_and_uses_it():
    with pytest.raises(NotApplicable, match="channel"):
        LikelihoodAssignment().run(*small_release({"age": [20], "job": ["a"]}), generator(0))
    # A channel that says that jobs are always exchanged for another one.
    channel = Channel((Retention("job", DOMAINS["job"], 1e-9, 3),))
    release, knowledge = small_release({"age": [60], "job": ["a"]}, channel=channel)
    assert LikelihoodAssignment().run(release, knowledge, generator(0)).best(generator(0)).tolist() == [2]


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("seed", range(5))
def test_likelihood_assignment_states_exact_marginals_on_tiny_tables(bank, seed):
    rng = generator(seed, "tiny")
    people = bank.take(rng.permutation(len(bank))[:6])
    release = NOISY.apply(people, rng)
    columns = list(people.released_columns)
    knowledge = Knowledge(people.frame[columns], people)
    claims = LikelihoodAssignment().run(release.view(rng), knowledge, rng)
    parts = release.channel.likelihoods(release.frame, people.frame, {c: people.domain(c) for c in columns})
    table = np.sum([np.maximum(part.table(), -1000) for part in parts.values()], axis=0)
    best = max(table[range(6), order].sum() for order in permutations(range(6)))
    assert table[np.arange(6), claims.best(rng)].sum() == pytest.approx(best)
    assert claims.confidence == pytest.approx(
        permanents(table - table.max(axis=1, keepdims=True))[claims.target, claims.answer], abs=0.05
    )


@pytest.mark.thorough
def test_shuffle_gives_members_away(bank):
    outcome = play(Shuffle(), LikelihoodAssignment(), CandidateFile(records=bank), generator(1, "play"))
    assert outcome.scores["reidentification"].rate is None
    assert outcome.scores["membership"].rate > 0.9
