"""Rows of files in messages."""

import pickle

import pytest

from metrics.columns import UnfitValueError
from scenarios.tables.reading.text_table import rows_from_one


@pytest.mark.parametrize(
    ("complaint", "said"),
    [
        (UnfitValueError(0, "is no number", "age", "the cell"), "r.csv: column 'age', row 1: the cell is no number"),
        (UnfitValueError(9, "'row 0: x'", "a, row 3: b"), "r.csv: column 'a, row 3: b', row 10: 'row 0: x'"),
        (UnfitValueError(12, "the table has 2 records"), "r.csv: row 13: the table has 2 records"),
        (ValueError("'row 0' is no number"), "r.csv: 'row 0' is no number"),
    ],
)
def test_rows_count_from_one(complaint, said):
    with pytest.raises(ValueError, match="csv") as refused, rows_from_one("r.csv: "):
        raise complaint
    assert str(refused.value) == said
    assert str(pickle.loads(pickle.dumps(complaint))) == str(complaint)
