"""Runner: plays the missing results of a plan and stores each result when it ends."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Protocol

from defenses.base import Guarantee
from leaderboard import FailureLog, Result, Store
from leaderboard.results.result import FAILURES
from metrics.columns import one_line
from scenarios.running.methods import check_declarations, defined_at, is_project_module, user_code_location
from scenarios.running.plan import NamedMethod, Plan
from scenarios.running.units import Catalogue, Unit
from scenarios.running.workers import LocalProcesses, signal_of
from scenarios.tables.seeds import generator

# Methods that play no game of their scenario.


def check_fits(plan: Plan, entries: Sequence[NamedMethod]) -> None:
    """Check that each of these methods plays some game of the plan.

    Parameters
    ----------
    plan : Plan
        The games, and the defenses and attacks that play them.
    entries : sequence of NamedMethod
        Defenses and attacks of the plan.

    Raises
    ------
    ValueError
        If one would be skipped in all trials; names the reason, and the line of the user's own class.
    """
    for entry in entries:
        is_attack = entry in plan.attacks
        others = plan.defenses if is_attack else plan.attacks
        pairs = [(other.method, entry.method) if is_attack else (entry.method, other.method) for other in others]
        reasons = [game.misfit(*pair) for game in plan.games for pair in pairs]
        if reasons and all(reasons):
            cls = type(entry.method)
            place = "" if is_project_module(cls.__module__) else defined_at(cls)
            raise ValueError(f"{entry.name} plays no game of {plan.name!r}: {reasons[0]}{place}")


class Listener(Protocol):
    """Receives the progress of a run."""

    def started(self, total: int, known: int) -> None:
        """Receive the number of results of the plan, and how many of them are already stored."""

    def ended(self, results: list[Result]) -> None:
        """Receive results that were just stored."""

    def first_board(self, plays: int) -> None:
        """Called once every pair has been played `plays` times."""


class Backend(Protocol):
    """Plays units on this machine (`LocalProcesses`) or on a cluster (`DaskCluster`)."""

    def played(self, plan: Plan, units: Sequence[Unit]) -> Generator[list[Result], None, None]:
        """Yield each result exactly once, in batches as trials end; closing the generator stops the run."""


@dataclass(frozen=True)
class Summary:
    """Outcome of a run.

    Attributes
    ----------
    played, failed : int
        Number of results added to the store, and number of failures among them.
    interrupted : int
        Number of the signal that interrupted the run, or 0.
    """

    played: int
    failed: int
    interrupted: int = 0


def guarantees(plan: Plan) -> tuple[Guarantee, ...]:
    """Guarantee of each defense for the records of the first play.

    Raises
    ------
    ValueError
        If a defense's parameters do not fit the records, its `check` or `guarantee` fails, or it returns no guarantee.
        The message names the defense. So does one on a kind or goal of a class of one's own that no game knows, or none
        of this plan plays, since all its trials would be skipped.
    """
    scored = {goal for game in plan.games for goal in game.takes}
    for entry in (*plan.defenses, *plan.attacks):
        if ":" in entry.name:
            check_declarations(type(entry.method), scored)
            check_fits(plan, [entry])
    secret = plan.games[0].draw(generator(plan.seed, plan.name, "draw", 0))
    guarantees = []
    for entry in plan.defenses:
        try:
            entry.method.check(secret.records)
            guarantee = entry.method.guarantee(secret.records)
        except ValueError as error:
            raise ValueError(f"{entry.name}: {error}{user_code_location(error)}") from None
        except (Exception, SystemExit) as error:
            raise ValueError(
                f"{entry.name}: {type(error).__name__}: {one_line(error)}{user_code_location(error)}"
            ) from error
        if not isinstance(guarantee, Guarantee):
            raise ValueError(
                f"{entry.name}.guarantee must return a Guarantee, got {type(guarantee).__name__}: return a "
                f"defenses.Guarantee, such as Guarantee(k=5){defined_at(type(entry.method).guarantee)}"
            )
        guarantees.append(guarantee)
    return tuple(guarantees)


def run(
    plan: Plan,
    catalogue: Catalogue,
    store: Store,
    listener: Listener,
    *,
    jobs: int = 1,
    backend: Backend | None = None,
    fresh: bool = False,
) -> Summary:
    """Play the missing results of a plan.

    Parameters
    ----------
    plan : Plan
        Scenario, defenses, attacks and number of plays.
    catalogue : Catalogue
        Expected results of the plan, with their keys.
    store : Store
        Holds earlier results and receives new ones.
    listener : Listener
        Receives the progress; each result only after it is stored.
    jobs : int
        Number of worker processes on this machine.
    backend : Backend, optional
        Where to play units instead of on this machine.
    fresh : bool
        Play all results, including those already in the store.
    """
    units = catalogue.missing(store, fresh=fresh)
    total = len(catalogue.keys)
    missing = sum(len(unit.results) for unit in units)
    listener.started(total, total - missing)
    played = failed = 0
    first_play = (
        {result.key for unit in units if unit.play == 0 for result in unit.results} if total == missing else set()
    )
    backend = backend or LocalProcesses(jobs)
    try:
        # A database of an earlier version gets them even if nothing is left to play.
        store.add([], catalogue.stated)
        if not units:
            return Summary(0, 0)
        store.add([], catalogue.documents)
        failures = FailureLog(store)
        with closing(backend.played(plan, units)) as batches:
            for results in batches:
                store.add(results)
                failures.record(results)
                played += len(results)
                failed += sum(result.status in FAILURES for result in results)
                listener.ended(results)
                if first_play:
                    first_play -= {result.key for result in results}
                    if not first_play and plan.plays > 1:
                        listener.first_board(1)
    except KeyboardInterrupt as interrupt:
        return Summary(played, failed, signal_of(interrupt))
    return Summary(played, failed)
