"""The generator of census-like rows: it repeats itself, its columns depend on each other, and its roles file fits."""

import pyarrow as pa
import pytest
from census_rows import COLUMNS, QUASI_IDENTIFIERS, write_census
from pyarrow import parquet

from scenarios.tables.dataset import load_table


def rows_of(folder):
    return pa.concat_tables([parquet.read_table(part) for part in sorted(folder.glob("*.parquet"))])


@pytest.mark.thorough
def test_a_smaller_table_is_the_beginning_of_a_larger_one_in_any_parts(tmp_path):
    write_census(tmp_path / "small", 3000, part=700, threads=1)
    write_census(tmp_path / "large", 10_000)
    write_census(tmp_path / "other", 3000, seed=2)
    small, large, other = (rows_of(tmp_path / name) for name in ("small", "large", "other"))
    assert len(list((tmp_path / "small").glob("*.parquet"))) == 5
    assert small.equals(large.slice(0, 3000))
    assert not small.equals(other)


@pytest.mark.thorough
def test_the_rows_fit_their_roles_file_and_depend_on_each_other(tmp_path):
    folder = write_census(tmp_path / "census", 20_000)
    dataset = load_table(folder / "part-00000.parquet", folder / "roles.toml")
    frame = dataset.records.frame
    assert tuple(frame.columns) == COLUMNS
    assert dataset.records.quasi_identifiers == QUASI_IDENTIFIERS
    assert frame.groupby("illness", observed=True)["age"].mean().std() > 5
    assert 0.2 < (frame.groupby(list(QUASI_IDENTIFIERS), observed=True).size() == 1).sum() / len(frame) < 0.95


def test_refuses_a_folder_that_is_not_empty(tmp_path):
    (tmp_path / "mine").write_text("")
    with pytest.raises(ValueError, match="is not empty"):
        write_census(tmp_path, 10)
