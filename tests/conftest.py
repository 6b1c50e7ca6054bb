"""Records that many test files share."""

import pytest

from scenarios import load


@pytest.fixture(scope="module")
def bank():
    """All records of UCI Bank Marketing."""
    return load("bank").records


@pytest.fixture(scope="module")
def adult():
    """All records of UCI Adult."""
    return load("adult").records
