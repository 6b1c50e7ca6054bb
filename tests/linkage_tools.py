"""Small tables, defenses and measures for tests of linkage attacks."""

from itertools import permutations

import numpy as np
import pandas as pd
from playing_tools import scored, secret_of

from attacks import (
    Knowledge,
)
from defenses import (
    Microdata,
    MicrodataRelease,
    Pipeline,
    RetentionReplacement,
)
from defenses.perturbation.additive_noise import AdditiveNoise
from metrics import CategoricalDomain, NumericDomain
from scenarios.tables.seeds import generator

DOMAINS = {"age": NumericDomain(0, 100, integer=True), "job": CategoricalDomain(("a", "b", "c"))}


PEOPLE = pd.DataFrame({"age": [20, 40, 60, 60], "job": ["a", "b", "c", "a"]})


CATEGORIES = ["job", "marital", "education", "default", "housing", "loan", "contact", "month", "poutcome"]


NOISY = Pipeline(steps=[RetentionReplacement(retention=0.7, columns=CATEGORIES), AdditiveNoise(scale=0.5)])


def small_release(released, candidates=PEOPLE, channel=None):
    """A release of the given cells, and the knowledge of an attacker with these candidates."""
    frame = pd.DataFrame(released)
    knowledge = Knowledge(candidates, Microdata(candidates, domains=DOMAINS))
    return MicrodataRelease(frame, np.full(len(frame), -1), channel), knowledge


def reidentification_rate(defense, attack, game, plays=6):
    """Mean share of rows that an attack links correctly."""
    rates = [scored(defense, attack, game, generator(11, "play", number)) for number in range(plays)]
    return np.mean([rate["reidentification"].rate for rate in rates])


def correct_answers(attacks, defense, game, plays):
    """By attack: confidences of its first answers, and which of these are correct."""
    answers = {attack: ([], []) for attack in attacks}
    for number in range(plays):
        secret = secret_of(game, generator(21, "draw", number))
        release = game.publish(defense.apply(secret.records, generator(21, "release", number)), generator(21, number))
        for attack, (confidence, correct) in answers.items():
            claims = attack.run(
                release.view(generator(0)), game.knowledge(secret, defense), generator(21, "run", number)
            )
            first = claims.ranking(generator(0)) == 0
            confidence.append(claims.confidence[first])
            correct.append(claims.answer[first] == secret.answers[release.origin][claims.target[first]])
    return {
        attack: (np.concatenate(confidence), np.concatenate(correct))
        for attack, (confidence, correct) in answers.items()
    }


def calibration_error(confidence, correct):
    """Expected calibration error in ten bins of confidence."""
    bins = np.minimum((confidence * 10).astype(int), 9)
    return sum(abs(confidence[bins == b].sum() - correct[bins == b].sum()) for b in range(10)) / confidence.size


def permanents(scores):
    """Exact marginals of a random one-to-one matching, by enumeration."""
    rows, candidates = scores.shape
    exact = np.zeros(scores.shape)
    for order in permutations(range(candidates), rows):
        exact[np.arange(rows), order] += np.exp(scores[np.arange(rows), order].sum())
    return exact / exact[0].sum()


def with_shuffled_columns(left, total, values, count, seed):
    """A release of `total` uniform columns, all but the first `left` shuffled, and the attacker's knowledge."""
    rng = np.random.default_rng(seed)
    names = [f"c{number}" for number in range(total)]
    people = pd.DataFrame({name: rng.integers(0, values, count).astype(str) for name in names})
    released = people.copy()
    for name in names[left:]:
        released[name] = rng.permutation(released[name].to_numpy())
    domain = CategoricalDomain(tuple(str(value) for value in range(values)))
    knowledge = Knowledge(people, Microdata(people, domains=dict.fromkeys(names, domain)))
    return MicrodataRelease(released, np.full(count, -1)), knowledge, rng
