"""Audits of curators and synthetic tables: correct ones pass with bounds near their claim, and broken ones fail.

Lower bounds hold with 99.9 %: a test that asserts that an honest curator passes raises a false alarm in at most 0.1 %
of seeds. Seeds are fixed.
"""

import math
from dataclasses import replace

import numpy as np
import pytest

from defenses import Curator, Defense, Guarantee, PrivateMarginals, StatisticsRelease
from defenses.base.queries import BudgetSpent
from defenses.dp import Accountant
from defenses.dp.composition import gaussian_delta, zcdp_rho
from scenarios.checks.audits.audit import audit
from scenarios.checks.audits.subjects import subject

pytestmark = pytest.mark.usefixtures("tables_are_read_once")


def rng(seed=0):
    return np.random.default_rng(seed)


class SessionWithoutMemory:
    """Adds fresh discrete noise at the whole budget to every answer, and never subtracts what it spent."""

    refused = 0

    def __init__(self, records, rng, *, reuse):
        self.records, self.rng = records, rng
        self.noise = self._drawn(1.0) if reuse else None
        self.remaining = 1.0

    def _drawn(self, epsilon):
        return float(np.subtract(*self.rng.geometric(-math.expm1(-epsilon), 2)))

    def answer(self, query, epsilon=None):
        exact = np.asarray(query.exact(self.records))
        return exact + (self._drawn(epsilon or 1.0) if self.noise is None else self.noise)


class HonestSession(SessionWithoutMemory):
    """Spends and refuses; answers counts alone."""

    def answer(self, query, epsilon=None):
        if type(query).__name__ != "Count" or epsilon > self.remaining:
            raise BudgetSpent("nothing is left")
        self.remaining -= epsilon
        return query.exact(self.records) + self._drawn(epsilon)


class CuratorOf(Defense):
    """A curator that claims 1 and opens sessions of some class."""

    kind = "statistics"

    def __init__(self, *, session=HonestSession, reuse=False):
        self.session = session
        self.reuse = reuse

    def guarantee(self, records):
        return Guarantee(epsilon=1.0)

    def apply(self, records, rng):
        return StatisticsRelease(lambda rng: self.session(records, rng, reuse=self.reuse))


def bounds_of(curator, runs=600, titles=()):
    examined = subject(curator)
    if titles:
        chosen = tuple(pair for pair in examined.neighbours if pair.title in titles)
        examined = replace(examined, neighbours=chosen)
    found = audit(examined, runs=runs, rng=rng())
    return dict(zip([pair.title for pair in found.subject.neighbours], found.bounds, strict=True)), found


def attainable_with_normal_noise(epsilon, delta):
    """Epsilon of Gaussian noise whose zero-concentrated cost is that of (epsilon, delta): less than that."""
    sigma = 1 / math.sqrt(2 * zcdp_rho(epsilon, delta))
    grid = np.linspace(0, epsilon, 2001)
    return next(float(e) for e in grid if gaussian_delta(sigma, e) <= delta)


