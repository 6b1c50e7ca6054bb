"""Progress of a run on standard error: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
import sys
import time
from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from leaderboard.pages.number_text import counted
from leaderboard.results import FAILURES, Result, canonical, goal_words, grouped_by, label
from leaderboard.statistics.pairs import variant_name
from metrics.columns.printable import printable
from metrics.score import advantage
from scenarios.tables.note import NOTE, WARNING, Note

if TYPE_CHECKING:
    from leaderboard import Store
    from scenarios.running.plan import Plan
    from scenarios.running.units import Catalogue

# Time left of a run, by what each kind of result has cost so far.


@dataclass
class _Cost:
    count: int = 0
    seconds: float = 0.0


@dataclass
class TimeLeft:
    """Cost of a run's results by defense, attack and game; memory does not grow with the number of plays.

    Every play costs about the same, but defenses and attacks differ. The results left of each kind count with the mean
    cost of this kind, and kinds without a result with the mean cost of all. The work left, over the work done, is the
    time left over the time that has passed.
    """

    costs: dict[Hashable, _Cost] = field(default_factory=lambda: defaultdict(_Cost))

    def add(self, results: Iterable[Result]) -> None:
        """Add results that have ended."""
        for one in results:
            cost = self.costs[canonical((one.defense, one.parameters, one.attack, one.attack_parameters, one.game))]
            cost.count += 1
            cost.seconds += one.seconds

    def seconds(self, passed: float, left: int, kinds: int) -> float:
        """Seconds left.

        - passed: Seconds since the run began.
        - left: Number of results left.
        - kinds: Number of results of one play.
        """
        done, work = sum(cost.count for cost in self.costs.values()), sum(cost.seconds for cost in self.costs.values())
        if not done:
            return 0.0
        if work <= 0:
            return passed * left / done
        # Results of each kind in this run: all plays, or those that were not played earlier.
        plays = (done + left) / max(1, kinds)
        missing = {kind: max(0.0, plays - cost.count) for kind, cost in self.costs.items()}
        seen = sum(missing.values())
        ahead = sum(missing[kind] * cost.seconds / cost.count for kind, cost in self.costs.items())
        # More than all that is left can be missing of kinds of which some were played earlier.
        unseen = (left - seen) * work / done if seen <= left else ahead * (left / seen - 1)
        return passed * (ahead + unseen) / work


# Interim results of a run: the worst attack on each defense so far.


@dataclass
class RunningMean:
    """Mean success of one attack on one defense in the plays so far, in one goal.

    - defense, attack, goal: Labels for display.
    - success, chance: Means over the plays so far, without confidence intervals.
    """

    defense: str
    attack: str
    goal: str
    success: float = 0.0
    chance: float = 0.0
    plays: int = 0

    def add(self, rate: float, chance: float) -> None:
        """Add a play."""
        self.plays += 1
        self.success += (rate - self.success) / self.plays
        self.chance += (chance - self.chance) / self.plays

    @property
    def advantage(self) -> float:
        """Advantage over guessing."""
        return advantage(self.success, self.chance) if self.chance < 1 else 0.0


@dataclass
class RunProgress:
    """Running means of rates and chance levels; memory grows with the number of pairs, not of plays."""

    means: dict[str, dict[tuple[str, str], RunningMean]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, results: Iterable[Result]) -> None:
        """Add results to the means."""
        for result in results:
            if result.status != "ok" or not result.attack:
                continue
            defense = label(result.defense, result.parameters)
            attack = label(result.attack, {**result.attack_parameters, **result.game})
            for goal, score in result.scores.items():
                if score.rate is not None and score.chance is not None:
                    mean = self.means[defense].setdefault(
                        (attack, goal), RunningMean(defense, attack, goal_words(goal))
                    )
                    mean.add(score.rate, score.chance)

    def worst(self) -> list[RunningMean]:
        """Worst attack on each defense so far, in descending order of advantage."""
        largest = [max(pairs.values(), key=lambda one: one.advantage) for pairs in self.means.values()]
        return sorted(largest, key=lambda one: -one.advantage)


# Seconds between progress lines without a terminal, and between updates of the table on a terminal.
LINE_INTERVAL, TABLE_INTERVAL = 5.0, 0.5
# Seconds after which the defenses that are done show as a first board, if the first play takes longer.
EARLY = 2.5
# Maximum number of characters shown of a failure's reason.
LONGEST = 160
# Terminal lines that the live table leaves free.
MARGIN = 8


class Display:
    """Console on standard error for the progress of runs, which prints nothing if `quiet`."""

    def __init__(self, *, quiet: bool = False) -> None:
        from rich.console import Console

        self.console = Console(stderr=True, highlight=False, soft_wrap=True, quiet=quiet)
        self.warnings = self.console if not quiet else Console(stderr=True, highlight=False, soft_wrap=True)

    def say_on_terminal(self, text: str) -> None:
        """Print one line, but only on a terminal."""
        if self.console.is_terminal:
            self.say(text)

    def say(self, text: str, level: str = NOTE) -> None:
        """Print one line; a warning is printed even if all else is quiet."""
        console = self.warnings if level == WARNING else self.console
        console.print(printable(text), markup=False, style="dim" if console.is_terminal else None)

    def say_notes(self, notes: Iterable[Note]) -> None:
        """Print each record of a table or a release as a line."""
        for note in notes:
            self.say(f"{note.level}: {note}", note.level)

    def listener(self, plan: Plan, catalogue: Catalogue, store: Store) -> RunDisplay:
        """Return the listener that shows the run of one plan."""
        return RunDisplay(self, plan, catalogue, store)


class RunDisplay:
    """Listener that shows the progress of one run.

    `catalogue` has the results that are expected of the plan, and `store` receives them.
    """

    def __init__(self, display: Display, plan: Plan, catalogue: Catalogue, store: Store) -> None:
        self.display, self.plan, self.catalogue, self.store = display, plan, catalogue, store
        self.live: Any = None
        self.bar: Any = None
        self.standing, self.pace = RunProgress(), TimeLeft()
        self.total = self.done = self.done_before = self.failures = 0
        self.board_shown = False
        self.reported: set[tuple[str, str, str]] = set()
        self.warnings: set[tuple[str, str]] = set()
        self.first_play: list[Result] = []
        self.began = self.last_update = time.monotonic()
        self.first_began: float | None = None

    def __enter__(self) -> Self:
        if self.display.console.is_terminal and not self.display.console.quiet:
            from rich.live import Live
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

            self.bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[left]}"),
                console=self.display.console,
            )
            self.task = self.bar.add_task(self.plan.name, total=None, left="")
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
        self.display.say(
            f"{self.plan.name}: {self.done:,} of {self.total:,} results done after {seconds:.0f} s{failed}"
        )

    def started(self, total: int, known: int) -> None:
        """Show the size of the run, and how many results are already in the store."""
        plan = self.plan
        self.total, self.done, self.done_before = total, known, known
        kind = "questions" if getattr(plan.games[0], "shares_people", False) else "variants"
        variants = f" x {len(plan.games)} {kind}" if len(plan.games) > 1 else ""
        self.display.say(
            f"{plan.name}: {counted(len(plan.defenses), 'defense')} x {counted(len(plan.attacks), 'attack')} x "
            f"{counted(plan.plays, 'play')}{variants}; {known:,} of {total:,} results done"
        )
        if self.bar is not None:
            self.bar.update(self.task, total=total, completed=known)

    def ended(self, results: list[Result]) -> None:
        """Count results, show each failure at once, and update the progress at fixed intervals."""
        if self.first_began is None:
            # The start of the worker processes comes once; the time left is that of the work.
            self.first_began = time.monotonic() - sum(result.seconds for result in results)
        self.done += len(results)
        self.standing.add(results)
        self.pace.add(results)
        for result in results:
            if result.status in FAILURES:
                self.failures += 1
                self.display.say(f"{result.status}: {trial_name(result)}: {short_reason(result.reason)}")
            elif result.status == "ok" and result.reason:
                self._warn(result)
        if not self.board_shown:
            self.first_play += [result for result in results if result.play == 0]
        now = time.monotonic()
        if not (self.board_shown or self.done_before) and now - self.began > EARLY:
            self._early_board()
        if self.bar is not None:
            self.bar.update(self.task, completed=self.done, left=self._time_left(now))
            if now - self.last_update > TABLE_INTERVAL:
                self.last_update = now
                self.live.update(self._table())
        elif now - self.last_update > LINE_INTERVAL or self.done == self.total:
            self.last_update = now
            time_left = f", {left}" if (left := self._time_left(now)) else ""
            self.display.say(f"{self.plan.name}: {self.done:,} of {self.total:,} results{time_left}{self._news()}")

    def _warn(self, result: Result) -> None:
        """Print what a method warned of, once for each defense with its parameters."""
        warning = label(result.defense, result.parameters), result.reason
        if warning not in self.warnings:
            self.warnings.add(warning)
            self.display.say(
                f"warning: {warning[0]}: {short_reason(result.reason.removeprefix(f'{result.defense}: '))}"
            )

    def first_board(self, plays: int) -> None:
        """Print the board of the first plays."""
        if not self.display.console.quiet:
            kind = "board" if self.board_shown else "first board"
            self._board(
                self.store.results(self.plan.name, self.catalogue.keys), f"{kind}, after {counted(plays, 'play')}"
            )

    def _early_board(self) -> None:
        """Print the board of those defenses that have met all attacks in the first play, if there are any."""
        if self.display.console.quiet:
            return
        by_defense = grouped_by(self.first_play, lambda result: label(result.defense, result.parameters))
        complete = [some for some in by_defense.values() if len(some) == 1 + len(self.plan.pairs())]
        # Once all of them have, `first_board` follows.
        if 0 < len(complete) < len(self.plan.defenses):
            count = f"{len(complete)} of {len(self.plan.defenses)} defenses"
            self._board([result for some in complete for result in some], f"first board, {count} in the first play")

    def _board(self, results: list[Result], title: str) -> None:
        import leaderboard as lb

        self.board_shown = True
        width = self.display.console.width if sys.stderr.isatty() else 120
        table = lb.report_to_terminal(lb.board_sections(lb.rank(results)), width)
        seconds = time.monotonic() - self.began
        self.display.console.print(printable(f"{title} ({seconds:.1f} s):\n\n{table}\n"), markup=False)

    def _time_left(self, now: float) -> str:
        if self.first_began is None or self.done == self.total:
            return ""
        kinds = self.total // max(1, self.plan.plays)
        return f"about {self.pace.seconds(now - self.first_began, self.total - self.done, kinds):.0f} s left"

    def _news(self) -> str:
        """The largest advantage so far that no earlier line has reported; nothing if all were reported."""
        for position, worst in enumerate(self.standing.worst()):
            finding = (worst.defense, worst.attack, worst.goal)
            if finding not in self.reported:
                self.reported.add(finding)
                words = f"{worst.defense}, {worst.success:.0%} of {worst.goal} by {worst.attack}"
                return f"; {'worst' if position == 0 else 'next'} so far: {words}"
        return ""

    def _table(self) -> Any:
        """Table of the worst attack on each defense so far, above the progress bar."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table("defense", "worst attack so far", "of", box=None, pad_edge=False)
        for name in ("success", "chance", "plays"):
            table.add_column(name, justify="right")
        rows = max(3, self.display.console.height - MARGIN)
        for worst in self.standing.worst()[:rows]:
            cells = (f"{worst.success:.0%}", f"{worst.chance:.1%}", str(worst.plays))
            # On one line, without markup.
            texts = (worst.defense, worst.attack, worst.goal, *cells)
            table.add_row(*(Text(text, no_wrap=True, overflow="ellipsis") for text in texts))
        return Group(table, self.bar)


def trial_name(result: Result) -> str:
    """Name of a release or trial: defense, attack, variant of the game and play."""
    against = f" against {result.attack}" if result.attack else ""
    variant = f", {variant_name(result.game)}" if result.game else ""
    return f"{label(result.defense, result.parameters)}{against}{variant}, play {result.play}"


def short_reason(reason: str) -> str:
    """First line of a reason, truncated, since a user's text may have any length; all of it with tracebacks."""
    if os.environ.get("TOKUMEI_TRACEBACK"):
        return reason
    line = reason.partition("\n")[0]
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"
