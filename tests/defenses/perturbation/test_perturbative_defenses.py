import pickle
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from record_tools import table
from scipy import stats

from defenses.base.defense import released_frame
from defenses.base.hierarchy import Hierarchy, TableHierarchy
from defenses.base.microdata import Microdata
from defenses.base.pipeline import Pipeline
from defenses.perturbation.additive_noise import AdditiveNoise
from defenses.perturbation.constant import Constant
from defenses.perturbation.identity import Identity
from defenses.perturbation.rank_swapping import RankSwapping, swapped_ranks
from defenses.perturbation.sampling import Sampling
from defenses.perturbation.shuffle import Shuffle
from defenses.pram.retention_replacement import RetentionReplacement
from defenses.recoding.global_recoding import GlobalRecoding
from defenses.recoding.top_bottom_coding import TopBottomCoding
from metrics.cells import read_cells
from metrics.domains import CategoricalDomain, NumericDomain

AGE = NumericDomain(17, 90, True, (30, 45, 60))
JOB = CategoricalDomain(("admin.", "blue|collar", "[none]", "*", "tech"))
DEFENSES = [
    Identity(),
    GlobalRecoding(levels=1),
    TopBottomCoding(share=0.1),
    TopBottomCoding(thresholds={"age": (25, 60)}),
    AdditiveNoise(scale=0.3),
    AdditiveNoise(scale=0.3, distribution="laplace", columns=["age"]),
    RankSwapping(window=0.1),
    Sampling(rate=0.5),
    RetentionReplacement(retention=0.6),
    RetentionReplacement(epsilon=1.0),
    RetentionReplacement(k=1),
    Constant(),
    Shuffle(),
]
ROWWISE = [defense for defense in DEFENSES if not isinstance(defense, Sampling | Shuffle)]


def people(n=80, seed=0, **changes):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "name": [f"p{i}" for i in range(n)],
            "age": rng.integers(17, 91, n),
            "job": rng.choice(np.array(JOB.categories, dtype=object), n),
            "note": rng.choice(np.array(["a", "b{c", "d\\e"], dtype=object), n),
            "smokes": rng.random(n) < 0.5,
            "disease": rng.choice(np.array(["flu", "none"], dtype=object), n),
        }
    ).assign(**changes)
    frame.index = np.arange(n)[::-1] + 7
    hierarchies = {
        "age": Hierarchy.from_intervals([[30, 45, 60], [45], []], 17, 90, integer=True),
        "job": TableHierarchy(
            [[job, "office" if job in ("admin.", "tech") else "other", "*"] for job in JOB.categories]
        ),
    }
    roles = (("name",), ("age", "job", "smokes"), ("disease",))
    return Microdata(frame, *roles, {"age": AGE, "job": JOB}, hierarchies)


TABLES = {
    "plain": people(),
    "one row": people(1),
    "empty": people(0),
    "constant": people(12, age=40, job="tech", smokes=True, disease="flu"),
    "missing": people(
        20,
        age=[np.nan, *range(20, 38), np.nan],
        job=[None, *["tech", "*"] * 9, None],
        smokes=[None, *[True, False] * 9, None],
    ),
    "all missing": people(9, age=np.nan, job=None, note=None),
}


def apply(defense, records, seed=0):
    return defense.apply(records, np.random.default_rng(seed))


