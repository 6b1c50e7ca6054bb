"""Sites of prepared tournaments."""

import pytest
from site_tools import prepare, prepare_attacks, served


@pytest.fixture(scope="session")
def first_phase(tmp_path_factory):
    return prepare(tmp_path_factory.mktemp("first") / "cup")


@pytest.fixture(scope="session")
def attack_phase(tmp_path_factory):
    return prepare_attacks(tmp_path_factory.mktemp("attack") / "cup")


@pytest.fixture
def cup_site(first_phase, tmp_path):
    """The site of a tournament in its first phase."""
    with served(first_phase, tmp_path / "cup") as one:
        yield one


@pytest.fixture
def attack_site(attack_phase, tmp_path):
    """The site of a tournament in its attack phase; nara has no table."""
    with served(attack_phase, tmp_path / "cup") as one:
        yield one
