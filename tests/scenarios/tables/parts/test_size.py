"""Which tables are read in parts, and in how much memory."""

import gzip

import pytest

from scenarios.tables.parts.files import table_files as size


@pytest.mark.parametrize(
    ("text", "expected"),
    [("8GB", 8 * 10**9), ("8 gb", 8 * 10**9), ("1.5GiB", 3 << 29), ("600MB", 600 * 10**6), ("2TB", 2 * 10**12)],
)
def test_sizes_are_read(text, expected):
    assert size.memory_bytes(text) == expected


@pytest.mark.parametrize("text", ["", "8", "8e9", "-8GB", "GB", "8 apples", "0GB", "100MB", "1,5GB"])
def test_other_texts_are_refused(text):
    with pytest.raises(ValueError, match="--memory"):
        size.memory_bytes(text)


def test_the_way_depends_on_the_file_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(size, "LARGEST_CSV", 100)
    monkeypatch.setattr(size, "LARGEST_COMPRESSED", 50)
    monkeypatch.setattr(size, "LARGEST_PARQUET", 10)
    path = tmp_path / "table"
    for content, large in (
        (b"a" * 100, False),
        (b"a" * 101, True),
        (b"PAR1" + b"a" * 6, False),
        (b"PAR1" + b"a" * 7, True),
        (gzip.compress(b"a", mtime=0), False),
        (gzip.compress(b"a", mtime=0) + b"\0" * 50, True),
    ):
        path.write_bytes(content)
        assert size.is_large(path) == large
        assert size.is_large(path, asked=True)
    assert size.is_large(tmp_path)
    assert not size.is_large(tmp_path / "nothing")
    assert size.memory_bytes(None) >= size.LEAST_MEMORY
