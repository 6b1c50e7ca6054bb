"""Every exported defense and attack passes the conformance suite, and the suite catches broken ones."""

import numpy as np
import pandas as pd
import pytest

from attacks import (
    Downcoding,
    LossThreshold,
    NearestRowLinkability,
    ScoreboardDeanonymization,
    UnivariateSinglingOut,
)
from attacks.base.attack import Attack
from attacks.base.claims import Predicates, RankedAnswers, ValueClaims
from defenses.base.channel import Channel
from defenses.base.defense import MicrodataDefense, released_frame, rowwise_release
from defenses.base.guarantee import Guarantee
from scenarios.conformance.suite import checks
from scenarios.methods import exported

METHODS = {**exported("defenses"), **exported("attacks")}
CASES = [pytest.param(run, id=f"{name}: {title}") for name, cls in METHODS.items() for title, run in checks(cls)]


@pytest.mark.parametrize("run", CASES)
def test_conforms(run):
    run()


def test_there_is_something_to_check():
    assert {"Mondrian", "RetentionReplacement", "Pipeline", "NearestNeighbour"} <= set(METHODS)


def failures(method):
    failed = []
    for title, run in checks(method):
        try:
            run()
        except Exception:
            failed.append(title)
    return failed


class Boastful(MicrodataDefense):
    def apply(self, records, rng):
        return rowwise_release(released_frame(records), Channel())

    def guarantee(self, records):
        return Guarantee(k=2)


class Leaky(MicrodataDefense):
    def apply(self, records, rng):
        return rowwise_release(records.frame.copy(), None)


class Meddling(MicrodataDefense):
    def apply(self, records, rng):
        records.frame["age"] = 50
        return rowwise_release(released_frame(records), None)


class Unseeded(MicrodataDefense):
    def apply(self, records, rng):
        frame = released_frame(records)
        frame["income"] = np.random.default_rng().random(len(frame))
        return rowwise_release(frame, None)


class FalseChannel(MicrodataDefense):
    def apply(self, records, rng):
        frame = released_frame(records)
        frame["age"] = 95 - (frame["age"] - 18)
        return rowwise_release(frame, Channel())


class Careless(MicrodataDefense):
    def __init__(self, *, rate=0.5):
        self.rate = rate

    def apply(self, records, rng):
        return rowwise_release(released_frame(records), Channel())


class ByFileOrder(Attack):
    def run(self, release, knowledge, rng):
        return RankedAnswers.from_scores(np.eye(len(release.frame), len(knowledge.candidates)), rng)


class Unseeded2(Attack):
    def run(self, release, knowledge, rng):
        scores = np.random.default_rng().random((len(release.frame), len(knowledge.candidates)))
        return RankedAnswers.from_scores(scores, rng)


class MeddlingPredicates(UnivariateSinglingOut):
    def run(self, release, knowledge, rng):
        said = super().run(release, knowledge, rng)
        knowledge.auxiliary.frame["age"] = 50
        return said


class UnseededLinks(NearestRowLinkability):
    def run(self, release, knowledge, rng):
        return super().run(release.shuffled(np.random.default_rng()), knowledge, rng)


class ChattyRefusal(ScoreboardDeanonymization):
    def run(self, release, knowledge, rng):
        if len(release.frame) < 2:
            raise ValueError("two\nlines")
        return super().run(release, knowledge, rng)


class AnyColumns(Downcoding):
    def run(self, release, knowledge, rng):
        return ValueClaims(pd.DataFrame(index=release.frame.index), np.ones(len(release.frame)))


class OtherClaims(LossThreshold):
    def run(self, release, knowledge, rng):
        return Predicates([])


@pytest.mark.parametrize(
    ("method", "title"),
    [
        (Boastful, "meets its guarantee on 20 tables"),
        (Leaky, "releases sixty records, or gives a reason"),
        (Meddling, "does not modify its records"),
        (Unseeded, "same seed, same release"),
        (FalseChannel, "its channel gives the truth a positive likelihood, and round-trips through TOML"),
        (Careless, "parameters that are no numbers are refused"),
        (ByFileOrder, "finds 90 % of the people in a plain copy"),
        (ByFileOrder, "refuses tables without a common column"),
        (Unseeded2, "same seed, same claims"),
        (MeddlingPredicates, "does not modify its inputs"),
        (UnseededLinks, "same seed, same claims"),
        (ChattyRefusal, "handles a release of one row, or gives a reason"),
        (AnyColumns, "refuses tables without a common column"),
        (OtherClaims, "handles two people"),
    ],
)
def test_a_broken_method_is_caught(method, title):
    assert title in failures(method)
