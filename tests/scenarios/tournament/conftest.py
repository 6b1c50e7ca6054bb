"""A tournament that every test opens anew."""

import pytest
from tournament_tools import opened


@pytest.fixture
def cup(tmp_path):
    """A tournament of three teams that has just been opened."""
    return opened(tmp_path / "cup")
