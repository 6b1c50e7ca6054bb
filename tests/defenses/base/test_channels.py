from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from defenses.base.channel import Channel
from defenses.base.channel_parts import (
    AddedNoise,
    Clipping,
    GroupMean,
    GroupMode,
    RankWindow,
    Retention,
    RetentionVector,
    SwapLaw,
)
from defenses.base.hierarchy import Hierarchy
from defenses.base.microdata import Microdata
from defenses.perturbation.additive_noise import AdditiveNoise
from defenses.perturbation.constant import Constant
from defenses.perturbation.identity import Identity
from defenses.perturbation.rank_swapping import RankSwapping, swapped_ranks
from defenses.perturbation.sampling import Sampling
from defenses.perturbation.shuffle import Shuffle
from defenses.pram.retention_replacement import RetentionReplacement
from defenses.recoding.global_recoding import GlobalRecoding
from defenses.recoding.top_bottom_coding import TopBottomCoding
from metrics.domains import CategoricalDomain, NumericDomain

# Every statistical test below has a fixed seed and, over seeds, a false alarm in one of 10,000 runs per chi-square.
LEVEL = 1e-4

AGE = NumericDomain(17, 90, True, (30, 45, 60))
INCOME = NumericDomain(0, 5000, False, (1000, 2000, 3000))
JOB = CategoricalDomain(("admin.", "blue|collar", "[none]", "*", "tech"), ordered=True)
DOMAINS = {"age": AGE, "income": INCOME, "job": JOB, "disease": CategoricalDomain(("flu", "none"))}
DEFENSES = [
    Identity(),
    GlobalRecoding(levels={"age": 2}),
    TopBottomCoding(share=0.1),
    TopBottomCoding(thresholds={"age": (25, np.inf)}),
    AdditiveNoise(scale=0.3),
    AdditiveNoise(scale={"age": 0.5, "income": 0}, distribution="laplace"),
    RankSwapping(window=0.1),
    Sampling(rate=0.5),
    RetentionReplacement(retention=0.6),
    RetentionReplacement(epsilon=2.0, columns=["age", "disease"]),
    RetentionReplacement(k=5),
    Constant(),
    Shuffle(),
]


def people(n=60, missing=True, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "name": [f"p{i}" for i in range(n)],
            "age": rng.integers(17, 91, n).astype(float),
            "income": np.round(rng.gamma(2, 700, n).clip(0, 5000), 2),
            "job": rng.choice(np.array(JOB.categories, dtype=object), n),
            "note": rng.choice(np.array(["a", "b{"], dtype=object), n),
            "disease": rng.choice(np.array(["flu", "none"], dtype=object), n),
        }
    )
    if missing and n > 5:
        frame.loc[[1, 4], "age"] = np.nan
        frame.loc[[2, 4], "job"] = None
    hierarchies = {"age": Hierarchy.from_intervals([[30, 45, 60], [45], []], 17, 90, integer=True)}
    return Microdata(frame, ("name",), ("age", "income", "job"), ("disease",), DOMAINS, hierarchies)


def likelihoods(channel, release, records):
    domains = {name: records.domain(name) for name in records.released_columns}
    return channel.likelihoods(release.frame, records.frame, domains)


def one_column(part, released, original):
    return part.bind(pd.DataFrame({part.columns[0]: released}), pd.DataFrame({part.columns[0]: original}))


