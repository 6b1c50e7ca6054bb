"""Base of sessions of queries that a privacy account limits."""

from __future__ import annotations

from numpy.random import Generator

from defenses.base.microdata import Microdata
from defenses.dp.account import Account
from metrics.columns.parameters import require

SMALLEST_SHARE, LARGEST_SHARE = 2.0**-18, 2.0**20
"""Range of the epsilon of one answer, which may have up to four parts."""


class AccountedSession:
    """A session of queries about records, whose costs an account adds up.

    Parameters
    ----------
    records : Microdata
        The records that queries are about.
    rng : Generator
        Draws the noise.
    account : Account
        Account of the costs.
    """

    def __init__(self, records: Microdata, rng: Generator, account: Account) -> None:
        self.account = account
        self._records = records
        self._rng = rng

    @property
    def remaining(self) -> float:
        """Epsilon not yet spent; for Gaussian noise, the largest epsilon of one more answer without delta."""
        return self.account.remaining

    @property
    def refused(self) -> int:
        """Number of queries refused because the budget was spent."""
        return self.account.refused


def check_share(epsilon: float, queries: int) -> None:
    """Raise ValueError unless the epsilon of one of this many equal shares lies in [2^-18, 2^20]."""
    require(
        SMALLEST_SHARE <= float(epsilon) / int(queries) <= LARGEST_SHARE,
        f"epsilon must give each of {queries} queries 2^-18 to 2^20, got {epsilon!r}",
    )
