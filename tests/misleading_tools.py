"""Releases in which a few columns are disturbed a little and many ratings are perturbed until others look nearer."""

import numpy as np
import pandas as pd

from attacks import Knowledge
from defenses import Microdata, MicrodataRelease
from metrics import CategoricalDomain, NumericDomain

LARGEST_RATING = 5
JOBS = tuple(f"job {number}" for number in range(21))
REGIONS = tuple(f"region {number}" for number in range(40))
SCHOOLS = ("none", "school", "college", "degree", "doctorate")


def _people(rng, count):
    """Personal columns, the most identifying first, with the domain of each."""
    city = rng.integers(0, 400, count)
    weight = 1 / np.arange(1, len(JOBS) + 1)
    return {
        "zip": ((city * 250 + rng.integers(0, 250, count)), NumericDomain(0, 99_999, integer=True)),
        "age": (np.clip(rng.gamma(6, 6, count).astype(int) + 16, 16, 95), NumericDomain(0, 120, integer=True)),
        "job": (rng.choice(JOBS, count, p=weight / weight.sum()), CategoricalDomain(JOBS)),
        "gender": (rng.choice(["F", "M"], count, p=[0.3, 0.7]), CategoricalDomain(("F", "M"))),
        "region": (rng.choice(REGIONS, count), CategoricalDomain(REGIONS)),
        "height": (rng.normal(170, 9, count).round().astype(int), NumericDomain(100, 230, integer=True)),
        "education": (rng.choice(SCHOOLS, count, p=[0.1, 0.3, 0.3, 0.25, 0.05]), CategoricalDomain(SCHOOLS)),
        "month": (rng.integers(1, 13, count), NumericDomain(1, 12, integer=True)),
        "children": (rng.poisson(1.2, count).clip(0, 9), NumericDomain(0, 9, integer=True)),
        "income": (np.exp(rng.normal(10, 0.7, count)).round(-2).astype(int), NumericDomain(0, 10**6, integer=True)),
    }


# Personal columns by their number; fewer need to be more identifying.
PERSONAL = {
    2: ("zip", "income"),
    4: ("age", "gender", "job", "zip"),
    6: ("age", "gender", "job", "region", "height", "income"),
    10: ("age", "gender", "job", "region", "height", "education", "month", "children", "income", "zip"),
}


def _ratings(rng, count, columns):
    """Ratings 1 to 5, skewed upwards, and 0 where there is none, which is the rule; shape (count, columns)."""
    popular = rng.beta(0.7, 3, columns)
    active = np.exp(rng.normal(0, 0.8, count))
    rated = rng.random((count, columns)) < np.clip(popular * active[:, None], 0, 0.95)
    level = 3.6 + rng.normal(0, 0.5, columns) + rng.normal(0, 0.5, (count, 1)) + rng.normal(0, 0.9, (count, columns))
    return np.where(rated, np.clip(level.round(), 1, LARGEST_RATING), 0).astype(int)


# Scale of the rounded noise of numbers; one category in ten is replaced.
SCALES = {"zip": 10, "age": 1, "height": 1, "month": 0.5, "children": 0.3, "income": 300}


def _disturbed(rng, values, domain, scale):
    """Categories replaced with probability .1, or numbers with rounded and clipped Laplace noise."""
    if scale is None:
        return np.where(rng.random(values.size) < 0.1, rng.choice(domain.categories, values.size), values)
    return np.clip((values + rng.laplace(0, scale, values.size)).round(), domain.low, domain.high).astype(int)


def donors(rng, ratings, rows):
    """Ratings of one other person with probability .7, and one step up or down with probability .3."""
    donor = rng.integers(0, len(ratings), rows.size)
    result = np.where(rng.random((rows.size, ratings.shape[1])) < 0.7, ratings[donor], ratings[rows])
    change = rng.random(result.shape) < 0.3
    return np.where(change, np.clip(result + rng.choice([-1, 1], result.shape), 0, LARGEST_RATING), result)


def strangers(rng, ratings, rows):
    """Every cell from the same column of a person of its own."""
    return np.take_along_axis(ratings, rng.integers(0, len(ratings), (rows.size, ratings.shape[1])), axis=0)


def evenly(rng, ratings, rows):
    """Cells replaced evenly with probability .85."""
    drawn = rng.integers(0, LARGEST_RATING + 1, (rows.size, ratings.shape[1]))
    return np.where(rng.random(drawn.shape) < 0.85, drawn, ratings[rows])


def averted(rng, ratings, rows):
    """Cells that always differ from the person's own."""
    step = rng.integers(1, LARGEST_RATING + 1, (rows.size, ratings.shape[1]))
    return (ratings[rows] + step) % (LARGEST_RATING + 1)


def noisy(rng, ratings, rows):
    """Gaussian noise of deviation 3, rounded and clipped."""
    noise = rng.normal(0, 3, (rows.size, ratings.shape[1]))
    return np.clip((ratings[rows] + noise).round(), 0, LARGEST_RATING).astype(int)


MISLEADING = {rule.__name__: rule for rule in (donors, strangers, evenly, averted, noisy)}


def misleading_release(seed, *, rule="donors", people=10_000, rows=150, personal=4, ratings=46, hidden=False):
    """A release of some of the people, the attacker's knowledge, and the true candidate of each row.

    Parameters
    ----------
    seed : int
        Seed of everything.
    rule : str
        How ratings are perturbed, of `MISLEADING`.
    people, rows, personal, ratings : int
        Numbers of candidates, released rows, personal columns (of `PERSONAL`) and rating columns.
    hidden : bool
        Whether the personal columns are shuffled, so that nothing can be found.
    """
    rng = np.random.default_rng(seed)
    columns = _people(rng, people)
    scores = _ratings(rng, people, ratings)
    truth = rng.choice(people, rows, replace=False)
    candidates, released, domains = {}, {}, {}
    for name in PERSONAL[personal]:
        values, domains[name] = columns[name]
        candidates[name] = values
        released[name] = _disturbed(rng, values[truth], domains[name], SCALES.get(name))
        if hidden:
            released[name] = rng.permutation(released[name])
    perturbed = MISLEADING[rule](rng, scores, truth)
    for number in range(ratings):
        name = f"rating {number}"
        candidates[name], released[name] = scores[:, number], perturbed[:, number]
        domains[name] = NumericDomain(0, LARGEST_RATING, integer=True)
    table = pd.DataFrame(candidates)
    release = MicrodataRelease(pd.DataFrame(released), np.full(rows, -1))
    return release, Knowledge(table, Microdata(table, domains=domains)), truth


def with_columns(release, knowledge, names):
    """The same release and knowledge with these columns only."""
    domains = {name: knowledge.auxiliary.domains[name] for name in names}
    table = knowledge.candidates[list(names)]
    return MicrodataRelease(release.frame[list(names)], release.origin), Knowledge(
        table, Microdata(table, domains=domains)
    )


def answered(attack, release, knowledge, truth, seed=0):
    """Share of rows that an attack finds, and its mean confidence."""
    rng = np.random.default_rng(seed)
    claims = attack.run(release, knowledge, rng)
    first = claims.ranking(rng) == 0
    right = claims.answer[first] == truth[claims.target[first]]
    return right.sum() / truth.size, float(claims.confidence[first].mean())