@pytest.mark.parametrize("records", TABLES.values(), ids=TABLES.keys())
@pytest.mark.parametrize("defense", DEFENSES, ids=repr)
def test_release_of_any_table(defense, records):
    before = records.frame.copy(deep=True)
    release = apply(defense, records)
    pd.testing.assert_frame_equal(records.frame, before)
    pd.testing.assert_frame_equal(release.frame, apply(defense, records).frame)
    assert list(release.frame.columns) == ["age", "job", "note", "smokes", "disease"]
    assert list(release.frame.index) == list(range(len(release.frame)))
    defense.guarantee(records)
    if not len(records):
        assert release.frame.empty
        return
    if defense in ROWWISE:
        assert release.origin.tolist() == list(range(len(records)))
        if not isinstance(defense, Constant):
            untouched = [name for name in ("note", "disease") if records.frame[name].notna().any()]
            pd.testing.assert_frame_equal(release.frame[untouched], released_frame(records)[untouched])
    for name in release.frame.columns:
        if records.frame[name].notna().any():
            read_cells(release.frame[name], records.domain(name))
            missing = release.frame[name].isna().sum()
            if not isinstance(defense, RetentionReplacement | Sampling | Constant):
                assert missing == records.frame[name].isna().sum()
    domains = {name: records.domain(name) for name in release.frame if records.frame[name].notna().any()}
    shared = records.frame[list(domains)]
    own = release.origin >= 0
    for likelihood in release.channel.likelihoods(release.frame, shared, domains).values():
        assert (likelihood.at(np.flatnonzero(own), release.origin[own]) > -np.inf).all()


@pytest.mark.parametrize("defense", DEFENSES, ids=repr)
def test_parameters_come_back(defense):
    assert defense.clone() == defense
    assert pickle.loads(pickle.dumps(defense)) == defense
    assert type(defense)(**defense.get_params()).get_params() == defense.get_params()


@pytest.mark.parametrize("defense", DEFENSES, ids=repr)
def test_release_pickles(defense):
    release = apply(defense, TABLES["missing"])
    domains = {name: TABLES["missing"].domain(name) for name in release.frame}
    release.channel.likelihoods(release.frame, TABLES["missing"].frame, domains)
    assert pickle.loads(pickle.dumps(release.channel)) == release.channel


@pytest.mark.parametrize(
    ("method", "parameters", "named"),
    [
        (GlobalRecoding, {"levels": -1}, "levels"),
        (GlobalRecoding, {"levels": {"age": 1.5}}, r"levels\['age'\]"),
        (TopBottomCoding, {}, "share or thresholds"),
        (TopBottomCoding, {"share": 0.1, "thresholds": {}}, "share or thresholds"),
        (TopBottomCoding, {"share": 0.5}, "share"),
        (TopBottomCoding, {"thresholds": {"age": (5, 2)}}, r"thresholds\['age'\]"),
        (TopBottomCoding, {"thresholds": {"age": (np.nan, 2)}}, r"thresholds\['age'\]"),
        (TopBottomCoding, {"thresholds": {"age": 2}}, r"thresholds\['age'\]"),
        (TopBottomCoding, {"thresholds": {"age": ("1", "2")}}, r"thresholds\['age'\]"),
        (TopBottomCoding, {"thresholds": {"age": (1, 2)}, "columns": ["age"]}, "columns"),
        (AdditiveNoise, {"scale": -1}, "scale"),
        (AdditiveNoise, {"scale": np.inf}, "scale"),
        (AdditiveNoise, {"scale": {"age": -1}}, r"scale\['age'\]"),
        (AdditiveNoise, {"scale": {"age": 1}, "columns": ["age"]}, "columns"),
        (AdditiveNoise, {"distribution": "uniform"}, "distribution"),
        (AdditiveNoise, {"columns": "age"}, "columns"),
        (RankSwapping, {"window": 0}, "window"),
        (RankSwapping, {"columns": ["age", "age"]}, "columns"),
        (Sampling, {"rate": 0}, "rate"),
        (Sampling, {"rate": 1.1}, "rate"),
        (RetentionReplacement, {}, "exactly one"),
        (RetentionReplacement, {"k": 2, "epsilon": 1}, "exactly one"),
        (RetentionReplacement, {"retention": 1.2}, "retention"),
        (RetentionReplacement, {"epsilon": 0}, "epsilon"),
        (RetentionReplacement, {"epsilon": np.nan}, "epsilon"),
        (RetentionReplacement, {"k": 0.5}, "k"),
    ],
)
def test_bad_parameters_are_refused(method, parameters, named):
    with pytest.raises(ValueError, match=named):
        method(**parameters)


