"""Failures of a board, which print as a line each."""

from __future__ import annotations

from leaderboard.results.result import Result
from scenarios.running.display import short_reason, trial_name


class FailureList(list[Result]):
    """Results that failed. The list prints their names and reasons; each result holds its whole traceback in `reason`.

    Examples
    --------
    >>> from leaderboard import Result
    >>> result = Result(key="1" * 64, scenario="bank", defense="Mondrian", attack="RMIA", play=0, status="timeout")
    >>> FailureList([result])
    timeout: bank: Mondrian against RMIA, play 0
    >>> FailureList()
    no failures
    """

    def lines(self) -> list[str]:
        """Status, scenario, name and reason of each."""
        return [
            f"{result.status}: {result.scenario}: {trial_name(result)}"
            + (f": {short_reason(result.reason)}" if result.reason else "")
            for result in self
        ]

    def __repr__(self) -> str:
        return "\n".join(self.lines()) or "no failures"
