"""Control people who are in the original table are refused, or called unreliable where nothing names them."""

from dataclasses import replace

import pandas as pd
import pytest
from finished_tools import setting_of, write_people

from scenarios.assessment.evaluation.control_people import control_warnings, read_control, records_among


def with_first_rows(folder, frame, rows, columns=slice(None)):
    """The others, and the first rows of the table beside them."""
    others = pd.concat([frame.iloc[120:], frame.iloc[:rows]]).loc[:, columns]
    others.to_csv(folder / "others.csv", index=False)


def test_people_of_the_table_are_refused_by_their_identifiers(tmp_path):
    frame = write_people(tmp_path)
    frame["name"] = [f"person {place}" for place in range(len(frame))]
    frame.iloc[:120].to_csv(tmp_path / "people.csv", index=False)
    with_first_rows(tmp_path, frame, 3)
    with pytest.raises(ValueError, match=r"3 of its 123 rows are in the original table, too: .*, name included"):
        setting_of(tmp_path)
    with_first_rows(tmp_path, frame, 0)
    assert len(setting_of(tmp_path).control) == 120


def test_people_without_names_are_called_unreliable_if_many_equal_a_record(tmp_path):
    frame = write_people(tmp_path)
    columns = [name for name in frame.columns if name != "name"]
    with_first_rows(tmp_path, frame, 60, columns)
    [warning] = control_warnings(setting_of(tmp_path))
    assert warning.startswith("60 of 180 control people equal a record in every column")
    with_first_rows(tmp_path, frame, 0, columns)
    assert [*control_warnings(setting_of(tmp_path))] == []


def test_many_equal_people_are_named_even_if_records_equal_each_other_as_often(tmp_path):
    frame = write_people(tmp_path).assign(age=30, city="Kyōto", grade=None, income=None)
    frame.iloc[:120].to_csv(tmp_path / "people.csv", index=False)
    frame.iloc[120:].to_csv(tmp_path / "others.csv", index=False)
    [warning] = control_warnings(setting_of(tmp_path))
    assert "% of the records equal another one. If the control people were in the table, every risk is" in warning


def test_names_that_many_people_share_do_not_refuse(tmp_path):
    frame = write_people(tmp_path).assign(name="Kim")
    frame.iloc[:120].to_csv(tmp_path / "people.csv", index=False)
    with_first_rows(tmp_path, frame, 3)
    assert records_among(setting_of(tmp_path).control, setting_of(tmp_path).records) >= 3


def test_integers_equal_numbers_of_a_column_with_missing_values(tmp_path):
    """A missing value makes integers floats; 3 and 3.0 are one value."""
    write_people(tmp_path)
    setting = setting_of(tmp_path)
    frame = setting.records.frame.head(4).assign(age=[20, 21, 22, 23])
    records = setting.records.with_frame(frame)
    lacking = frame.assign(age=[20.0, 21.0, 22.0, None])
    assert records_among(replace(records, frame=lacking), records) == 3


def test_the_checksum_is_that_of_the_file(tmp_path):
    write_people(tmp_path)
    setting = setting_of(tmp_path)
    _, first = read_control(tmp_path / "others.csv", setting.dataset, setting.roles)
    assert first == setting.control_sha256