@pytest.mark.parametrize(
    "defense",
    [
        TopBottomCoding(share=0.1, columns=["salary"]),
        TopBottomCoding(thresholds={"salary": (0, 1)}),
        AdditiveNoise(scale={"salary": 1}),
        RankSwapping(columns=["salary"]),
        RetentionReplacement(retention=0.5, columns=["salary"]),
        GlobalRecoding(levels={"salary": 1}),
    ],
    ids=repr,
)
def test_unknown_columns_are_named(defense):
    with pytest.raises(ValueError, match="there is no released column 'salary'"):
        apply(defense, people())


@pytest.mark.parametrize(
    "defense",
    [TopBottomCoding(share=0.1), AdditiveNoise(), RankSwapping(columns=["age"]), RetentionReplacement(retention=0.5)],
    ids=repr,
)
def test_numbers_that_an_earlier_step_generalized_are_refused(defense):
    steps = Pipeline(steps=[GlobalRecoding(levels={"age": 1}), defense])
    with pytest.raises(
        ValueError, match=r"column 'age', row 0: .* is no plain number; what reads numbers must come before"
    ):
        apply(steps, people())


@pytest.mark.parametrize(
    "defense", [TopBottomCoding(share=0.1, columns=["job"]), AdditiveNoise(columns=["job"])], ids=repr
)
def test_categories_are_no_numbers(defense):
    with pytest.raises(ValueError, match="column 'job', row 0"):
        apply(defense, people())


def test_identity_releases_what_it_holds():
    records = people()
    release = apply(Identity(), records)
    pd.testing.assert_frame_equal(release.frame, released_frame(records))
    assert release.channel.parts == ()


def test_global_recoding_by_column_and_by_one_level():
    records = people()
    one = apply(GlobalRecoding(levels={"age": 2}), records)
    assert set(one.frame["age"]) == {"[17,44]", "[45,90]"}
    assert one.channel.columns == {"age"}
    every = apply(GlobalRecoding(levels=3), records)
    assert set(every.frame["age"]) == {"*"}
    assert set(every.frame["job"]) == {"*"}
    assert every.channel.columns == {"age", "job"}
    first = apply(GlobalRecoding(levels=1), records)
    assert set(first.frame["job"]) == {"{admin.|tech}", "{blue\\|collar|\\[none]|\\*}"}
    for level in (0, 1, 2):
        cells = read_cells(apply(GlobalRecoding(levels=level), records).frame["job"], JOB)
        covered = cells.contains(records.frame["job"])
        assert covered[cells.codes, np.arange(len(records))].all()
    with pytest.raises(ValueError, match="column 'age' has levels 0 to 3, got 4"):
        apply(GlobalRecoding(levels={"age": 4}), records)
    with pytest.raises(ValueError, match="column 'smokes' has no hierarchy"):
        apply(GlobalRecoding(levels={"smokes": 1}), records)
    with pytest.raises(ValueError, match="column 'job': the hierarchy has no value 'new'"):
        apply(GlobalRecoding(levels=1), people(job="new"))


def test_top_bottom_coding_by_share():
    records = table(x=list(range(101)), y=[0.5] * 101)
    release = apply(TopBottomCoding(share=0.05), records)
    assert release.frame["x"].tolist() == [5] * 5 + list(range(5, 96)) + [95] * 5
    assert release.frame["x"].dtype == np.int64
    assert (release.frame["y"] == 0.5).all()
    assert [(part.low, part.high) for part in release.channel.parts] == [(5, 95), (0.5, 0.5)]


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=30), st.floats(0, 0.49))
@settings(max_examples=60, deadline=None)
def test_top_bottom_coding_changes_no_more_than_its_share(numbers, share):
    records = table(x=numbers)
    coded = apply(TopBottomCoding(share=share), records).frame["x"].to_numpy()
    assert (coded > numbers).mean() <= share
    assert (coded < numbers).mean() <= share
    assert len(set(coded)) >= 1


