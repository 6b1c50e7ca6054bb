"""What tests of privacy accounts share."""

from functools import cache

import pytest

from defenses.dp import Account


@pytest.fixture
def rough_remaining(monkeypatch):
    """Ten bisections find what an account has left, to a thousandth: a total of Rényi orders takes long to compute."""
    exact = Account._one_more
    monkeypatch.setattr(Account, "_one_more", lambda account, high, steps: exact(account, high, 10))


@pytest.fixture(scope="session")
def single_answers_are_computed_once():
    """What the library dp-accounting says of one answer is remembered: each total would compute it anew.

    It depends on the answer's noise alone. Answers are still composed for each total.
    """
    from dp_accounting.pld import privacy_loss_distribution
    from dp_accounting.rdp import rdp_privacy_accountant

    with pytest.MonkeyPatch.context() as patch:
        for owner, name in (
            (rdp_privacy_accountant, "_randomized_response_rdp_replace_one"),
            (privacy_loss_distribution, "from_discrete_laplace_mechanism"),
            (privacy_loss_distribution, "from_gaussian_mechanism"),
        ):
            patch.setattr(owner, name, cache(getattr(owner, name)))
        yield
