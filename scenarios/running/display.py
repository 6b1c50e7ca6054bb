"""What a run shows while it goes on: live progress on a terminal, plain lines elsewhere, all on standard error."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from leaderboard.result import FAILURES, label
from scenarios.running.standing import RunProgress

if TYPE_CHECKING:
    from leaderboard.result import Result
    from leaderboard.store import Store
    from scenarios.running.plan import Plan
    from scenarios.running.units import Catalogue

# Seconds between lines where there is no terminal, and between looks at who is worst where there is one.
PAUSE, GLANCE = 5.0, 0.5
# Characters of a failure's reason that are shown.
LONGEST = 160
# Lines of a terminal that the live table leaves to others.
MARGIN = 8


class Display:
    """Where a run talks to its user.

    Parameters
    ----------
    quiet : bool
        Say nothing.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        from rich.console import Console

        self.console = Console(stderr=True, highlight=False, soft_wrap=True, quiet=quiet)

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
        self.live: Any = None
        self.bar: Any = None
        self.standing = RunProgress()
        self.total = self.done = self.known = self.failures = 0
        self.began = self.said = time.monotonic()

    def __enter__(self) -> Self:
        if self.display.console.is_terminal and not self.display.console.quiet:
            from rich.live import Live
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            self.bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                TextColumn("left"),
                console=self.display.console,
            )
            self.task = self.bar.add_task(self.plan.name, total=None)
            self.live = Live(self.bar, console=self.display.console, transient=True, redirect_stdout=False)
            self.live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.live is not None:
            self.live.stop()
        seconds = time.monotonic() - self.began
        failed = f", {self.failures} of them failed" if self.failures else ""
        self.display.say(f"{self.plan.name}: {self.done} of {self.total} results known after {seconds:.0f} s{failed}")

    def started(self, total: int, known: int) -> None:
        """Say how much there is to do."""
        plan = self.plan
        self.total, self.done, self.known = total, known, known
        variants = f" x {len(plan.games)} variants" if len(plan.games) > 1 else ""
        self.display.say(
            f"{plan.name}: {len(plan.defenses)} defenses x {len(plan.attacks)} attacks x {plan.plays} plays{variants}; "
            f"{known} of {total} results known"
        )
        if self.bar is not None:
            self.bar.update(self.task, total=total, completed=known)

    def ended(self, results: list[Result]) -> None:
        """Count results; show failures as they happen, and every now and then who is worst."""
        self.done += len(results)
        self.standing.add(results)
        for result in results:
            if result.status in FAILURES:
                self.failures += 1
                against = f" against {result.attack}" if result.attack else ""
                what = f"{label(result.defense, result.parameters)}{against}, play {result.play}"
                self.display.say(f"{result.status}: {what}: {_short(result.reason)}")
        now = time.monotonic()
        if self.bar is not None:
            self.bar.update(self.task, completed=self.done)
            if now - self.said > GLANCE:
                self.said = now
                self.live.update(self._view())
        elif now - self.said > PAUSE or self.done == self.total:
            self.said = now
            self.display.say(f"{self.plan.name}: {self.done} of {self.total} results{self._left(now)}{self._most()}")

    def first_board(self, plays: int) -> None:
        """Show a first board; it is refined as further plays end."""
        if self.display.console.quiet:
            return
        import leaderboard as lb

        results = self.store.results(self.plan.name, self.catalogue.keys)
        width = self.display.console.width if sys.stderr.isatty() else 120
        table = lb.to_terminal(lb.rank(results), width=width)
        seconds = time.monotonic() - self.began
        self.display.console.print(f"first board, after {plays} play ({seconds:.1f} s):\n\n{table}\n", markup=False)

    def _left(self, now: float) -> str:
        played = self.done - self.known
        seconds = (self.total - self.done) * (now - self.began) / max(1, played)
        return f", about {seconds:.0f} s left" if played and self.done < self.total else ""

    def _most(self) -> str:
        """The defense that fares worst so far."""
        worst = self.standing.worst()
        if not worst:
            return ""
        most = worst[0]
        return f"; worst so far: {most.defense}, {most.success:.0%} of {most.goal} by {most.attack}"

    def _view(self) -> Any:
        """The bar, below what each defense fares worst against."""
        from rich.console import Group
        from rich.table import Table

        table = Table("defense", "worst attack so far", "of", box=None, pad_edge=False)
        for name in ("success", "chance", "plays"):
            table.add_column(name, justify="right")
        shown = max(3, self.display.console.height - MARGIN)
        for one in self.standing.worst()[:shown]:
            cells = (f"{one.success:.0%}", f"{one.chance:.1%}", str(one.plays))
            table.add_row(*(_plain(text) for text in (one.defense, one.attack, one.goal, *cells)))
        return Group(table, self.bar)


def _plain(text: str) -> Any:
    """Text that is no markup, on one line."""
    from rich.text import Text

    return Text(text, no_wrap=True, overflow="ellipsis")


def _short(reason: str) -> str:
    """The first line of a reason, cut: what a foreign method says in it may be anything."""
    line = reason.partition("\n")[0]
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"
