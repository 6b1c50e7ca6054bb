"""Every exported defense and attack passes the conformance suite, and the suite catches broken ones."""

import numpy as np
import pandas as pd
import pytest
from playing_tools import unmeasured_utility

from attacks import (
    Downcoding,
    LossThreshold,
    NearestRowLinkability,
    ScoreboardDeanonymization,
    UnivariateSinglingOut,
)
from attacks.base.attack import Attack, Predicates, RankedAnswers, ValueClaims
from defenses.base.channel import Channel
from defenses.base.defense import MicrodataDefense, released_frame, rowwise_release
from defenses.base.guarantee import Guarantee
from scenarios.checks.conformance import findings as memory
from scenarios.checks.conformance.suite import checks
from scenarios.games.classifier_membership import MODELS
from scenarios.running.methods.invented_people import example, people
from scenarios.running.methods.methods import exported
from scenarios.tables.seeds import generator

METHODS = {**exported("defenses"), **exported("attacks")}
PEOPLE = people(30, generator(0, "promise"))


def guarantees_nothing_measured(method):
    """Whether the method states none of k, l and t, so that its 20 tables show only that it releases them."""
    if not issubclass(method, MicrodataDefense):
        return False
    guaranteed = example(method).guarantee(PEOPLE)
    return guaranteed.k is None and guaranteed.l is None and guaranteed.t is None


def cases():
    for name, method in METHODS.items():
        for title, run in checks(method):
            long = title == "meets its k, l and t on 20 tables" and guarantees_nothing_measured(method)
            yield pytest.param(run, id=f"{name}: {title}", marks=[pytest.mark.long] if long else [])


def few_trees(seed):
    """A forest of three trees: checks ask for claims about a model, not for a good model."""
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(3, random_state=seed)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("run", list(cases()))
def test_conforms(run, monkeypatch):
    # One run between two others shows what nearly every state does; users' files get three times as many runs.
    monkeypatch.setattr(memory, "TURNS", memory.TURNS[:2])
    monkeypatch.setitem(MODELS, "extra_trees", few_trees)
    # No check asks for utility; games would measure that of the originals in every draw.
    with unmeasured_utility():
        run()


@pytest.mark.long
@pytest.mark.parametrize("name", METHODS)
def test_nothing_is_kept_in_as_many_runs_as_users_files_get(name):
    with unmeasured_utility():
        for title, run in checks(METHODS[name]):
            if title.startswith("earlier "):
                run()


def test_there_is_something_to_check():
    assert {"Mondrian", "RetentionReplacement", "Pipeline", "NearestNeighbour"} <= set(METHODS)


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


class AcrossColumns(MicrodataDefense):
    columnwise = True

    def apply(self, records, rng):
        frame = released_frame(records)
        frame["age"] = frame["age"].where(frame["city"] != "Kyōto", 50)
        return rowwise_release(frame, None)


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


@pytest.mark.thorough_beyond(8)
@pytest.mark.parametrize(
    ("method", "title"),
    [
        (Boastful, "meets its k, l and t on 20 tables"),
        (Leaky, "releases sixty records, or gives a reason"),
        (Meddling, "does not modify its records"),
        (Unseeded, "same seed, same release"),
        (FalseChannel, "its channel gives the truth a positive likelihood, and round-trips through TOML"),
        (Careless, "parameters that are no numbers are refused"),
        (AcrossColumns, "changes columns by themselves, if it declares that"),
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
    run = dict(checks(method))[title]
    with pytest.raises(Exception):  # noqa: B017, PT011 (a broken method may fail in any way)
        run()
