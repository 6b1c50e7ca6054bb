"""Released rows are matched with records only where the tables show it."""

import numpy as np
import pandas as pd
import pytest
from finished_tools import finished, released_by, setting_of, write_people

from defenses import Constant, Identity, Mondrian, RetentionReplacement
from metrics.columns.domains import infer_domain
from scenarios.assessment.evaluation.row_origin import looks_sorted, order_p_value, recognized_origin


@pytest.fixture
def setting(tmp_path):
    write_people(tmp_path)
    return setting_of(tmp_path)


def origin_of(setting, frame):
    table = finished(setting, frame)
    return recognized_origin(table.frame, setting.records.frame, table.domains)


def test_a_shuffled_copy_is_matched_row_by_row(setting, tmp_path):
    frame = released_by(setting, Identity())
    order = np.random.default_rng(0).permutation(len(frame))
    matched = origin_of(setting, frame.iloc[order])
    assert matched.kind == "copies"
    pd.testing.assert_frame_equal(frame.iloc[matched.origin], frame.iloc[order])


@pytest.mark.thorough
def test_fewer_copies_are_matched_and_a_row_too_many_is_not(setting, tmp_path):
    frame = released_by(setting, Identity())
    sample = frame.iloc[[5, 3, 40]]
    assert origin_of(setting, sample).origin.tolist() == [5, 3, 40]
    assert origin_of(setting, frame.iloc[[5, 5]]).kind == "unknown"
    assert origin_of(setting, pd.concat([frame, frame.iloc[:1]])).kind == "unknown"


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("defense", [Mondrian(k=5), RetentionReplacement(retention=0.5)])
def test_the_order_of_the_records_is_recognized(setting, tmp_path, defense):
    frame = released_by(setting, defense)
    matched = origin_of(setting, frame)
    assert matched.kind == "aligned"
    assert matched.origin.tolist() == list(range(len(frame)))
    shuffled = frame.iloc[np.random.default_rng(1).permutation(len(frame))]
    assert origin_of(setting, shuffled).kind == "unknown"


def test_constant_rows_are_in_no_order(setting, tmp_path):
    assert origin_of(setting, released_by(setting, Constant())).kind == "unknown"


@pytest.mark.long
def test_shuffled_rows_pass_as_rarely_as_stated(setting):
    """At level .05, of 400 shuffled tables more than 38 pass with a probability below 1e-4 (binomial)."""
    rng = np.random.default_rng(3)
    frame = released_by(setting, RetentionReplacement(retention=0.7)).astype(str)
    records = setting.records.frame[list(frame.columns)]
    values = (order_p_value(frame.iloc[rng.permutation(len(frame))], records, setting.domains) for _ in range(400))
    passed = sum(value is not None and value <= 0.05 for value in values)
    assert passed <= 38


def test_two_sorted_tables_are_not_taken_for_aligned():
    """Synthetic rows of the same distribution, sorted in the same way, stem from nobody."""
    rng = np.random.default_rng(4)
    sides = [pd.DataFrame({"age": np.sort(rng.integers(18, 90, 400))}) for _ in range(2)]
    domains = {"age": infer_domain(sides[0]["age"])}
    assert looks_sorted(sides[0]["age"], domains["age"])
    assert recognized_origin(sides[1].astype(str), sides[0], domains).kind == "unknown"


def test_a_random_column_does_not_look_sorted():
    rng = np.random.default_rng(5)
    numbers, words = pd.Series(rng.normal(size=300)), pd.Series(rng.choice(["a", "b"], 300))
    assert not looks_sorted(numbers, infer_domain(numbers))
    assert not looks_sorted(words, infer_domain(words))
    assert looks_sorted(words.sort_values(), infer_domain(words))


def test_missing_values_are_copied_too():
    records = pd.DataFrame({"age": [20.0, np.nan, 40.0], "city": ["a|b", None, "c"]})
    domains = {name: infer_domain(records[name]) for name in records}
    released = pd.DataFrame({"age": ["40.0", "20", None], "city": ["c", r"a\|b", None]})
    assert recognized_origin(released, records, domains).origin.tolist() == [2, 0, 1]


def test_generalized_cells_copy_nothing():
    records = pd.DataFrame({"age": [20, 30], "city": ["*", "c"]})
    domains = {name: infer_domain(records[name]) for name in records}
    assert recognized_origin(pd.DataFrame({"age": ["[20,30]"], "city": ["*"]}), records, domains).kind == "unknown"
    assert recognized_origin(pd.DataFrame({"age": ["20"], "city": ["*"]}), records, domains).kind == "unknown"
    assert recognized_origin(pd.DataFrame({"age": ["20"], "city": [r"\*"]}), records, domains).kind == "copies"
