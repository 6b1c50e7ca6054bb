"""Tests of the list of a table's files."""

from pathlib import Path

import pytest

from scenarios.tables.parts.files.table_files import file_state, part_files


def test_files_in_progress_and_metadata_are_no_parts(tmp_path: Path) -> None:
    """Hidden files would be counted twice: writers rename them when they are complete."""
    for name in ("b.parquet", "a.parquet", ".a.parquet", "_common.parquet", "notes.txt"):
        (tmp_path / name).touch()
    (tmp_path / "c.parquet").mkdir()
    assert [part.name for part in part_files(tmp_path)] == ["a.parquet", "b.parquet"]


def test_folder_of_hidden_files_alone_is_refused(tmp_path: Path) -> None:
    """Nothing in it is a part."""
    (tmp_path / ".a.parquet").touch()
    with pytest.raises(ValueError, match="is a folder without Parquet files"):
        part_files(tmp_path)


def test_parts_in_subfolders_are_refused(tmp_path: Path) -> None:
    """Their rows would be missing unnoticed; folders of writers in progress do not count."""
    (tmp_path / "a.parquet").touch()
    (tmp_path / "_temporary").mkdir()
    (tmp_path / "_temporary" / "b.parquet").touch()
    assert [part.name for part in part_files(tmp_path)] == ["a.parquet"]
    (tmp_path / "year=2020").mkdir()
    (tmp_path / "year=2020" / "p.parquet").touch()
    with pytest.raises(ValueError, match=r"in subfolders, such as year=2020/p\.parquet, which are not read"):
        part_files(tmp_path)


def test_link_without_its_file_is_not_passed_over(tmp_path: Path) -> None:
    """The rows of a part must not be missing unnoticed."""
    (tmp_path / "a.parquet").touch()
    (tmp_path / "b.parquet").symlink_to(tmp_path / "gone.parquet")
    parts = part_files(tmp_path)
    assert [part.name for part in parts] == ["a.parquet", "b.parquet"]
    with pytest.raises(ValueError, match=r"b\.parquet: cannot be read \(No such file or directory\)"):
        file_state(parts[1])
