"""Row-wise releases of tables that are read in parts are those in memory, byte for byte."""

from contextlib import ExitStack
from functools import cache

import numpy as np
import pandas as pd
import pytest
from large_tools import ROLES, people, written_release
from numpy.random import SeedSequence

import defenses
from defenses.base import RecordsInMemory
from scenarios.tables.dataset import load_table
from scenarios.tables.parts.files.shuffled_output import write_outputs
from scenarios.tables.parts.large_release import large_release
from scenarios.tables.parts.records import large_records

DETERMINISTIC = [
    defenses.Identity(),
    defenses.Constant(),
    defenses.GlobalRecoding(levels=1),
    defenses.GlobalRecoding(levels={'to"wn': 2, "age": 1}),
    defenses.Rounding(base={"age": 7, "size": 0.3, "wage": 100.0}),
    defenses.TopBottomCoding(share=0.1),
    defenses.TopBottomCoding(thresholds={"age": (18, 60), "wage": (2500.5, np.inf)}),
    defenses.Pipeline(
        steps=[defenses.TopBottomCoding(thresholds={"age": (20, 80)}), defenses.GlobalRecoding(levels={"age": 1})]
    ),
]


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr("defenses.base.blocks.BLOCK", 64)
    monkeypatch.setattr("scenarios.tables.parts.files.shuffled_output.BUCKET", 100)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("table")
    (folder / "roles.toml").write_text(ROLES)
    people().to_parquet(folder / "people.parquet")
    return folder / "people.parquet", folder / "roles.toml"


@pytest.fixture(scope="module")
def opened(table):
    """The table, read in parts; by whether wages, more than 700 numbers, are sampled instead of coded."""
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        coded = stack.enter_context(large_records(*table))
        patch.setattr("scenarios.tables.parts.raw_columns.LIMIT", 700)
        patch.setattr("scenarios.tables.parts.raw_columns.SAMPLE", 200)
        sampled = stack.enter_context(large_records(*table))
        patch.undo()
        assert [records.columns["wage"].numbers_only for records in (coded, sampled)] == [False, True]
        yield {False: coded, True: sampled}


@pytest.fixture(scope="module")
def dataset(table):
    """The table in memory."""
    return load_table(*table)


RANDOM = [
    defenses.AdditiveNoise(scale={"age": 0.3, "wage": 0.2, "size": 0.1}),
    defenses.AdditiveNoise(distribution="laplace", scale={"source": 2.0}),
    defenses.RetentionReplacement(epsilon=4.0),
    defenses.RetentionReplacement(k=3, columns=["code_1", "wage"]),
    defenses.OptimalMatrix(epsilon=6.0),
    defenses.OptimalRetention(epsilon=6.0),
    defenses.OptimalRetention(epsilon=3.0, columns=["code_1", "ill ness"], jointly=True),
    defenses.OptimalRetentionWithPrior(epsilon=3.0, columns=["code_1"], prior={"code_1": [1, 2, 3, 4]}),
    defenses.OptimalRetentionFromNoisyHistogram(epsilon_matrix=1.0, epsilon_release=4.0),
    defenses.OptimalRetentionByObjective(epsilon_matrix=1.0, epsilon_release=4.0, columns=["code_1", "wage"]),
    defenses.OptimalRetentionByOutput(epsilon_matrix=1.0, epsilon_release=4.0, columns=["code_1", "wage"]),
    defenses.ReportedTable(epsilon=3.0, columns=["age", 'to"wn']),
    defenses.ReportedTable(epsilon=3.0, columns=["age", "wage"], numbers="PiecewiseMechanism"),
    defenses.Sampling(rate=0.37),
    defenses.StratifiedSampling(by='to"wn', rate=0.37),
    defenses.Shuffle(),
]


def in_memory(defense, dataset, output, truth):
    """Write a release of the table in memory; the release."""
    root, records = SeedSequence(1), dataset.records
    in_blocks = large_release(defense, RecordsInMemory(records), root)
    write_outputs(in_blocks, dataset, root, str(output), truth=str(truth), channel=None)
    return in_blocks


