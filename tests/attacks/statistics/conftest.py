"""A game of counts that several attacks on curators play."""

import pytest

from scenarios import SecretBits


@pytest.fixture(scope="module")
def bits(bank):
    """Sixty customers of the bank; who has a housing loan is secret."""
    return SecretBits(records=bank, column="housing", category="yes", persons=60)
