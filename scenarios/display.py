"""What a run shows while it goes on: a progress bar on a terminal, plain lines elsewhere, all on standard error."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from leaderboard.result import label

if TYPE_CHECKING:
    from leaderboard.result import Result
    from leaderboard.store import Store
    from scenarios.plan import Plan
    from scenarios.units import Catalogue

# Seconds between lines where there is no terminal.
PAUSE = 5.0
# Characters of a failure's reason that are shown.
LONGEST = 160


class Display:
    """Where a run talks to its user."""

    def __init__(self) -> None:
        from rich.console import Console

        self.console = Console(stderr=True, highlight=False, soft_wrap=True)

    def say_on_terminal(self, text: str) -> None:
        """Write one line that only somebody who waits wants to read."""
        if self.console.is_terminal:
            self.say(text)

    def say(self, text: str) -> None:
        """Write one line."""
        self.console.print(text, markup=False, style="dim" if self.console.is_terminal else None)

    def listener(self, plan: Plan, catalogue: Catalogue, store: Store) -> RunDisplay:
        """Return what follows the run of one plan."""
        return RunDisplay(self, plan, catalogue, store)


class RunDisplay:
    """Follows one run.

    Parameters
    ----------
    display : Display
        Where to write.
    plan, catalogue, store : Plan, Catalogue, Store
        What is run, and where its results are.
    """

    def __init__(self, display: Display, plan: Plan, catalogue: Catalogue, store: Store) -> None:
        self.display, self.plan, self.catalogue, self.store = display, plan, catalogue, store
        self.bar: Any = None
        self.total = self.done = self.failures = 0
        self.began = self.said = time.monotonic()

    def __enter__(self) -> Self:
        if self.display.console.is_terminal:
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            self.bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                console=self.display.console,
                transient=True,
            )
            self.bar.start()
            self.task = self.bar.add_task(self.plan.name, total=None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()
        seconds = time.monotonic() - self.began
        self.display.say(f"{self.plan.name}: {self.done} of {self.total} results known after {seconds:.0f} s")

    def started(self, total: int, known: int) -> None:
        """Say how much there is to do."""
        plan = self.plan
        self.total, self.done = total, known
        decoys = f" x {len(plan.games)} kinds of decoys" if len(plan.games) > 1 else ""
        self.display.say(
            f"{plan.name}: {len(plan.defenses)} defenses x {len(plan.attacks)} attacks x {plan.plays} plays{decoys}; "
            f"{known} of {total} results known"
        )
        if self.bar is not None:
            self.bar.update(self.task, total=total, completed=known)

    def ended(self, results: list[Result]) -> None:
        """Count results; show failures as they happen."""
        self.done += len(results)
        for result in results:
            if result.status not in ("ok", "skipped"):
                self.failures += 1
                against = f" against {result.attack}" if result.attack else ""
                what = f"{label(result.defense, result.parameters)}{against}, play {result.play}"
                self.display.say(f"{result.status}: {what}: {_short(result.reason)}")
        if self.bar is not None:
            self.bar.update(self.task, completed=self.done)
        elif time.monotonic() - self.said > PAUSE or self.done == self.total:
            self.said = time.monotonic()
            left = (self.total - self.done) * (self.said - self.began) / max(1, self.done)
            self.display.say(f"{self.plan.name}: {self.done} of {self.total} results, about {left:.0f} s left")

    def first_board(self, plays: int) -> None:
        """Show a first board; it is refined as further plays end."""
        import leaderboard as lb

        results = [result for result in self.store.results(self.plan.name) if result.key in self.catalogue.keys]
        width = self.display.console.width if sys.stderr.isatty() else 120
        table = lb.to_terminal(lb.rank(results), width=width)
        seconds = time.monotonic() - self.began
        self.display.console.print(f"first board, after {plays} play ({seconds:.1f} s):\n\n{table}\n", markup=False)


def _short(reason: str) -> str:
    """The first line of a reason, cut: what a foreign method says in it may be anything."""
    line = reason.partition("\n")[0]
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"
