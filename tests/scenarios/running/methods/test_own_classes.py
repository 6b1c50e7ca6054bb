"""Names that are none of a method: files and classes of the current folder are suggested as they must be written."""

import pytest

from scenarios.running.methods.methods import file_advice


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("class Gower: ...\n\n\nclass Hamming: ...\n", encoding="utf-8")
    (tmp_path / "other.py").write_text("from mine import Gower\n\n\nclass Hamming: ...\n", encoding="utf-8")
    (tmp_path / "broken.py").write_text("class Gower(:\n", encoding="utf-8")
    (tmp_path / "latin.py").write_bytes(b"# caf\xe9\nclass Gower: ...\n")
    # The parser gives up on these with a MemoryError, and with a RecursionError.
    for name, deep in (("minus", "-" * 10_000), ("negated", "not " * 5000)):
        (tmp_path / f"{name}.py").write_text(f"class Gower:\n    x = {deep}1\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("mine", "; mine.py is a file: write mine:Gower or mine:Hamming"),
        ("mine.py", "; mine.py is a file: write mine:Gower or mine:Hamming"),
        ("Gower", "; write mine:Gower"),
        ("Hamming", "; write mine:Hamming or other:Hamming"),
        ("Nobody", ""),
        ("broken", ""),
        ("latin", ""),
        ("", ""),
    ],
)
def test_files_and_classes_of_the_folder_are_suggested(folder, name, advice):
    assert file_advice(name) == advice