def test_top_bottom_coding_by_thresholds():
    records = table(x=[1.0, np.nan, 50.0, 99.0], y=[1, 2, 3, 4])
    release = apply(TopBottomCoding(thresholds={"x": (-np.inf, 60.5)}), records)
    np.testing.assert_array_equal(release.frame["x"], [1.0, np.nan, 50.0, 60.5])
    assert release.frame["y"].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("distribution", ["gaussian", "laplace"])
def test_noise_has_the_deviation_it_says(distribution):
    numbers = np.random.default_rng(1).normal(100, 20, 40_000)
    release = apply(AdditiveNoise(scale={"x": 0.5}, distribution=distribution), table(x=numbers))
    noise = release.frame["x"].to_numpy() - numbers
    spread = 0.5 * numbers.std()
    assert release.channel.parts[0].deviation == pytest.approx(spread)
    law = stats.norm(0, spread) if distribution == "gaussian" else stats.laplace(0, spread / np.sqrt(2))
    # Kolmogorov-Smirnov at level 1e-4, with a fixed seed.
    assert stats.kstest(noise, law.cdf).pvalue > 1e-4
    assert abs(np.corrcoef(noise, numbers)[0, 1]) < 5 / np.sqrt(noise.size)


def test_noise_respects_whole_numbers_bounds_and_missing_values():
    numbers = [np.nan, *range(17, 91)] * 20
    domain = {"x": AGE}
    release = apply(AdditiveNoise(scale=2.0), table(domain, x=numbers))
    released = release.frame["x"].to_numpy()
    present = ~np.isnan(released)
    np.testing.assert_array_equal(present, ~np.isnan(numbers))
    assert released[present].min() == 17
    assert released[present].max() == 90
    np.testing.assert_array_equal(released[present], np.rint(released[present]))
    free = apply(AdditiveNoise(scale=2.0), table(x=numbers)).frame["x"]
    assert free.min() < 17
    assert free.max() > 90
    assert str(AdditiveNoise().guarantee(people())) == "none"


def test_constant_columns_get_no_noise():
    release = apply(AdditiveNoise(scale=5.0), table(x=[0.1] * 7))
    assert (release.frame["x"] == 0.1).all()
    assert release.channel.parts[0].deviation == 0


@given(st.integers(1, 60), st.integers(0, 59), st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None)
def test_swaps_are_mutual_and_within_the_window(total, window, seed):
    window = min(window, total - 1)
    partner = swapped_ranks(total, window, np.random.default_rng(seed))
    np.testing.assert_array_equal(partner[partner], np.arange(total))
    assert (np.abs(partner - np.arange(total)) <= window).all()


@given(
    st.lists(st.one_of(st.none(), st.integers(0, 20)), min_size=1, max_size=60),
    st.floats(0.01, 1),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=60, deadline=None)
def test_rank_swapping_keeps_values_and_window(numbers, window, seed):
    records = table({"x": NumericDomain(0, 20, True)}, x=pd.Series(numbers, dtype=float))
    original = records.frame["x"].to_numpy()
    released = apply(RankSwapping(window=window), records, seed).frame["x"].to_numpy()
    np.testing.assert_array_equal(np.sort(released), np.sort(original))
    np.testing.assert_array_equal(np.isnan(released), np.isnan(original))
    present = ~np.isnan(original)
    ranks = np.sort(original[present])
    width = max(1, int(window * present.sum()))
    gap = np.maximum(
        np.searchsorted(ranks, released[present]) - np.searchsorted(ranks, original[present], side="right") + 1,
        np.searchsorted(ranks, original[present]) - np.searchsorted(ranks, released[present], side="right") + 1,
    )
    assert (gap <= width).all()


