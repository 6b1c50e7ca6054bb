"""Lifts of a column: by part and mixed, and on rounded ranks."""

import numpy as np
import pandas as pd
import pytest

from attacks import Knowledge
from attacks.base.sides import shared_columns
from attacks.membership import mixture_kernel as column_lifts
from attacks.membership.mixture_kernel import ColumnLifts, Populations
from defenses import Microdata, MicrodataRelease
from metrics import CategoricalDomain, NumericDomain

DOMAINS = {"age": NumericDomain(0, 100), "job": CategoricalDomain(("a", "b", "c"))}
AGES = ["30", "[20,40]", "*", None, "{30|}", "57.5"]
JOBS = ["a", "{a|b}", "*", None, "{c|}", "b"]


def lifts():
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"age": rng.gamma(4, 10, 300).clip(0, 100), "job": rng.choice(["a", "b", "c", None], 300)})
    people.loc[:9, "age"] = np.nan
    release = MicrodataRelease(pd.DataFrame({"age": AGES, "job": JOBS}), np.full(6, -1))
    candidates = pd.concat([people.iloc[:40], pd.DataFrame({"age": [30.0], "job": ["a"]})], ignore_index=True)
    knowledge = Knowledge(candidates, Microdata(people, domains=DOMAINS))
    populations = Populations(knowledge.auxiliary)
    return [ColumnLifts(column, populations) for column in shared_columns(release, knowledge)]


def test_a_mixture_is_the_weighted_sum_of_its_parts():
    for one, weight in zip(lifts(), ([0.1, 0.3, 0.2, 0.25, 0.15], [0.4, 0.6]), strict=True):
        expected = np.tensordot(np.array(weight), one.parts(), axes=1)
        assert one.mixed(np.array(weight)) == pytest.approx(expected, rel=1e-5)


def test_rounding_ranks_changes_lifts_little(monkeypatch):
    rounded = lifts()[0].mixed(np.full(5, 0.2))
    monkeypatch.setattr(column_lifts, "RANKS", 10**6)
    exact = lifts()[0].mixed(np.full(5, 0.2))
    assert np.abs(np.log(rounded / exact)).mean() < 0.02
    assert np.abs(np.log(rounded / exact)).max() < 0.3
