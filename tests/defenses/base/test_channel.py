"""Channels: likelihoods of releases, and their TOML form."""

import numpy as np
import pandas as pd
import pytest

from defenses.base.channel import Channel
from defenses.base.channel_parts import AddedNoise, Retention, RetentionVector
from defenses.base.hierarchy import Hierarchy
from defenses.base.microdata import Microdata
from defenses.perturbation.additive_noise import AdditiveNoise
from defenses.perturbation.reference_releases import Constant, Identity
from defenses.perturbation.sampling import Sampling
from defenses.perturbation.swapping import RankSwapping, Shuffle
from defenses.pram.retention_defenses import RetentionReplacement
from defenses.recoding.global_recoding import GlobalRecoding
from defenses.recoding.number_coding import TopBottomCoding
from metrics.columns.domains import CategoricalDomain, NumericDomain

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


@pytest.mark.thorough_beyond(8)
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


@pytest.mark.thorough_beyond(6)
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


@pytest.mark.thorough_beyond(6)
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
