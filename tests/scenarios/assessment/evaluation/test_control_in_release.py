"""A release that holds the control people is refused; one that may equal some of them by chance is not."""

import pandas as pd
import pytest
from finished_tools import finished, released_by, setting_of, write_people

from defenses import Identity, Mondrian, PrivateMarginals, RetentionReplacement
from scenarios.assessment.evaluation.control_people import refuse_control_in_release

COLUMNS = ["city", "grade", "illness"]
"""Few values, so that many people are alike."""


def judge(folder, defense, *, together, columns=None):
    """Judge the release of the people, or of the people and the control group together."""
    write_people(folder, 300, 150)
    setting = setting_of(folder)
    records = setting.records
    both = pd.concat([records.frame, setting.control.frame], ignore_index=True)
    released = defense.apply(records.with_frame(both) if together else records, seeded()).frame
    table = finished(setting, released if columns is None else released[columns])
    refuse_control_in_release("released.csv", table.frame, records, setting.control, table.domains)


def seeded():
    import numpy as np

    return np.random.default_rng(2)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("defense", [Identity(), Mondrian(k=3)], ids=str)
def test_control_people_in_the_release_are_refused(tmp_path, defense):
    with pytest.raises(
        ValueError, match=r"released\.csv: .* rows stem from no record .* control people are in the rel"
    ):
        judge(tmp_path, defense, together=True)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    "defense",
    [Identity(), Mondrian(k=3), PrivateMarginals(epsilon=5.0), RetentionReplacement(retention=0.5)],
    ids=str,
)
@pytest.mark.parametrize("columns", [None, COLUMNS])
def test_a_release_of_the_people_alone_is_judged(tmp_path, defense, columns):
    judge(tmp_path, defense, together=False, columns=columns)


def test_more_rows_than_people_are_no_proof_if_people_are_alike(tmp_path):
    """A synthetic table of half as many rows more, of few combinations, holds whom it likes."""
    write_people(tmp_path, 300, 150)
    setting = setting_of(tmp_path)
    synthetic = pd.concat([released_by(setting, PrivateMarginals(epsilon=5.0), seed) for seed in (0, 1)])[COLUMNS]
    table = finished(setting, synthetic.iloc[:400])
    refuse_control_in_release("released.csv", table.frame, setting.records, setting.control, table.domains)