@pytest.mark.thorough_beyond(12)
@pytest.mark.parametrize(
    ("suffix", "sampled"),
    [
        pytest.param("parquet", True, id="parquet-sampled"),
        pytest.param("csv", False, id="csv-coded", marks=pytest.mark.long),
        # How columns are read does not depend on how they are written.
        pytest.param("csv", True, id="csv-sampled", marks=pytest.mark.long),
        pytest.param("parquet", False, id="parquet-coded", marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize("defense", DETERMINISTIC + RANDOM, ids=lambda defense: type(defense).__name__)
def test_one_seed_gives_the_bytes_of_the_release_in_memory(
    small_blocks, dataset, opened, tmp_path, defense, suffix, sampled
):
    ours, theirs = tmp_path / f"ours.{suffix}", tmp_path / f"theirs.{suffix}"
    expected = in_memory(defense, dataset, theirs, tmp_path / "theirs_truth.csv")
    if isinstance(defense, defenses.Shuffle) and sampled:
        with pytest.raises(ValueError, match="column 'wage' holds nearly distinct numbers"):
            written_release(defense, opened[sampled], ours)
        return
    release = written_release(defense, opened[sampled], ours, truth=str(tmp_path / "truth.csv"))
    assert ours.read_bytes() == theirs.read_bytes()
    assert (tmp_path / "truth.csv").read_bytes() == (tmp_path / "theirs_truth.csv").read_bytes()
    assert release.guarantee() == expected.guarantee()
    assert release.channel == expected.channel


def test_rows_stand_in_random_order(small_blocks, opened, tmp_path):
    truth = tmp_path / "truth.csv"
    written_release(defenses.Identity(), opened[False], tmp_path / "rows.csv", truth=str(truth))
    origins = pd.read_csv(truth)
    assert origins["released_row"].tolist() == list(range(1000))
    assert sorted(origins["record"]) == list(range(1000))
    assert abs(np.corrcoef(origins["released_row"], origins["record"])[0, 1]) < 0.2


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """Twenty thousand people in memory and in parts, by whether wages are sampled instead of coded."""
    folder = tmp_path_factory.mktemp("crowd")
    roles = folder / "roles.toml"
    roles.write_text(ROLES)
    with ExitStack() as stack:

        @cache
        def read(sampled):
            frame, path = people(20_000, seed=3), folder / f"{sampled}.parquet"
            with pytest.MonkeyPatch.context() as patch:
                if sampled:
                    patch.setattr("scenarios.tables.parts.raw_columns.LIMIT", 9_000)
                    patch.setattr("scenarios.tables.parts.raw_columns.SAMPLE", 3_000)
                    frame["wage"] += np.random.default_rng(4).random(len(frame)) / 1000
                frame.to_parquet(path)
                records = stack.enter_context(large_records(path, roles))
            assert records.columns["wage"].numbers_only == sampled
            return load_table(path, roles).records.frame, records

        yield read


# Above, the bytes of sampled columns are those of the release in memory.
@pytest.mark.thorough
@pytest.mark.parametrize(
    "sampled", [pytest.param(False, id="coded"), pytest.param(True, id="sampled", marks=pytest.mark.long)]
)
@pytest.mark.parametrize(
    "defense",
    [
        defenses.RetentionReplacement(epsilon=3.0, columns=["code_1", "wage"]),
        defenses.OptimalMatrix(epsilon=3.0, columns=["code_1", "wage"]),
        defenses.OptimalRetention(epsilon=3.0, columns=["code_1", "wage"]),
        defenses.OptimalRetention(epsilon=2.0, columns=["code_1", "wage"], jointly=True),
        defenses.OptimalRetentionFromNoisyHistogram(epsilon_matrix=9.0, epsilon_release=2.0, columns=["wage"]),
    ],
    ids=lambda defense: type(defense).__name__,
)
def test_pram_follows_its_matrix(crowd, tmp_path, defense, sampled, monkeypatch):
    # Each chi-squared statistic exceeds its bound with probability 1e-6; there are 16 of them.
    from scipy import stats

    people_of, records = crowd(sampled)
    monkeypatch.setattr("defenses.base.blocks.BLOCK", 1 << 10)
    monkeypatch.setattr("scenarios.tables.parts.files.shuffled_output.BUCKET", 5_000)
    truth, ours = tmp_path / "truth.csv", tmp_path / "ours.parquet"
    release = written_release(defense, records, ours, truth=str(truth))
    original = people_of.iloc[pd.read_csv(truth)["record"]]
    written = pd.read_parquet(ours)
    original = original.reset_index(drop=True)
    for part in release.channel.parts:
        names = list(part.columns)
        before = original[names].copy()
        if "wage" in before:
            before["wage"] = np.searchsorted([2500, 3000, 3500], before["wage"], side="right")
        first, rows = np.unique(before.groupby(names).ngroup(), return_index=True, return_inverse=True)[1:]
        last, columns = np.unique(written.groupby(names).ngroup(), return_index=True, return_inverse=True)[1:]
        probabilities = np.exp(part.bind(written, original).at(last[None, :], first[:, None]))
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        expected = np.bincount(rows)[:, None] * probabilities
        counts = np.zeros(expected.shape)
        np.add.at(counts, (rows, columns), 1)
        assert expected.min() > 5
        statistic = ((counts - expected) ** 2 / expected).sum()
        assert statistic < stats.chi2.isf(1e-6, counts.size - len(counts))
