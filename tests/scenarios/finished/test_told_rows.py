"""A truth file that does not belong to the released rows is refused; a noisy release with its own is not."""

from pathlib import Path

import numpy as np
import pytest
from finished_tools import finished, released_by, setting_of, write_people

from defenses import Constant, Identity, Mondrian, RankSwapping, ReportedTable, RetentionReplacement, Shuffle
from scenarios.finished.told_rows import refuse_misfit

TRUTH = Path("who.csv")


@pytest.fixture(scope="module")
def setting(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    write_people(folder, 600)
    return setting_of(folder)


def judge(setting, defense, seed=0, *, by=None):
    """Judge the truth of a release whose rows are shuffled, and afterwards sorted by columns."""
    release = defense.apply(setting.records, np.random.default_rng(seed))
    order = np.random.default_rng(1).permutation(len(release.frame))
    frame, origin = release.frame.iloc[order].reset_index(drop=True), np.asarray(release.origin)[order]
    frame = frame if by is None else frame.sort_values(by, kind="stable")
    table = finished(setting, frame)
    refuse_misfit(TRUTH, table.frame, setting.records.frame, table.domains, origin)


NOISY = (
    RetentionReplacement(retention=0.5),
    RetentionReplacement(retention=0.0),
    RankSwapping(window=0.5),
    ReportedTable(epsilon=0.5),
    Shuffle(),
    Constant(),
)


@pytest.mark.parametrize("defense", [Identity(), Mondrian(k=5), *NOISY], ids=str)
def test_the_truth_of_a_release_is_accepted_however_noisy_it_is(setting, defense):
    judge(setting, defense)


@pytest.mark.parametrize("defense", [Identity(), Mondrian(k=5), RankSwapping(window=0.02)], ids=str)
def test_a_release_that_was_sorted_is_refused_with_its_file(setting, defense):
    with pytest.raises(ValueError, match=r"who\.csv: does not tell the records .* was the release sorted"):
        judge(setting, defense, by=["age", "city"])


def test_independent_columns_are_refused_as_rarely_as_stated(tmp_path):
    """At a level of .001 two of 30 are refused with a probability of .0005."""
    write_people(tmp_path, 400)
    setting = setting_of(tmp_path)
    refused = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        frame = released_by(setting, Identity())
        shuffled = frame.apply(lambda column, rng=rng: column.iloc[rng.permutation(len(column))].to_numpy())
        table = finished(setting, shuffled)
        try:
            told = rng.permutation(len(frame))
            refuse_misfit(TRUTH, table.frame, setting.records.frame, table.domains, told)
        except ValueError:
            refused += 1
    assert refused < 2
