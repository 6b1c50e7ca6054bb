"""A truth file of other rows is refused or called unreliable; that of a noisy release is not."""

from pathlib import Path

import numpy as np
import pytest
from finished_tools import finished, released_by, setting_of, write_people

from defenses import (
    AdditiveNoise,
    Constant,
    Identity,
    Microaggregation,
    Mondrian,
    RankSwapping,
    RecordReplacement,
    ReportedTable,
    RetentionReplacement,
    Shuffle,
)
from scenarios.assessment.evaluation.row_origin import MOST_RANDOM, given_origin, random_share, refuse_misfit

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


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("defense", [Identity(), Mondrian(k=5), *NOISY], ids=str)
def test_the_truth_of_a_release_is_accepted_however_noisy_it_is(setting, defense):
    judge(setting, defense)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("defense", [Identity(), Mondrian(k=5), RankSwapping(window=0.02)], ids=str)
def test_a_release_that_was_sorted_is_refused_with_its_file(setting, defense):
    with pytest.raises(ValueError, match=r"who\.csv: does not tell the records .* was the release sorted"):
        judge(setting, defense, by=["age", "city"])


@pytest.mark.thorough
def test_independent_columns_are_refused_as_rarely_as_stated(tmp_path):
    """At a level of .001 two of 30 are refused with a probability of .0005."""
    write_people(tmp_path, 200)
    setting = setting_of(tmp_path)
    frame, refused = released_by(setting, Identity()), 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        shuffled = frame.apply(lambda column, rng=rng: column.iloc[rng.permutation(len(column))].to_numpy())
        table = finished(setting, shuffled)
        try:
            given = rng.permutation(len(frame))
            refuse_misfit(TRUTH, table.frame, setting.records.frame, table.domains, given)
        except ValueError:
            refused += 1
    assert refused < 2


def random_in_part(setting, defense, false, seed=0):
    """Share that is said to be random if a share of the given records is exchanged."""
    rng = np.random.default_rng(seed)
    release = defense.apply(setting.records, rng)
    given = np.array(release.origin)
    rows = rng.permutation(given.size)[: round(false * given.size)]
    given[rows] = np.roll(given[rows], 1)
    table = finished(setting, release.frame)
    return random_share(table.frame, setting.records.frame, table.domains, given)


KEPT = (
    Mondrian(k=5),
    Microaggregation(k=50),
    AdditiveNoise(scale=2.0),
    RetentionReplacement(retention=0.5),
    RecordReplacement(share=1.0),
)


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("defense", KEPT, ids=str)
def test_the_right_file_of_a_noisy_release_is_not_called_unreliable(setting, defense):
    assert random_in_part(setting, defense, 0.0) is None


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("false", [0.25, 0.5, 0.9])
def test_a_file_that_is_false_in_part_is_called_unreliable(setting, false):
    assert random_in_part(setting, Mondrian(k=5), false) == pytest.approx(false, abs=0.15)


def test_a_release_that_keeps_nothing_looks_the_same(setting):
    assert random_in_part(setting, Constant(), 0.0) > 0.8


@pytest.mark.thorough
def test_files_with_few_false_records_are_called_unreliable_as_rarely_as_stated(setting):
    """At a level of .001 two of 10 are called unreliable with a probability of .00005."""
    unreliable = [random_in_part(setting, Identity(), MOST_RANDOM, seed) is not None for seed in range(10)]
    assert sum(unreliable) < 2


@pytest.mark.parametrize("every", [1, 3])
def test_a_record_that_is_given_for_too_many_rows_is_refused(setting, every):
    table = finished(setting, released_by(setting, Mondrian(k=5)))
    given = np.arange(len(table.frame))
    given[::every] = 5
    words = rf"who\.csv: record 5 is given for {600 // every + (every > 1)} of 600 released rows"
    with pytest.raises(ValueError, match=words):
        refuse_misfit(TRUTH, table.frame, setting.records.frame, table.domains, given)


def test_rows_that_are_drawn_with_replacement_are_given_with_their_repeats(setting):
    judge(setting, RecordReplacement(share=1.0))
    assert given_origin(np.array([0, 2, 2, -1])).note == (
        "the record of 3 of 4 rows was given by --truth; 1 of them repeat a record, as where rows are drawn with "
        "replacement"
    )
