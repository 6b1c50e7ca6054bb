"""Files are replaced as a whole, with the permissions asked for, and a failure leaves nothing behind."""

import errno
import os
import stat

import pytest

from metrics.columns.files import UNFINISHED, check_new_file, write_atomically


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask():
    old = os.umask(0o027)
    yield
    os.umask(old)


@pytest.mark.parametrize(("mode", "expected"), [(0o600, 0o600), (0o644, 0o644), (0o400, 0o400), (None, 0o640)])
def test_mode(tmp_path, umask, mode, expected):
    path = tmp_path / "file"
    write_atomically(path, b"content", mode=mode)
    assert mode_of(path) == expected


def test_private_unless_another_mode_is_given(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o644)
    write_atomically(path, b"new")
    assert mode_of(path) == 0o600


def test_replaced_as_a_whole(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"the old content, which is longer")
    seen = []
    real = os.replace

    def replacing(source, target):
        seen.append((source.parent, source.name.endswith(UNFINISHED), source.read_bytes(), mode_of(source)))
        assert path.read_bytes() == b"the old content, which is longer"
        real(source, target)

    monkeypatch.setattr("metrics.columns.files.os.replace", replacing)
    with path.open("rb") as reader:
        write_atomically(path, b"new\r\n\xff")
        assert reader.read() == b"the old content, which is longer"
    assert seen == [(tmp_path, True, b"new\r\n\xff", 0o600)]
    assert path.read_bytes() == b"new\r\n\xff"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_replaced_and_its_target_stays(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_atomically(link, b"new")
    assert (target.read_bytes(), link.read_bytes(), link.is_symlink()) == (b"old", b"new", False)


@pytest.mark.parametrize("failing", ["fdopen", "fchmod", "fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_content_and_nothing_else(tmp_path, monkeypatch, failing, error):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail(*arguments):
        raise error

    monkeypatch.setattr(f"metrics.columns.files.os.{failing}", fail)
    with pytest.raises(type(error)):
        write_atomically(path, b"new", durable=True)
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("durable", "flushed"), [(False, ["file"]), (True, ["file", "folder"])])
def test_what_is_flushed(tmp_path, monkeypatch, durable, flushed):
    seen = []

    def flush(handle):
        seen.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")

    monkeypatch.setattr("metrics.columns.files.os.fsync", flush)
    write_atomically(tmp_path / "file", b"content", durable=durable)
    assert seen == flushed


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "none" / "file", b"")


def test_a_new_file_is_possible_or_not(tmp_path):
    check_new_file(tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="there is no folder"):
        check_new_file(tmp_path / "none" / "page.html")
    with pytest.raises(ValueError, match=r"cannot be written: File name too long"):
        check_new_file(tmp_path / ("x" * 300))
