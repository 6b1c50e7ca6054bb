"""What tests of privacy accounts share."""

import pytest

from defenses.dp import Account


@pytest.fixture
def rough_remaining(monkeypatch):
    """Ten bisections find what an account has left, to a thousandth: a total of Rényi orders takes long to compute."""
    exact = Account._one_more
    monkeypatch.setattr(Account, "_one_more", lambda account, high, steps: exact(account, high, 10))
