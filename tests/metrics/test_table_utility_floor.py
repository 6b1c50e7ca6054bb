"""Releases without information are worth nothing, on any table; fresh samples of the same people are worth much."""

import numpy as np
import pandas as pd
import pytest

from defenses import Microdata, RetentionReplacement
from leaderboard import pooled_utility
from metrics import CategoricalDomain, TableUtility
from scenarios import load

COMPONENTS = ("marginals", "associations", "queries")
ITEMS = {
    "coins": (8, [0.5, 0.5]),
    "likert": (8, [0.1, 0.2, 0.3, 0.25, 0.15]),
    "skewed": (6, [0.7, 0.2, 0.07, 0.03]),
    "near constant": (6, [0.98, 0.02]),
    "one column": (1, [0.5, 0.3, 0.15, 0.05]),
}
TABLES = (*ITEMS, "bank", "adult")


def people(name, count):
    """Records of so many people with their domains and the column that a classifier predicts."""
    if name in ITEMS:
        columns, shares = ITEMS[name]
        domain = CategoricalDomain(tuple("abcde"[: len(shares)]))
        cells = np.random.default_rng(7).choice(list(domain.categories), (count, columns), p=shares)
        frame = pd.DataFrame(cells, columns=[f"item {number}" for number in range(columns)])
        return frame, dict.fromkeys(frame.columns, domain), "item 0" if columns > 1 else None
    records = load(name).records
    domains = {column: records.domain(column) for column in records.released_columns}
    frame = records.frame[list(domains)].sample(count, random_state=1).reset_index(drop=True)
    return frame, domains, list(domains)[-1]


def uniform(domains, rows, rng):
    cells = {
        name: rng.choice(list(domain.categories), rows)
        if isinstance(domain, CategoricalDomain)
        else rng.uniform(domain.low, domain.high, rows).round()
        for name, domain in domains.items()
    }
    return pd.DataFrame(cells)


def without_information(frame, other, domains):
    """Releases that look at no record but one of the original's most frequent values, by name."""
    rng = np.random.default_rng(3)
    n = len(frame)
    stars = pd.DataFrame("*", index=range(n), columns=list(domains))
    releases = {
        "stars": stars,
        "few stars": stars.iloc[:3],
        "modes": pd.DataFrame({name: [frame[name].mode()[0]] * n for name in domains}),
    }
    for number in range(3):
        releases[f"constants {number}"] = other.iloc[[number] * n].reset_index(drop=True)
        half = stars.copy()
        half[list(domains)[::2]] = other.iloc[[number] * n][list(domains)[::2]].to_numpy()
        releases[f"every other column {number}"] = half
    for rows in (n // 3, n, 3 * n):
        releases |= {f"{rows} draws {number}": uniform(domains, rows, rng) for number in range(4)}
    return releases


@pytest.mark.parametrize("rows", [100, 300])
@pytest.mark.parametrize("name", TABLES)
def test_releases_without_information_are_worth_nothing(name, rows):
    frame, domains, _ = people(name, 4 * rows)
    original, other = frame[:rows], frame[rows:]
    utility = TableUtility(original, domains, original[:0], None, np.random.default_rng(1))
    for release, table in without_information(original, other, domains).items():
        score = utility.score(table)
        assert max(score[component] or 0 for component in COMPONENTS) <= 0.02, (release, score)


@pytest.mark.parametrize("name", ["coins", "likert", "bank", "adult"])
def test_classifiers_without_information_are_worth_nothing(name):
    # Uniform draws train classifiers of either sign, whose areas average to 1/2 over plays.
    frame, domains, target = people(name, 1500)
    plays = {"stars": [], "modes": [], "draws": []}
    for play in range(16):
        original = frame.sample(200, random_state=play)
        rng = np.random.default_rng(play)
        utility = TableUtility(original, domains, frame[1000:], target, rng)
        plays["stars"].append(utility.score(pd.DataFrame("*", index=range(200), columns=list(domains))))
        plays["modes"].append(utility.score(pd.DataFrame({c: [original[c].mode()[0]] * 200 for c in domains})))
        plays["draws"].append(utility.score(uniform(domains, 200, rng)))
    for kind, scores in plays.items():
        pooled = pooled_utility(scores)
        assert pooled.headline.value <= 0.02, (kind, pooled)


@pytest.mark.parametrize("name", ["bank", "adult"])
def test_samples_of_the_same_people_keep_the_associations(name):
    frame, domains, _ = people(name, 2400)
    worth = {"fresh": [], "retained": []}
    for play in range(4):
        original = frame[play * 300 : play * 300 + 300]
        utility = TableUtility(original, domains, original[:0], None, np.random.default_rng(1))
        worth["fresh"].append(utility.score(frame[1200 + play * 300 : 1500 + play * 300])["associations"])
        records = Microdata(original.reset_index(drop=True), quasi_identifiers=tuple(domains), domains=domains)
        replaced = RetentionReplacement(retention=0.9).apply(records, np.random.default_rng(play)).frame
        worth["retained"].append(utility.score(replaced)["associations"])
    assert np.mean(worth["fresh"]) >= 0.6
    assert np.mean(worth["retained"]) >= 0.5


def test_a_table_without_associations_has_none_to_keep():
    frame, domains, _ = people("one column", 100)
    utility = TableUtility(frame, domains, frame[:0], None, np.random.default_rng(1))
    assert utility.score(frame)["associations"] is None
    assert utility.score(frame[:0])["associations"] is None
    assert utility.score(frame)["marginals"] == 1
