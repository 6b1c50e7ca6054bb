"""Intervals of private answers: coverage, and what they are made of; audits of every kind of answer.

Statistical tests have fixed seeds; the false-alarm probability of each is at most 1 in 1,000 seeds.
"""

import numpy as np
import pandas as pd
import pytest

from defenses import Curator, Microdata
from defenses.base.queries import (
    BudgetSpent,
    Condition,
    ContingencyTable,
    Correlation,
    Count,
    Covariance,
    Histogram,
    Mean,
    Median,
    Mode,
    Quantile,
    Sum,
    Variance,
)
from defenses.curators.answer_plan import GaussianAnswerNoise, LaplaceAnswerNoise
from defenses.curators.planning import correlation_interval, plan_of, quotient_interval
from defenses.dp.sensitivity import rank_scores
from metrics import CategoricalDomain, NumericDomain
from scenarios.checks.audits.audit import Neighbours, Subject, audit

N = 200
YES = Condition("answer", values=("yes",))
DOMAINS = {
    "x": NumericDomain(0, 10),
    "y": NumericDomain(-5, 5),
    "z": NumericDomain(0, 4, integer=True),
    "answer": CategoricalDomain(("no", "maybe", "yes")),
}


def records(which=0, n=N):
    rng = np.random.default_rng(3)
    x = rng.uniform(0, 10, n)
    y = np.clip(x - 5 + rng.normal(0, 1, n), -5, 5)
    answer = rng.choice(["no", "yes"], n).astype(object)
    x[0], y[0], answer[0] = (0.0, -5.0, "no") if which == 0 else (10.0, 5.0, "yes")
    return Microdata(pd.DataFrame({"x": x, "y": y, "z": 0, "answer": answer}), domains=DOMAINS)


WITH_INTERVAL = [
    Count(where=YES),
    Sum("x"),
    Sum("x", where=YES),
    Mean("x"),
    Mean("x", where=YES),
    Variance("x"),
    Covariance("x", "y"),
    Correlation("x", "y"),
    Histogram("answer"),
    ContingencyTable(("answer", "x")),
]
BUDGETS = [{"mechanism": "laplace"}, {"mechanism": "gaussian", "delta": 1e-5}]


@pytest.mark.thorough_beyond(1)
@pytest.mark.usefixtures("tables_are_read_once")
@pytest.mark.parametrize("budget", BUDGETS, ids=lambda budget: budget["mechanism"])
@pytest.mark.parametrize("query", WITH_INTERVAL, ids=lambda query: type(query).__name__)
def test_intervals_cover_the_truth_as_often_as_they_say(query, budget):
    table, runs, confidence = records(), 120, 0.8
    truth = query.exact(table)
    curator = Curator(epsilon=2.0 * runs, queries=runs, **budget)
    session = curator.session(table, np.random.default_rng(11))
    if curator.mechanism == "gaussian":
        session = Curator(epsilon=500.0, queries=runs, **budget).session(table, np.random.default_rng(11))
    covered, widths = 0, []
    for _ in range(runs):
        measured = session.measure(query, confidence=confidence)
        low, high = (np.asarray(end) for end in measured.interval)
        assert np.shape(low) == np.shape(high) == np.shape(truth)
        assert (low <= high).all()
        covered += bool(((low <= truth + 1e-9) & (truth - 1e-9 <= high)).all())
        widths.append(np.mean(high - low))
    # Of a binomial number of this mean, 3.3 standard deviations below: in 1 of 2,000 seeds.
    assert covered >= runs * confidence - 3.3 * np.sqrt(runs * confidence * (1 - confidence))
    # An interval that is never wrong says too little, unless it holds for several parts or cells.
    if type(query) in (Sum, Variance, Covariance) and budget["mechanism"] == "laplace":
        assert covered <= runs * 0.93
    assert np.mean(widths) > 0


