"""Scoring in the background of the site."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scenarios.tournament.host.scoring_queue import ScoringQueue
from scenarios.tournament.rules.scoring import BASELINE


class BackgroundScoring:
    """Scoring that runs by itself after each upload, or does not run at all.

    Parameters
    ----------
    folder : Path, optional
        The tournament's folder; without it nothing is scored by the site, and the host uses the command.
    jobs : int, optional
        Number of worker processes; see `ScoringQueue`.
    share : float
        Share of the rows that counts in public until the tournament closes.
    """

    def __init__(self, folder: Path | None = None, *, jobs: int | None = None, share: float = 0.5) -> None:
        self._queue = None if folder is None else ScoringQueue(folder, jobs=jobs, share=share)

    def start(self) -> None:
        """Start; what waits since the last stop is scored first."""
        if self._queue:
            self._queue.start()

    def wake(self, *, retry: bool = False) -> None:
        """Look at the log now; score again what failed before if `retry`."""
        if self._queue:
            self._queue.wake(retry=retry)

    def stop(self) -> None:
        """Stop; what is being scored is scored after the next start."""
        if self._queue:
            self._queue.stop()

    def progress(self) -> dict[str, Any]:
        """State of the scoring for the host, as JSON."""
        if self._queue is None:
            return {"runs": False, "waiting": 0, "running": [], "failed": [], "error": "", "updated": ""}
        state = self._queue.progress()
        failed = [
            {"table": one.defense, "attack": one.attack, "status": one.status, "reason": one.reason.partition("\n")[0]}
            for one in state.failed
        ]
        return {
            "runs": True,
            "waiting": state.waiting,
            "running": list(state.running),
            "failed": failed,
            "error": state.error,
            "updated": state.updated,
        }

    def failed(self, team: str) -> list[dict[str, str]]:
        """Submissions of a team that made their scoring fail. Reasons may quote the host's files and are left out."""
        own = {
            (one["table"], one["status"])
            for one in self.progress()["failed"]
            if team == one["attack"] or (team == one["table"] and (one["attack"] or BASELINE).startswith(BASELINE))
        }
        return [{"table": table, "status": status} for table, status in sorted(own)]
