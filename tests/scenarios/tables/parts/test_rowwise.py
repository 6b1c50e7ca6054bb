"""Row-wise releases of tables that are read in parts equal those in memory, in law or in every cell."""

from contextlib import ExitStack

import numpy as np
import pandas as pd
import pytest
from large_tools import ROLES, people, written_release

import defenses
from scenarios.tables.dataset import load_table
from scenarios.tables.parts.records import large_records
from scenarios.tables.released import write_table

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


@pytest.fixture(scope="module")
def identity(dataset, tmp_path_factory):
    """The released columns of the table as they are."""
    path = tmp_path_factory.mktemp("identity") / "identity.parquet"
    in_memory(defenses.Identity(), dataset, path)
    return pd.read_parquet(path)


def in_memory(defense, dataset, output, seed=0):
    release = defense.apply(dataset.records, np.random.default_rng(seed))
    write_table(dataset.written.write(release.frame), str(output))
    return release


def rows_of(path):
    return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path, dtype=str, keep_default_na=False)


@pytest.mark.parametrize(
    ("suffix", "sampled"),
    [
        pytest.param("csv", False, id="csv-coded"),
        pytest.param("parquet", True, id="parquet-sampled"),
        # How columns are read does not depend on how they are written.
        pytest.param("csv", True, id="csv-sampled", marks=pytest.mark.long),
        pytest.param("parquet", False, id="parquet-coded", marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize("defense", DETERMINISTIC, ids=lambda defense: type(defense).__name__)
def test_deterministic_releases_have_the_cells_of_those_in_memory(
    small_blocks, dataset, opened, tmp_path, defense, suffix, sampled
):
    ours, theirs = tmp_path / f"ours.{suffix}", tmp_path / f"theirs.{suffix}"
    truth = tmp_path / "truth.csv"
    expected = in_memory(defense, dataset, theirs)
    release = written_release(defense, opened[sampled], ours, truth=str(truth))
    written, known = rows_of(ours), rows_of(theirs)
    origins = pd.read_csv(truth)
    assert origins["released_row"].tolist() == list(range(1000))
    assert sorted(origins["record"]) == list(range(1000))
    assert not origins["record"].is_monotonic_increasing
    pd.testing.assert_frame_equal(written, known.iloc[origins["record"]].reset_index(drop=True))
    assert release.channel == expected.channel or release.channel.to_toml() == expected.channel.to_toml()


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
MATRIX_OF_RECORDS = (defenses.OptimalRetention, defenses.OptimalRetentionFromNoisyHistogram)


@pytest.mark.parametrize("defense", RANDOM, ids=lambda defense: type(defense).__name__)
def test_random_releases_have_the_channel_and_promise_of_those_in_memory(
    small_blocks, dataset, opened, identity, tmp_path, defense
):
    theirs, ours, truth = tmp_path / "theirs.parquet", tmp_path / "ours.parquet", tmp_path / "truth.csv"
    records = dataset.records
    expected = in_memory(defense, dataset, theirs)
    release = written_release(defense, opened[False], ours, truth=str(truth))
    assert release.guarantee() == defense.guarantee(records)
    written, known = pd.read_parquet(ours), pd.read_parquet(theirs)
    assert written.dtypes.to_dict() == known.dtypes.to_dict()
    origins = pd.read_csv(truth)["record"]
    assert len(written) == len(known) or type(defense) is defenses.StratifiedSampling
    assert sorted(origins) == sorted(set(origins)) or type(defense) is defenses.Shuffle
    parts, others = release.channel.parts, expected.channel.parts
    assert [part.columns for part in parts] == [part.columns for part in others]
    if isinstance(defense, defenses.AdditiveNoise):
        # Sums are rounded in another order.
        deviations = [[part.deviation for part in channel] for channel in (parts, others)]
        np.testing.assert_allclose(*deviations, rtol=1e-12)
    elif not hasattr(defense, "epsilon_matrix"):
        assert release.channel == expected.channel
    # Unchanged columns stay with their records.
    if not isinstance(defense, defenses.Shuffle):
        changed = {name for part in parts for name in part.columns}
        kept = [name for name in records.released_columns if name not in changed]
        plain = identity[kept].iloc[origins].reset_index(drop=True)
        pd.testing.assert_frame_equal(written[kept], plain)
    else:
        assert (origins == -1).all()
        for name in written:
            assert sorted(written[name].astype(str)) == sorted(known[name].astype(str))


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """Twenty thousand people in memory and in parts, by whether wages are sampled instead of coded."""
    folder = tmp_path_factory.mktemp("crowd")
    roles = folder / "roles.toml"
    roles.write_text(ROLES)
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        found = {}
        for sampled in (False, True):
            frame, path = people(20_000, seed=3), folder / f"{sampled}.parquet"
            if sampled:
                patch.setattr("scenarios.tables.parts.raw_columns.LIMIT", 9_000)
                patch.setattr("scenarios.tables.parts.raw_columns.SAMPLE", 3_000)
                frame["wage"] += np.random.default_rng(4).random(len(frame)) / 1000
            frame.to_parquet(path)
            records = stack.enter_context(large_records(path, roles))
            assert records.columns["wage"].numbers_only == sampled
            found[sampled] = load_table(path, roles).records.frame, records
        patch.undo()
        yield found


@pytest.mark.parametrize("sampled", [False, True], ids=["coded", "sampled"])
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

    people_of, records = crowd[sampled]
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
