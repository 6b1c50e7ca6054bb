"""Releases without information are worth nothing, on any table; fresh samples of the same people are worth much."""

import numpy as np
import pandas as pd
import pytest

from defenses import Microdata, RetentionReplacement
from leaderboard import pooled_utility
from metrics import CategoricalDomain, NumericDomain, TableUtility, table_utility
from metrics.table_utility import MEASURES, anchored
from scenarios import load

ITEMS = {
    "coins": (8, [0.5, 0.5]),
    "likert": (8, [0.1, 0.2, 0.3, 0.25, 0.15]),
    "skewed": (6, [0.7, 0.2, 0.07, 0.03]),
    "near constant": (6, [0.98, 0.02]),
    "one column": (1, [0.5, 0.3, 0.15, 0.05]),
}
SHORT = [*((name, 100) for name in (*ITEMS, "bank")), ("skewed", 300)]
TABLES = [
    pytest.param(name, rows, marks=() if (name, rows) in SHORT else pytest.mark.long)
    for name in (*ITEMS, "bank", "adult")
    for rows in (100, 300)
]
"""Tables of so many rows; those of `SHORT` catch each planted fault of the floor that all of them catch."""


@pytest.fixture
def one_query(monkeypatch):
    """One range query, for tests of other components: the search for the floor asks all queries of each table."""
    monkeypatch.setattr(table_utility, "QUERIES", 1)


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