@pytest.mark.thorough
@pytest.mark.parametrize("level", [0.0, 0.25, *(pytest.param(level, marks=pytest.mark.long) for level in (0.5, 1.0))])
def test_the_rank_of_a_quantile_is_off_by_at_most_its_bound(level):
    table, runs = records(), 120
    session = Curator(epsilon=1.0 * runs, queries=runs).session(table, np.random.default_rng(2))
    x, misses = table.frame["x"].to_numpy(), 0
    for _ in range(runs):
        measured = session.measure(Quantile("x", level), confidence=0.9)
        assert measured.interval is None
        # The answer is a candidate; values count as their nearest one.
        step = 10 / 4096
        score = rank_scores(np.rint(x / step), np.rint([measured.answer / step]), level)[0]
        misses += -score > measured.bounds[0].bound
    assert misses <= 0.1 * runs + 3.3 * np.sqrt(runs * 0.09)


@pytest.mark.thorough
def test_a_mode_is_off_by_at_most_its_bound():
    table, runs = records(), 200
    counts = dict(zip(DOMAINS["answer"].categories, Histogram("answer").exact(table), strict=True))
    session = Curator(epsilon=0.2 * runs, queries=runs).session(table, np.random.default_rng(2))
    measured = [session.measure(Mode("answer"), confidence=0.9) for _ in range(runs)]
    misses = sum(max(counts.values()) - counts[one.answer] > one.bounds[0].bound for one in measured)
    assert misses <= 0.1 * runs + 3.3 * np.sqrt(runs * 0.09)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [LaplaceAnswerNoise, GaussianAnswerNoise])
def test_bounds_of_the_noise_are_exceeded_as_rarely_as_they_say(kind):
    runs, noise = 2000, kind(0.4, np.random.default_rng(5))
    numbers = np.array([noise.number(0.0, 3.0) for _ in range(runs)])
    counts = noise.counts(np.zeros(runs), replaced=True)
    # A vector of many cells has the noise of each cell.
    for drawn, bound in ((numbers, noise.number_bound(3.0, 0.9)), (counts, noise.count_bound(True, 0.9))):
        beyond = np.mean(np.abs(drawn) > bound)
        assert beyond <= 0.1 + 3.3 * np.sqrt(0.09 / runs)
        assert beyond >= 0.015


def test_an_answer_with_an_interval_is_the_answer():
    table = records()
    for query in (*WITH_INTERVAL, Median("x"), Mode("answer")):
        plain = Curator().session(table, np.random.default_rng(7)).answer(query, 0.5)
        session = Curator().session(table, np.random.default_rng(7))
        measured = session.measure(query, 0.5)
        assert np.array_equal(np.asarray(measured.answer), np.asarray(plain))
        assert session.remaining == 0.5


def test_a_quote_costs_nothing_and_is_what_is_paid():
    session = Curator(epsilon=1.0).session(records(), np.random.default_rng(0))
    cost, bounds = session.quote(Correlation("x", "y"), 0.75)
    assert cost == (0.75, 0.0, None)
    assert [part.title for part in bounds] == ["the variance of x", "the variance of y", "the covariance"]
    assert session.remaining == 1.0
    assert session.measure(Correlation("x", "y"), 0.75).bounds == bounds
    assert session.account.affords(0.25)
    assert not session.account.affords(0.26)
    with pytest.raises(BudgetSpent):
        session.measure(Count(), 0.5)
    for bad in (0.0, 1.0, np.nan):
        with pytest.raises(ValueError, match="confidence"):
            session.measure(Count(), 0.1, confidence=bad)
    assert session.remaining == 0.25


def test_intervals_of_quotients_and_correlations_hold_in_every_corner():
    rng = np.random.default_rng(0)
    for _ in range(300):
        noisy, bounds = rng.normal(0, 5, 2), rng.uniform(0, 4, 2)
        low, high = quotient_interval(tuple(noisy), tuple(bounds), 2.0, (-50, 50))
        total, count = noisy + rng.uniform(-1, 1, 2) * bounds
        assert low - 1e-9 <= np.clip(2.0 + total / max(count, 1.0), -50, 50) <= high + 1e-9
        variances, covariance = rng.uniform(0.1, 5, 2), rng.normal(0, 2)
        bounds = rng.uniform(0, 1, 3)
        low, high = correlation_interval([*variances, covariance], bounds)
        first, second, exact = np.array([*variances, covariance]) + rng.uniform(-1, 1, 3) * bounds
        if first > 0 and second > 0:
            assert low - 1e-9 <= np.clip(exact / np.sqrt(first * second), -1, 1) <= high + 1e-9
    assert correlation_interval([0.1, 1.0, 0.5], [0.2, 0.1, 0.1]) == (-1.0, 1.0)