@pytest.mark.parametrize("window", [0.001, 0.01, 0.05, 1.0])
def test_most_values_move(window):
    numbers = np.random.default_rng(2).permutation(3000)
    released = apply(RankSwapping(window=window), table(x=numbers)).frame["x"].to_numpy()
    assert (released != numbers).mean() > 0.7


def test_rank_swapping_follows_the_order_of_the_domain():
    domain = CategoricalDomain(("low", "middle", "*"), ordered=True)
    records = table({"c": domain}, c=["*"] * 40 + ["low"] * 40 + ["middle"] * 40)
    released = apply(RankSwapping(window=0.05), records).frame["c"]
    assert not (released[:40] == "low").any()
    assert not (released[40:80] == "\\*").any()
    assert (released[80:] == "low").any()


def test_sample_has_its_size_and_is_uniform():
    records = table(x=list(range(10)))
    rng = np.random.default_rng(3)
    hits = np.zeros(10)
    for _ in range(2000):
        release = Sampling(rate=0.3).apply(records, rng)
        assert release.frame["x"].tolist() == release.origin.tolist() == sorted(set(release.origin.tolist()))
        assert len(release.frame) == 3
        hits[release.origin] += 1
    # Of 10 hits the variances sum to 2000 * 10 * 0.21; scaled by 9 / 10 of that they are chi-square with 9 degrees.
    statistic = ((hits - 600) ** 2).sum() / (2000 * 0.21 * 10 / 9)
    assert stats.chi2.sf(statistic, 9) > 1e-4
    assert len(apply(Sampling(rate=0.01), records).frame) == 1
    assert len(apply(Sampling(rate=1.0), records).frame) == 10


def joint_tables(defense, records):
    """Probabilities P(released, original) of each randomized column over its whole domain."""
    for part in apply(defense, records).channel.parts:
        if isinstance(part.domain, NumericDomain):
            cells, values = part.domain.cells(), part.domain.edges[:-1]
        else:
            cells, values = released_frame(table(c=list(part.domain.categories)))["c"], part.domain.categories
        frames = pd.DataFrame({part.column: cells}), pd.DataFrame({part.column: values})
        yield np.exp(part.bind(*frames).table())


def public(n=40):
    records = people(n)
    smokes = CategoricalDomain(("False", "True"))
    return Microdata(
        records.frame, ("name",), ("age", "job", "smokes"), ("disease",), {"age": AGE, "job": JOB, "smokes": smokes}
    )


@pytest.mark.parametrize(
    "defense",
    [
        RetentionReplacement(epsilon=1.0),
        RetentionReplacement(epsilon=3.5, columns=["age", "job"]),
        RetentionReplacement(k=5),
        RetentionReplacement(retention=0.8),
        RetentionReplacement(retention=0.0),
        RetentionReplacement(k=40),
    ],
    ids=repr,
)
def test_retention_keeps_its_guarantee_exactly(defense):
    records = public()
    guarantee = defense.guarantee(records)
    joint = np.ones((1, 1))
    for probability in joint_tables(defense, records):
        joint = np.kron(joint, probability)
    np.testing.assert_allclose(joint.sum(axis=0), 1)
    worst = np.log(joint.max(axis=1) / joint.min(axis=1)).max()
    assert worst == pytest.approx(guarantee.epsilon, abs=1e-9)
    if defense.epsilon is not None:
        assert worst == pytest.approx(defense.epsilon)
    # Of two records a, b and two releases x, y the least P(y|a) P(x|b) / (P(x|a) P(y|b)).
    logs = np.log(joint)
    spread = max(np.ptp(logs[:, a] - logs[:, b]) for a, b in product(range(joint.shape[1]), repeat=2))
    assert 1 + 39 * np.exp(-spread) == pytest.approx(guarantee.pk)
    if defense.k is not None:
        assert guarantee.pk == pytest.approx(defense.k)


