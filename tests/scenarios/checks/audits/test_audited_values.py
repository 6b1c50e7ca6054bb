"""Audits run on every value of a small domain, so that a leak of one value is caught.

Lower bounds hold with 99.9 %: a test that asserts that a correct mechanism passes raises a false alarm in at most 0.1 %
of seeds. Seeds are fixed.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from defenses import Curator, RetentionReplacement
from defenses.base.release import StatisticsRelease
from defenses.dp import RandomizedResponse
from defenses.dp.mechanism import like
from defenses.ldp import GeneralizedRandomizedResponse, LongitudinalOptimizedUnaryEncoding
from scenarios.checks.audits.audit import audit
from scenarios.checks.audits.subjects import SHOWN, subject, value_pairs


def audited(mechanism, runs=4000):
    return audit(subject(mechanism), runs=runs, rng=np.random.default_rng(0))


@pytest.mark.parametrize("d", [*range(2, 12), 100, 10**6])
def test_every_value_of_a_small_domain_is_in_a_pair(d):
    pairs = value_pairs(d)
    values = sorted({value for pair in pairs for value in pair})
    assert values == list(range(d)) if d <= SHOWN else len(values) == SHOWN
    assert {0, 1, d - 1} <= set(values)
    assert all(first < second < d for first, second in pairs)


class LastInClear(RandomizedResponse):
    """The last category always tells the truth."""

    def release(self, value, rng):
        return like(value, np.where(np.ravel(value) == self.d - 1, self.d - 1, np.ravel(super().release(value, rng))))


class ThirdInClear(GeneralizedRandomizedResponse):
    """Value 2 is reported as it is."""

    def _randomized(self, values, rng):
        parts = super()._randomized(values, rng)
        parts["value"] = np.where(values == 2, values, parts["value"]).astype(parts["value"].dtype)
        return parts


class ThirdRemembered(LongitudinalOptimizedUnaryEncoding):
    """No memoized bit is set for value 2."""

    def memoize(self, values, rng):
        batch = super().memoize(values, rng)
        bits = batch.parts["bits"]
        bits[np.asarray(values) == 2] = 0
        return batch


class MiddleInClear(RetentionReplacement):
    """Releases the category in the middle as it is, and amounts not at all."""

    def apply(self, records, rng):
        release = super().apply(records, rng)
        raw = pd.Series(records.frame["answer"].to_numpy(), dtype=object)
        release.frame["answer"] = release.frame["answer"].astype(object).where(raw != "maybe", "maybe")
        return release


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("broken", "honest", "runs"),
    [
        (LastInClear(d=3), RandomizedResponse(d=3), 4000),
        (ThirdInClear(d=4), GeneralizedRandomizedResponse(d=4), 4000),
        (MiddleInClear(epsilon=1.0), RetentionReplacement(epsilon=1.0), 4000),
        (ThirdRemembered(d=4), LongitudinalOptimizedUnaryEncoding(d=4), 2000),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.usefixtures("declarations_are_believed")
def test_one_value_in_clear_is_caught(broken, honest, runs):
    assert not audited(broken, runs).holds
    assert audited(honest, runs).holds


class MiddleInClearOfMany(MiddleInClear):
    """The same, without the declaration that records are randomized independently."""

    randomizes_records_independently = False


class MiddleInClearInSession(Curator):
    """Answers are far off if somebody holds the middle category."""

    def apply(self, records, rng):
        release = super().apply(records, rng)
        holds = bool((records.frame["answer"] == "maybe").any())
        return StatisticsRelease(lambda session_rng: Telling(release.open(session_rng), holds))


class Telling:
    """A session that adds a million to its answers if it `tells`."""

    def __init__(self, session, tells):
        self._session, self._tells = session, tells

    def __getattr__(self, name):
        return getattr(self._session, name)

    def answer(self, *given, **named):
        return self._session.answer(*given, **named) + 1e6 * self._tells


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("broken", "title"),
    [
        (MiddleInClearOfMany(epsilon=0.5), "first record, middle category"),
        (MiddleInClearInSession(epsilon=0.5), "histogram, middle category"),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.usefixtures("declarations_are_believed")
def test_a_middle_category_in_clear_is_caught_where_records_are_released_together(broken, title):
    examined = subject(broken)
    pairs = tuple(pair for pair in examined.neighbours if pair.title == title)
    assert not audit(replace(examined, neighbours=pairs), runs=100, rng=np.random.default_rng(0)).holds
