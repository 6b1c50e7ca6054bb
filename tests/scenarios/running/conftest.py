"""A folder to run scenarios in."""

import pytest


@pytest.fixture
def folder(tmp_path, request):
    """A folder with the files of the test module's `FILES`, a dictionary from file name to text."""
    for name, text in request.module.FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path
