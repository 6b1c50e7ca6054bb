"""The membership game on Adult."""

import pytest

from scenarios import Membership


@pytest.fixture(scope="module")
def game(adult):
    return Membership(records=adult, members=120, auxiliary=400, held_out=0)