def _frequent_set(column, size):
    """Cell of the most frequent values of a column."""
    values = sorted(column.value_counts().index[:size])
    return "{" + "|".join(values) + "}" if len(values) > 1 else values[0]


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
    for size in (2, 3):
        releases[f"constant sets of {size}"] = pd.DataFrame(
            {
                name: [_frequent_set(frame[name], size) if isinstance(domain, CategoricalDomain) else "*"] * n
                for name, domain in domains.items()
            }
        )
    for number in range(3):
        releases[f"constants {number}"] = other.iloc[[number] * n].reset_index(drop=True)
        half = stars.copy()
        half[list(domains)[::2]] = other.iloc[[number] * n][list(domains)[::2]].to_numpy()
        releases[f"every other column {number}"] = half
    for rows in (n // 3, n, 3 * n):
        releases |= {f"{rows} draws {number}": uniform(domains, rows, rng) for number in range(4)}
    return releases


@pytest.mark.thorough_beyond(1)
@pytest.mark.long_for("bank-100")
@pytest.mark.parametrize(("name", "rows"), TABLES)
def test_releases_without_information_are_worth_nothing(name, rows):
    frame, domains, _ = people(name, 4 * rows)
    original, other = frame[:rows], frame[rows:]
    utility = TableUtility(original, domains, original[:0], None, np.random.default_rng(1))
    for release, table in without_information(original, other, domains).items():
        score = utility.score(table)
        assert max(score[component] or 0 for component in MEASURES) <= 0.02, (release, score)


@pytest.mark.thorough
def test_exact_columns_beside_suppressed_ones_keep_their_marginals():
    """The floor spreads ``*`` over the bins of a number as a release does; if it did so evenly, exact columns lost."""
    rng = np.random.default_rng(4)
    numbers = {f"amount {i}": rng.lognormal(3, 1.5, 400).round() for i in range(4)}
    ills = [f"ill {i}" for i in range(30)]
    shares = 0.85 ** np.arange(30) / (0.85 ** np.arange(30)).sum()
    frame = pd.DataFrame({**numbers, **{name: rng.choice(ills, 400, p=shares) for name in ("ill", "other")}})
    cuts = {name: tuple(np.unique(np.quantile(frame[name], np.linspace(0.1, 0.9, 9)))) for name in numbers}
    domains = {name: NumericDomain(0, 20_000, integer=True, cuts=cuts[name]) for name in numbers}
    domains |= dict.fromkeys(("ill", "other"), CategoricalDomain(tuple(ills)))
    utility = TableUtility(frame, domains, frame[:0], None, np.random.default_rng(1))
    stars = frame.astype(object)
    stars[list(numbers)] = "*"
    assert utility.score(stars)["marginals"] >= 0.05
    assert utility.score(stars.assign(ill="*"))["marginals"] < utility.score(stars)["marginals"]
    assert utility.score(pd.DataFrame("*", index=frame.index, columns=frame.columns))["marginals"] == 0


def mixed(frame, domains, rng):
    """Releases that mix constants, ``*`` and draws by row and by column, by name; draws by chance, several of each."""
    n = len(frame)
    stars = pd.DataFrame("*", index=range(n), columns=list(domains))
    modes = pd.DataFrame({name: [frame[name].mode()[0]] * n for name in domains})
    draws = [uniform(domains, n, rng).astype(object) for _ in range(4)]
    copies = [equal_draws(domains, n, rng) for _ in range(4)]
    columns = [np.where(rng.random(len(domains)) < 0.5, modes, stars) for _ in range(4)]
    releases = {"modes or stars by column": columns}
    for share in (0.2, 0.4, 0.6, 0.8, 0.95):
        first = np.arange(n)[:, None] < round(share * n)
        releases |= {
            f"{share} modes among stars": [np.where(first, modes, stars)],
            f"{share} modes among draws": [np.where(first, modes, table) for table in draws],
            f"{share} stars among draws": [np.where(first, stars, table) for table in draws],
            f"{share} modes among equal draws": [np.where(first, modes, table) for table in copies],
            f"{share} stars among equal draws": [np.where(first, stars, table) for table in copies],
            f"{share} modes among modes or stars": [np.where(first, modes, table) for table in columns],
        }
    return {
        title: [pd.DataFrame(table, columns=list(domains)) for table in tables] for title, tables in releases.items()
    }


def equal_draws(domains, rows, rng):
    """Draws whose cells are all decided by one number for each row."""
    shared = rng.random(rows)
    cells = {
        name: np.array(domain.categories, dtype=object)[(shared * domain.size).astype(int)]
        if isinstance(domain, CategoricalDomain)
        else np.round(domain.low + shared * (domain.high - domain.low)).astype(object)
        for name, domain in domains.items()
    }
    return pd.DataFrame(cells)


@pytest.mark.thorough
@pytest.mark.long_for("bank-100", "coins-100", "likert-100")
@pytest.mark.parametrize(("name", "rows"), TABLES)
def test_mixtures_without_information_are_worth_nothing(name, rows):
    # What a release reaches by the luck of its draws is no information: kinds are judged by their means.
    frame, domains, _ = people(name, rows)
    utility = TableUtility(frame, domains, frame[:0], None, np.random.default_rng(1))
    for release, tables in mixed(frame, domains, np.random.default_rng(5)).items():
        scores = [utility.score(table) for table in tables]
        for component in MEASURES:
            assert np.mean([score[component] or 0 for score in scores]) <= 0.02, (release, component)


def test_shares_of_rows_for_each_column_are_the_marginals():
    """No floor can cover shares that are chosen for each column: they reproduce the marginals of two values exactly."""
    rng = np.random.default_rng(2)
    domain = CategoricalDomain(("no", "yes"))
    frame = pd.DataFrame({f"item {share}": rng.permutation(["yes", "no"] * 100) for share in range(6)})
    for number, name in enumerate(frame):
        frame.loc[: 20 * number, name] = "yes"
    domains = dict.fromkeys(frame.columns, domain)
    released = pd.DataFrame("*", index=frame.index, columns=frame.columns)
    for name in frame:
        yes = int((frame[name] == "yes").sum())
        released.loc[: 2 * yes - 200 - 1, name] = "yes"
    utility = TableUtility(frame, domains, frame[:0], None, np.random.default_rng(1))
    assert utility.score(released)["marginals"] == pytest.approx(1)


@pytest.mark.long_for("adult")
@pytest.mark.usefixtures("one_query")
@pytest.mark.parametrize(
    "name", ["likert", "adult", *(pytest.param(name, marks=pytest.mark.long) for name in ("coins", "bank"))]
)
def test_classifiers_without_information_are_worth_nothing(name):
    # Uniform draws train classifiers of either sign, whose areas average to 1/2 over plays.
    frame, domains, target = people(name, 1500)
    plays = {"stars": [], "modes": [], "draws": []}
    for play in range(16):
        original = frame.sample(200, random_state=play)
        rng = np.random.default_rng(play)
        utility = TableUtility(original, domains, frame[1000:], target, rng.spawn(1)[0])
        plays["stars"].append(utility.score(pd.DataFrame("*", index=range(200), columns=list(domains))))
        plays["modes"].append(utility.score(pd.DataFrame({c: [original[c].mode()[0]] * 200 for c in domains})))
        plays["draws"].append(utility.score(uniform(domains, 200, rng)))
    for kind, scores in plays.items():
        pooled = pooled_utility(scores)
        assert pooled.headline.value <= 0.02, (kind, pooled)


@pytest.mark.long_for("adult-100-0.4", "bank-300-0.85")
@pytest.mark.usefixtures("one_query")
@pytest.mark.parametrize(
    ("name", "rows", "fresh"),
    [
        ("bank", 100, 0.4),
        ("adult", 100, 0.4),
        ("bank", 300, 0.85),
        pytest.param("adult", 300, 0.85, marks=pytest.mark.long),
    ],
)
def test_samples_of_the_same_people_keep_the_associations(name, rows, fresh):
    # Two samples of 100 people differ by nearly as much as one of them from a table of equal associations.
    plays = 8
    frame, domains, _ = people(name, 2 * plays * rows)
    worth = {"fresh": [], "retained": []}
    for play in range(plays):
        original, other = frame[play * rows :][:rows], frame[(plays + play) * rows :][:rows]
        utility = TableUtility(original, domains, original[:0], None, np.random.default_rng(1))
        if utility.score(original)["associations"] is None:
            continue
        worth["fresh"].append(utility.score(other)["associations"])
        records = Microdata(original.reset_index(drop=True), quasi_identifiers=tuple(domains), domains=domains)
        replaced = RetentionReplacement(retention=0.9).apply(records, np.random.default_rng(play)).frame
        worth["retained"].append(utility.score(replaced)["associations"])
    assert len(worth["fresh"]) >= 6
    assert np.mean(worth["fresh"]) >= fresh
    assert np.mean(worth["retained"]) >= 0.8


def test_a_table_without_associations_has_none_to_keep():
    frame, domains, _ = people("one column", 100)
    utility = TableUtility(frame, domains, frame[:0], None, np.random.default_rng(1))
    assert utility.score(frame)["associations"] is None
    assert utility.score(frame[:0])["associations"] is None
    assert utility.score(frame)["marginals"] == 1


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("floor", [0.2, 0.9, 1.0])
def test_signed_measures_keep_the_order_below_the_floor(floor):
    values = np.linspace(0, 1, 21)
    signed = [anchored(value, floor, signed=True) for value in values]
    assert np.maximum(signed, 0).tolist() == [anchored(value, floor) for value in values]
    below = np.array(signed)[values <= floor]
    assert (np.diff(below) > 0).all()
    assert (below[0], min(1.0, anchored(floor, floor, signed=True))) == (-1.0, float(floor == 1))


@pytest.mark.thorough
@pytest.mark.parametrize("high", [10_000, 10_000_000])
def test_wide_bounds_cost_no_utility(high):
    """Bounds of a form beyond every record: the floor spreads ``*`` as wide as a release does."""
    rng = np.random.default_rng(6)
    pay = np.exp(rng.normal(7, 0.5, 400)).round()
    frame = pd.DataFrame({"pay": pay, "ill": np.where(pay > rng.permutation(pay), "flu", "none")})
    cuts = tuple(np.unique(np.quantile(pay, np.linspace(0.1, 0.9, 9)).round()))
    classes = frame.astype(object).assign(pay=[f"[{low},{low + 199}]" for low in (pay // 200 * 200).astype(int)])
    releases = {
        "classes": classes,
        "some suppressed": classes.mask(rng.random(classes.shape) < 0.3, "*"),
        "high ones suppressed": classes.assign(pay=classes["pay"].where(pay < 2000, "*")),
        "one column suppressed": frame.astype(object).assign(pay="*"),
    }
    scores = {}
    for most in (pay.max(), high):
        domains = {"pay": NumericDomain(0, most, integer=True, cuts=cuts), "ill": CategoricalDomain(("flu", "none"))}
        utility = TableUtility(frame, domains, frame[:0], None, np.random.default_rng(1))
        scores[most] = {name: utility.score(table) for name, table in releases.items()}
    for name, tight in scores[pay.max()].items():
        for component in ("marginals", "queries"):
            assert scores[high][name][component] >= tight[component], (name, component)
    assert scores[high]["classes"]["marginals"] > 0.8