def chi_square(observed, expected):
    """P-value; cells that expect few are put together."""
    rare = expected < 5
    observed = np.append(observed[~rare], observed[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    keep = expected > 0
    assert observed[~keep].sum() == 0
    return stats.chisquare(observed[keep], expected[keep]).pvalue


@pytest.mark.parametrize("defense", DEFENSES, ids=repr)
def test_channel_admits_what_is_released_and_at_equals_table(defense):
    records = people()
    release = defense.apply(records, np.random.default_rng(3))
    pairs = np.random.default_rng(4).integers(0, [[len(release.frame)], [len(records)]], (2, 200))
    own = release.origin >= 0
    for likelihood in likelihoods(release.channel, release, records).values():
        table = likelihood.table()
        assert table.shape == (len(release.frame), len(records))
        assert not np.isnan(table).any()
        np.testing.assert_array_equal(likelihood.at(*pairs), table[tuple(pairs)])
        assert np.isfinite(likelihood.at(np.flatnonzero(own), release.origin[own])).all()
        np.testing.assert_array_equal(likelihood.at(np.arange(3)[:, None], np.arange(5)[None, :]), table[:3, :5])


@pytest.mark.parametrize("defense", DEFENSES, ids=repr)
def test_channel_survives_toml(defense):
    records = people()
    release = defense.apply(records, np.random.default_rng(3))
    back = Channel.from_toml(release.channel.to_toml())
    assert back == release.channel
    mine, theirs = likelihoods(release.channel, release, records), likelihoods(back, release, records)
    assert mine.keys() == theirs.keys()
    for columns in mine:
        np.testing.assert_array_equal(mine[columns].table(), theirs[columns].table())


@pytest.mark.parametrize("defense", DEFENSES, ids=repr)
def test_likelihoods_survive_csv(defense, tmp_path):
    records = people(missing=False)
    release = defense.apply(records, np.random.default_rng(3))
    release.frame.to_csv(tmp_path / "release.csv", index=False)
    frame = pd.read_csv(tmp_path / "release.csv", float_precision="round_trip")
    domains = {name: records.domain(name) for name in records.released_columns}
    back = release.channel.likelihoods(frame, records.frame, domains)
    for columns, likelihood in likelihoods(release.channel, release, records).items():
        np.testing.assert_array_equal(back[columns].table(), likelihood.table())


@pytest.mark.parametrize("distribution", ["gaussian", "laplace"])
def test_rounded_noise_has_the_published_law(distribution):
    domain = NumericDomain(0, 12, True)
    frame = pd.DataFrame({"x": np.tile([0, 3, 7, 12], 10_000)})
    records = Microdata(frame, quasi_identifiers=("x",), domains={"x": domain})
    defense = AdditiveNoise(scale=0.8, distribution=distribution)
    release = defense.apply(records, np.random.default_rng(1))
    probability = np.exp(one_column(release.channel.parts[0], np.arange(13), [0, 3, 7, 12]).table())
    np.testing.assert_allclose(probability.sum(axis=0), 1, rtol=1e-12)
    for column, value in enumerate([0, 3, 7, 12]):
        seen = np.bincount(release.frame["x"][frame["x"] == value], minlength=13)
        assert chi_square(seen, 10_000 * probability[:, column]) > LEVEL


@pytest.mark.parametrize("distribution", ["gaussian", "laplace"])
def test_unrounded_noise_has_the_published_law(distribution):
    domain = NumericDomain(-2.0, 3.0)
    frame = pd.DataFrame({"x": np.repeat([-1.5, 0.25, 2.0], 10_000)})
    records = Microdata(frame, quasi_identifiers=("x",), domains={"x": domain})
    release = AdditiveNoise(scale=0.7, distribution=distribution).apply(records, np.random.default_rng(2))
    part = release.channel.parts[0]
    edges = np.linspace(-2, 3, 26)
    for value in (-1.5, 0.25, 2.0):

        def density(y, value=value):
            return float(np.exp(one_column(part, [y], [value]).table())[0, 0])

        kink = [value]
        inside = [integrate.quad(density, a, b, points=kink if a < value < b else None)[0] for a, b in pairwise(edges)]
        probability = np.array([density(-2.0), *inside, density(3.0)])
        assert probability.sum() == pytest.approx(1, abs=1e-6)
        released = release.frame["x"][frame["x"] == value].to_numpy()
        within = released[(released > -2) & (released < 3)]
        seen = np.array([(released == -2).sum(), *np.histogram(within, edges)[0], (released == 3).sum()])
        assert chi_square(seen, 10_000 * probability / probability.sum()) > LEVEL


def test_noise_keeps_its_digits_far_out():
    part = AddedNoise("x", "gaussian", 1.0, True, -np.inf, np.inf)
    table = one_column(part, [0.0, 30.0, -30.0, 1e6], [0.0]).table()[:, 0]
    # P(30 after rounding) is the upper tail beyond 29.5 less that beyond 30.5.
    expected = stats.norm.logsf(29.5) + np.log1p(-np.exp(stats.norm.logsf(30.5) - stats.norm.logsf(29.5)))
    assert table[1] == pytest.approx(expected, rel=1e-12)
    assert table[2] == pytest.approx(expected, rel=1e-12)
    assert np.isfinite(table[3])
    laplace = AddedNoise("x", "laplace", 2.0, False, 0.0, 10.0)
    table = one_column(laplace, [0.0, 4.0, 10.0], [5.0, 0.0]).table()
    reference = stats.laplace(5.0, np.sqrt(2))
    assert table[:, 0] == pytest.approx([reference.logcdf(0), reference.logpdf(4), reference.logsf(10)])


def test_noise_admits_nothing_off_its_grid_or_bounds():
    part = AddedNoise("x", "gaussian", 3.0, True, 0.0, 10.0)
    table = one_column(part, [3.5, 11.0, -1.0, np.nan, 3.0], [4.0, np.nan]).table()
    assert (table[:3] == -np.inf).all()
    assert table[3].tolist() == [-np.inf, 0.0]
    assert table[4, 1] == -np.inf
    with pytest.raises(ValueError, match="distribution"):
        AddedNoise("x", "uniform", 1.0, True, 0.0, 1.0)
    with pytest.raises(ValueError, match="deviation"):
        AddedNoise("x", "laplace", np.nan, True, 0.0, 1.0)


@given(
    st.integers(-50, 50),
    st.floats(0.01, 50),
    st.sampled_from(["gaussian", "laplace"]),
    st.integers(-40, 0),
    st.integers(1, 40),
)
@settings(max_examples=60, deadline=None)
def test_rounded_noise_sums_to_one(value, deviation, distribution, low, high):
    part = AddedNoise("x", distribution, deviation, True, float(low), float(high))
    table = one_column(part, np.arange(low, high + 1), [float(value)]).table()
    assert np.exp(table).sum() == pytest.approx(1, rel=1e-9)


def test_clipping_table():
    table = one_column(Clipping("x", 2.0, 5.0), [2, 3, 5, 1, np.nan], [0, 2, 3, 9, np.nan]).table()
    assert (table == 0).tolist() == [
        [True, True, False, False, False],
        [False, False, True, False, False],
        [False, False, False, True, False],
        [False, False, False, False, False],
        [False, False, False, False, True],
    ]
    assert (table[table != 0] == -np.inf).all()


def brute_force_swaps(total, window):
    """P(i, j) by going through the offsets and the blocks."""
    block = window + 1
    result = np.zeros((total, total))
    for offset in range(block):
        starts = sorted({0, *range(offset, total, block)})
        for start, stop in zip(starts, [*starts[1:], total], strict=True):
            size = stop - start
            pair = 0.0 if size == 1 else 1 / (size - 1) if size % 2 == 0 else 1 / size
            square = np.full((size, size), pair)
            np.fill_diagonal(square, 1 - pair * (size - 1))
            result[start:stop, start:stop] += square / block
    return result


@pytest.mark.parametrize(("total", "window"), [(1, 0), (2, 1), (5, 1), (5, 4), (9, 2), (10, 3), (11, 5), (12, 11)])
def test_swap_law_equals_brute_force_over_runs(total, window):
    law, exact = SwapLaw(total, window), brute_force_swaps(total, window)
    np.testing.assert_allclose(exact.sum(axis=1), 1)
    for low in range(total):
        for low_end in range(low + 1, total + 1):
            run = np.array(low), np.array(low_end - low)
            np.testing.assert_allclose(law.within(*run), exact[low:low_end, low:low_end].sum(), atol=1e-12)
            for high in range(low_end, total):
                for high_end in range(high + 1, total + 1):
                    both = law.between(*run, np.array(high), np.array(high_end - high))
                    np.testing.assert_allclose(both, exact[low:low_end, high:high_end].sum(), atol=1e-12)


@pytest.mark.parametrize(("total", "window"), [(8, 1), (9, 2), (9, 5), (7, 6)])
def test_swaps_have_the_published_law(total, window):
    rng = np.random.default_rng(5)
    plays = 6000
    drawn = np.array([swapped_ranks(total, window, rng) for _ in range(plays)])
    np.testing.assert_array_equal(np.take_along_axis(drawn, drawn, axis=1), np.tile(np.arange(total), (plays, 1)))
    exact = brute_force_swaps(total, window)
    for rank in range(total):
        assert chi_square(np.bincount(drawn[:, rank], minlength=total), plays * exact[rank]) > LEVEL


def test_rank_swapping_has_the_published_law_with_ties_and_categories():
    domain = CategoricalDomain(("low", "*", "high", "unused"), ordered=True)
    column = pd.Series(["low"] * 3 + ["*"] * 4 + ["high"] * 2 + [None], dtype=object)
    records = Microdata(pd.DataFrame({"c": column}), quasi_identifiers=("c",), domains={"c": domain})
    rng = np.random.default_rng(6)
    plays, row = 4000, 1
    releases = [RankSwapping(window=0.3).apply(records, rng) for _ in range(plays)]
    cells = pd.Series([release.frame["c"][row] for release in releases])
    part = releases[0].channel.parts[0]
    released = ["low", "\\*", "high", None]
    probability = np.exp(one_column(part, released, column).table())
    np.testing.assert_allclose(probability.sum(axis=0), 1)
    seen = np.array([(cells == cell).sum() for cell in released])
    assert chi_square(seen, plays * probability[:, row]) > LEVEL


@given(st.lists(st.integers(0, 6), min_size=1, max_size=30), st.integers(0, 40))
@settings(max_examples=80, deadline=None)
def test_rank_window_sums_to_one(numbers, window):
    values, counts = np.unique(np.array(numbers, dtype=float), return_counts=True)
    window = min(window, len(numbers) - 1)
    part = RankWindow("x", NumericDomain(0, 9), tuple(values.tolist()), tuple(counts.tolist()), window)
    probability = np.exp(one_column(part, values, values).table())
    np.testing.assert_allclose(probability.sum(axis=0), 1, rtol=1e-9)
    # Swapping is symmetric: counts times probabilities are.
    np.testing.assert_allclose(probability * counts, (probability * counts).T, atol=1e-9)
    start = np.cumsum(counts) - counts
    gap = np.maximum(start[:, None] - (start + counts - 1)[None, :], start[None, :] - (start + counts - 1)[:, None])
    assert (probability[gap > window] == 0).all()
    if window:
        assert (probability[(gap > 0) & (gap <= window)] > 0).all()
    absent = one_column(part, values, [7.5]).table()
    assert (absent == -np.inf).all()


def test_rank_window_of_a_large_column_is_a_law():
    numbers = np.sort(np.random.default_rng(7).integers(0, 800, 30_000)).astype(float)
    values, counts = np.unique(numbers, return_counts=True)
    part = RankWindow("x", NumericDomain(0, 800), tuple(values.tolist()), tuple(counts.tolist()), 1500)
    probability = np.exp(one_column(part, values, values).table())
    np.testing.assert_allclose(probability.sum(axis=0), 1, rtol=1e-9)


@pytest.mark.parametrize("domain", [JOB, NumericDomain(0, 50, True, (10, 20, 30, 40))], ids=["categories", "bins"])
def test_retention_has_the_published_law(domain):
    values = np.array(JOB.categories, dtype=object) if domain is JOB else np.array([5, 15, 25, 35, 45])
    column = pd.Series(np.repeat(values, 4000))
    records = Microdata(pd.DataFrame({"x": column}), quasi_identifiers=("x",), domains={"x": domain})
    release = RetentionReplacement(retention=0.45).apply(records, np.random.default_rng(8))
    cells = sorted(set(release.frame["x"]))
    probability = np.exp(one_column(release.channel.parts[0], cells, values).table())
    np.testing.assert_allclose(probability.sum(axis=0), 1, rtol=1e-12)
    assert probability.max() == pytest.approx(0.45)
    for index, value in enumerate(values):
        seen = release.frame["x"][column == value].value_counts().reindex(cells, fill_value=0).to_numpy()
        assert chi_square(seen, 4000 * probability[:, index]) > LEVEL


def test_retention_with_a_missing_category():
    domain = CategoricalDomain(("a", "b"))
    table = one_column(Retention("x", domain, 0.5, 3), ["a", "b", None], ["a", None]).table()
    np.testing.assert_allclose(np.exp(table), [[0.5, 0.25], [0.25, 0.25], [0.25, 0.5]])
    table = one_column(Retention("x", domain, 0.5, 2), ["a", None], ["a", None]).table()
    np.testing.assert_allclose(np.exp(table), [[0.5, 0], [0, 0]])


def test_retention_names_a_cell_that_is_no_category():
    with pytest.raises(ValueError, match=r"column 'job', row 1: '\{admin\.\|tech\}' is not one of the 5 categories"):
        one_column(Retention("job", JOB, 0.5, 5), ["tech", "{admin.|tech}"], ["tech"])
    with pytest.raises(ValueError, match=r"column 'age', row 0: '20' is not one of the 4 bins"):
        one_column(Retention("age", AGE, 0.5, 4), ["20", "[17,30)"], [20])


def test_group_mean_is_a_normal_density():
    released, original = np.array([1.0, 2.5, np.nan]), np.array([0.0, 2.0, np.nan])
    table = one_column(GroupMean("x", NumericDomain(0, 5), 1.5), released, original).table()
    expected = stats.norm.logpdf(released[:2, None], original[None, :2], 1.5)
    np.testing.assert_allclose(table[:2, :2], expected)
    assert table[2].tolist() == [-np.inf, -np.inf, 0.0]
    exact = one_column(GroupMean("x", NumericDomain(0, 5), 0.0), [2.0], [2.0, 2.1]).table()
    assert exact.tolist() == [[0.0, -np.inf]]


def test_group_mode_sums_to_one():
    released = ["admin.", "blue\\|collar", "\\[none]", "\\*", "tech", None]
    probability = np.exp(one_column(GroupMode("job", JOB, 0.7), released, [*JOB.categories, None]).table())
    np.testing.assert_allclose(probability.sum(axis=0), 1)
    np.testing.assert_allclose(np.diag(probability), 0.7)


def test_shuffle_says_how_often_a_value_occurs():
    records = Microdata(pd.DataFrame({"c": ["x", "x", "{", None], "n": [1, 2, 2, 2]}), quasi_identifiers=("c", "n"))
    release = Shuffle().apply(records, np.random.default_rng(0))
    original = pd.DataFrame({"c": ["x", "{", None, "y"], "n": [1.0, 2.0, 3.0, np.nan]})
    parts = {part.columns[0]: part for part in release.channel.parts}
    text = np.exp(parts["c"].bind(release.frame, original).table())
    numbers = np.exp(parts["n"].bind(release.frame, original).table())
    np.testing.assert_allclose(text, np.tile([0.5, 0.25, 0.25, 0], (4, 1)))
    np.testing.assert_allclose(numbers, np.tile([0.25, 0.75, 0, 0], (4, 1)))


def test_parts_name_cells_that_are_no_numbers():
    with pytest.raises(ValueError, match=r"column 'age', row 1: '\[20,29\]' is no plain number"):
        one_column(Clipping("age", 20.0, 30.0), ["25", "[20,29]"], [25])


def test_a_channel_of_two_steps_on_one_column_is_none():
    first = AdditiveNoise(columns=["age"]).apply(people(), np.random.default_rng(0)).channel
    second = RankSwapping(columns=["age"]).apply(people(), np.random.default_rng(0)).channel
    third = Sampling(rate=0.5).apply(people(), np.random.default_rng(0)).channel
    assert first.combined(second) is None
    assert first.combined(third) == Channel(first.parts, 0.5)


def test_parts_state_the_domains_of_their_original_values():
    age, job = NumericDomain(0, 9, True, (5,)), CategoricalDomain(("a", "b"))
    vector = RetentionVector(("age", "job"), (age, job), (2, 2), (0.5, 0.6, 0.7, 0.8))
    noise = AddedNoise("income", "gaussian", 1.0, True, -np.inf, np.inf)
    assert dict(vector.original_domains) == {"age": age, "job": job}
    assert dict(noise.original_domains) == {}
    channel = Channel((Retention("disease", job, 0.5, 2), vector, noise))
    assert dict(channel.original_domains) == {"disease": job, "age": age, "job": job}
    assert dict(Channel().original_domains) == {}
