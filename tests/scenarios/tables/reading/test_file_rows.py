"""Rows of files in messages."""

import pytest

from scenarios.tables.reading.text_table import rows_from_one


@pytest.mark.parametrize(
    ("complaint", "said"),
    [
        ("column 'age', row 0: the cell is no number", "r.csv: column 'age', row 1: the cell is no number"),
        ("column 'a, row 3: b', row 9: 'row 0: x'", "r.csv: column 'a, row 3: b', row 10: 'row 0: x'"),
        ("row 12: the table has 2 records", "r.csv: row 13: the table has 2 records"),
        ("'row 0' is no number", "r.csv: 'row 0' is no number"),
    ],
)
def test_rows_count_from_one(complaint, said):
    with pytest.raises(ValueError, match="csv") as refused, rows_from_one("r.csv: "):
        raise ValueError(complaint)
    assert str(refused.value) == said