# Opened one by one, a quarter of a millisecond each. At epsilon 4 the event that proves it happens once in 100 on the
# unlikelier side: a few thousand runs cannot show three quarters of it.
CONVERSATIONS = 100_000


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
@pytest.mark.parametrize("title", ["count", "sum", "mean", "histogram"])
def test_the_curator_keeps_its_claim(title, epsilon):
    bounds, found = bounds_of(Curator(epsilon=epsilon), CONVERSATIONS, [title])
    assert found.holds
    assert bounds[title] >= 0.75 * epsilon


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_the_shares_of_one_budget_add_up(epsilon):
    bounds, found = bounds_of(Curator(epsilon=epsilon), CONVERSATIONS // 2, ["one count, ten times"])
    assert found.holds
    assert bounds["one count, ten times"] > 0.3 * epsilon


@pytest.mark.long
@pytest.mark.parametrize("noise", [{}, {"mechanism": "gaussian", "delta": 0.01}])
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_conversations_of_every_kind_keep_the_claim(epsilon, noise):
    _, found = bounds_of(Curator(epsilon=epsilon, **noise), runs=8000)
    assert found.holds, found.bounds


# With Gaussian noise and epsilon 4 the event happens once in 2,300 on the unlikelier side: a hundred times among the
# runs that prove it leave the bound a deviation of .1, and it is expected .4 above what is asked.
@pytest.mark.long
@pytest.mark.parametrize(("epsilon", "runs"), [(1.0, 2 * CONVERSATIONS), (4.0, 4 * CONVERSATIONS)])
@pytest.mark.parametrize("title", ["count", "sum", "mean"])
def test_the_curator_with_normal_noise_keeps_its_claim(title, epsilon, runs):
    bounds, found = bounds_of(Curator(epsilon=epsilon, delta=0.01, mechanism="gaussian"), runs, [title])
    assert found.holds
    assert bounds[title] >= 0.75 * attainable_with_normal_noise(epsilon, 0.01)


def of_two_categories(marginals):
    """The audit of a single column, where noisy counts are nearly the release itself."""
    examined = subject(marginals)
    return replace(examined, neighbours=examined.neighbours[-1:])


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [1.0, 2.0])
def test_private_marginals_keep_their_claim(epsilon):
    # A large delta, so that the worst event is frequent enough for so few releases.
    found = audit(of_two_categories(PrivateMarginals(epsilon=epsilon, delta=0.1)), runs=80_000, rng=rng())
    assert found.holds
    assert found.bound >= 0.75 * attainable_with_normal_noise(epsilon, 0.1)


class ClaimsAQuarter(PrivateMarginals):
    """Spends four times the epsilon that it claims."""

    def guarantee(self, records):
        return Guarantee(epsilon=self.epsilon / 4, delta=self.delta)


@pytest.mark.long
def test_marginals_that_spend_four_times_their_claim_are_caught():
    found = audit(of_two_categories(ClaimsAQuarter(epsilon=2.0, delta=0.1)), runs=6000, rng=rng())
    assert not found.holds
    assert found.bound <= 2


@pytest.mark.thorough
def test_the_curator_keeps_its_claim_in_short():
    bounds, found = bounds_of(Curator(epsilon=4.0), runs=100)
    assert found.holds
    assert bounds["count"] > 0.3


@pytest.mark.long
def test_ten_answers_are_taken_together():
    # Each answer has a tenth of the budget: 0.4 is all that any one of them shows.
    bounds, _ = bounds_of(Curator(epsilon=4.0), 300, ["one count, ten times"])
    assert 0.5 < bounds["one count, ten times"] <= 4


@pytest.mark.thorough
def test_an_honest_curator_passes():
    bounds, found = bounds_of(CuratorOf())
    assert found.holds
    assert bounds["count"] > 0.3


class Forgetful(SessionWithoutMemory):
    """Noise of the whole budget on each answer, whatever share was asked for."""

    def answer(self, query, epsilon=None):
        return query.exact(self.records) + self._drawn(1.0) * np.ones_like(query.exact(self.records))


@pytest.mark.thorough
def test_an_accountant_that_forgets_is_caught():
    bounds, found = bounds_of(CuratorOf(session=Forgetful), 300)
    assert not found.holds
    assert bounds["count"] <= 1
    assert bounds["one count, ten times"] > 1.5


class Unaccounted(Accountant):
    """An account that enters nothing."""

    def spend(self, epsilon, delta=0.0, rho=None):
        """Let everything pass."""


class ForgetfulCurator(Curator):
    """Gives every question the share it asks for, and forgets what it gave before."""

    def account(self):
        return Unaccounted(epsilon=self.epsilon)


@pytest.mark.long
def test_an_account_that_enters_nothing_is_caught():
    title = "one count, for the whole budget four times"
    bounds, found = bounds_of(ForgetfulCurator(epsilon=1.0), 400, ["count", title])
    assert not found.holds
    assert bounds["count"] <= 1 < bounds[title] <= 4
    bounds, found = bounds_of(Curator(epsilon=1.0), 400, ["count", title])
    assert found.holds
    assert bounds[title] > 0.3


def test_noise_used_again_is_caught():
    bounds, found = bounds_of(CuratorOf(session=SessionWithoutMemory, reuse=True), 300)
    assert not found.holds
    assert bounds["count"] <= 1
    assert bounds["counts of two categories"] > 2
