"""A tournament that every test opens anew."""

import pytest
from tournament_tools import opened

from attacks import NearestNeighbour
from scenarios.tournament.rules import scoring


@pytest.fixture
def cup(tmp_path):
    """A tournament of three teams that has just been opened."""
    return opened(tmp_path / "cup")


@pytest.fixture
def one_baseline(monkeypatch):
    """One baseline attack instead of four, for tests that are not about what attacks find."""
    monkeypatch.setattr(scoring, "baselines", lambda: (NearestNeighbour(),))