def test_retention_promises_nothing_that_rests_on_the_records():
    assert "smokes is not public" in RetentionReplacement(epsilon=1.0).guarantee(people()).statement
    assert str(RetentionReplacement(epsilon=1.0).guarantee(people())) == "none"
    records = table({"x": AGE}, x=[20, np.nan, 30])
    assert "a value of x is missing" in RetentionReplacement(epsilon=1.0).guarantee(records).statement
    everything = RetentionReplacement(retention=1.0).guarantee(public())
    assert (everything.epsilon, everything.pk) == (None, 1)
    with pytest.raises(ValueError, match="k must be at most the number of records, 40, got 41"):
        RetentionReplacement(k=41).guarantee(public())


def test_retention_randomizes_missing_values_too():
    records = table({"x": CategoricalDomain(("a", "b|"))}, x=["a", None] * 5000)
    release = apply(RetentionReplacement(retention=0.5), records)
    shares = release.frame["x"][1::2].value_counts(dropna=False, normalize=True)
    assert shares.index.isna().any()
    # Five standard errors of a share of 1/4 of 5,000.
    assert shares["a"] == pytest.approx(0.25, abs=5 * np.sqrt(0.25 * 0.75 / 5000))
    assert shares["b\\|"] == pytest.approx(0.25, abs=5 * np.sqrt(0.25 * 0.75 / 5000))


def test_retention_of_one_category_and_one_bin():
    domains = {"c": CategoricalDomain(("a",)), "x": NumericDomain(0, 9)}
    records = table(domains, c=["a", "a"], x=[1.0, 2.0])
    release = apply(RetentionReplacement(epsilon=1.0), records)
    assert release.frame["c"].tolist() == ["a", "a"]
    assert release.frame["x"].tolist() == ["[0,9]", "[0,9]"]
    assert RetentionReplacement(epsilon=1.0).guarantee(records).epsilon == 0
    assert RetentionReplacement(epsilon=1.0).guarantee(records).pk == 2


def test_retention_names_a_value_outside_the_domain():
    with pytest.raises(ValueError, match="column 'c': unknown category 'z'"):
        apply(RetentionReplacement(retention=0.5), table({"c": CategoricalDomain(("a",))}, c=["z"]))


def test_constant_releases_the_typical_cell():
    domains = {"n": NumericDomain(0, 9, integer=True, cuts=(5,)), "m": NumericDomain(0, 9)}
    columns = {"n": [9, 1, 2, 3], "c": ["b", "*", "*", "b"], "m": [np.nan, 4.0, np.nan, 5.0], "e": [None] * 4}
    frame = apply(Constant(), table(domains, **columns)).frame
    # Three of n lie below 5, with lower median 2; ties of c and m go to the first in order, missing being the last.
    assert frame.to_dict("list") == {"n": [2] * 4, "c": ["\\*"] * 4, "m": [4.0] * 4, "e": [None] * 4}


def test_shuffle_keeps_columns_and_breaks_rows():
    records = people(500)
    release = apply(Shuffle(), records)
    original = released_frame(records)
    for name in release.frame.columns:
        assert sorted(map(str, release.frame[name])) == sorted(map(str, original[name]))
    assert (release.origin == -1).all()
    twin = table(x=np.arange(2000), y=np.arange(2000))
    mixed = apply(Shuffle(), twin).frame
    # The correlation of independent permutations has standard deviation 1 / sqrt(1999).
    assert abs(np.corrcoef(mixed["x"], mixed["y"])[0, 1]) < 5 / np.sqrt(1999)


def test_pipeline_of_disjoint_columns_has_a_channel():
    steps = Pipeline(steps=[AdditiveNoise(columns=["age"]), RankSwapping(columns=["job"]), Sampling(rate=0.5)])
    release = apply(steps, public())
    assert release.channel.columns == {"age", "job"}
    assert release.channel.sampling_rate == 0.5
    assert len(release.frame) == 20