# Audits: the claim holds for every kind of query on its worst pair of tables


def pair(query, n=20):
    """Two tables that differ in one record: the others are alike, or half of them at either end."""
    halves = isinstance(query, Median | Quantile | Mode | Correlation)
    for x, y, answer in ((0.0, -5.0, "no"), (10.0, 5.0, "yes")):
        high = np.arange(n) % 2 == 1 if halves else np.zeros(n, dtype=bool)
        frame = pd.DataFrame(
            {"x": np.where(high, 10.0, 0.0), "y": np.where(high, 5.0, -5.0), "answer": np.where(high, "yes", "no")}
        )
        frame = frame.assign(answer=frame["answer"].astype(object), z=np.where(high, 4, 0))
        frame.loc[0, ["x", "y", "z", "answer"]] = [x, y, int(x / 10 * 4), answer]
        yield Microdata(frame, domains=DOMAINS)


def subject(query, epsilon, paid=None):
    """Answers to one query about two tables that differ in one record."""
    tables = tuple(pair(query))

    def sample(which):
        def draw(runs, rng):
            session = Curator(epsilon=(paid or epsilon) * runs, queries=runs).session(tables[which], rng)
            answers = [session.answer(query) for _ in range(runs)]
            if isinstance(answers[0], str):
                answers = [DOMAINS[query.column].categories.index(answer) for answer in answers]
            return np.array([np.ravel(answer) for answer in answers], dtype=float)

        return draw

    return Subject(type(query).__name__, epsilon, 0.0, (Neighbours("one record", sample(0), sample(1)),))


AUDITED = [
    Variance("x"),
    Covariance("x", "y"),
    Correlation("x", "y"),
    Median("z"),
    Quantile("z", 0.9),
    Mode("answer"),
    ContingencyTable(("answer", "x")),
]


@pytest.mark.usefixtures("tables_are_read_once")
@pytest.mark.parametrize("query", AUDITED, ids=lambda query: type(query).__name__)
@pytest.mark.parametrize("runs", [300, pytest.param(1500, marks=pytest.mark.long)])
def test_no_answer_is_more_informative_than_claimed(query, runs):
    assert audit(subject(query, 1.0), runs=runs, rng=np.random.default_rng(6)).holds


@pytest.mark.thorough_beyond(1)
@pytest.mark.usefixtures("tables_are_read_once")
@pytest.mark.parametrize("query", [Variance("x"), Median("z"), Mode("answer")], ids=lambda q: type(q).__name__)
def test_an_audit_catches_an_answer_that_costs_more_than_it_says(query):
    assert not audit(subject(query, 0.25, paid=8.0), runs=120, rng=np.random.default_rng(6)).holds


def test_a_correlation_of_small_variances_has_an_interval():
    assert correlation_interval([0.25, 0.25, 0.1], [0.0, 0.0, 0.0]) == (0.4, 0.4)
    assert correlation_interval([0.25, 0.25, 0.1], [0.25, 0.0, 0.0]) == (-1.0, 1.0)


def test_a_variance_is_at_most_a_quarter_of_the_squared_range():
    plan = plan_of(Variance("x"), records(), "replace")
    assert plan.interval([1e9], [0.0]) == (25.0, 25.0)
    assert plan.interval([0.5], [1.0]) == (0.0, 1.5)


def test_a_mean_has_an_interval_around_the_answer_within_the_bounds_of_the_column():
    plan = plan_of(Mean("x"), records(), "replace")
    answer = plan.combine(1.0)
    assert plan.interval([1.0], [0.5]) == (answer - 0.5, answer + 0.5) == (5.5, 6.5)
    assert plan.interval([4.0], [2.0]) == (7.0, 10.0)
    assert plan.interval([-4.0], [2.0]) == (0.0, 3.0)
