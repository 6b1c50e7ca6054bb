"""The runner: has what a plan lacks played, and stores results as they come."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Protocol

from defenses.base.guarantee import Guarantee
from leaderboard.result import FAILURES, Result
from leaderboard.store import Store
from scenarios.running.interrupts import signal_of
from scenarios.running.local import LocalProcesses
from scenarios.running.plan import Plan
from scenarios.running.units import Catalogue, Unit
from scenarios.seeds import generator


class Listener(Protocol):
    """Told how a run goes."""

    def started(self, total: int, known: int) -> None:
        """Say how many results the plan has, and how many of them are known."""

    def ended(self, results: list[Result]) -> None:
        """Take results that were just stored."""

    def first_board(self, plays: int) -> None:
        """Say that every pair has been played `plays` times."""


class Backend(Protocol):
    """Where units are played: on this machine (`LocalProcesses`) or on many (`DaskCluster`)."""

    def played(self, plan: Plan, units: Sequence[Unit]) -> Generator[list[Result], None, None]:
        """Results of units as they end, each of them exactly once; closing the iterator ends the playing."""


@dataclass(frozen=True)
class Summary:
    """How a run ended.

    Attributes
    ----------
    played, failed : int
        Results that were added, and how many of them are failures.
    interrupted : int
        Number of the signal that stopped it before its end; 0 where none did.
    """

    played: int
    failed: int
    interrupted: int = 0


def guarantees(plan: Plan) -> tuple[Guarantee, ...]:
    """What each defense promises of a first draw.

    Raises
    ------
    ValueError
        If a defense's parameters do not fit the records; names the defense.
    """
    secret = plan.games[0].draw(generator(plan.seed, plan.name, "draw", 0))
    promised = []
    for entry in plan.defenses:
        try:
            entry.method.check(secret.records)
            promised.append(entry.method.guarantee(secret.records))
        except ValueError as error:
            raise ValueError(f"{entry.name}: {error}") from None
    return tuple(promised)


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
    """Play what is missing.

    Parameters
    ----------
    plan : Plan
        What is to be played.
    catalogue : Catalogue
        Its results with their keys.
    store : Store
        Where results are known from, and go to as they come.
    listener : Listener
        Told how it goes; of a result only after it is stored.
    jobs : int
        Number of worker processes on this machine.
    backend : Backend, optional
        Where to play instead.
    fresh : bool
        Play everything, known or not.
    """
    units = catalogue.missing(store, fresh=fresh)
    total = len(catalogue.keys)
    left = sum(len(unit.results) for unit in units)
    listener.started(total, total - left)
    if not units:
        return Summary(0, 0)
    played = failed = 0
    first = {result.key for unit in units if unit.play == 0 for result in unit.results} if total == left else set()
    where = backend or LocalProcesses(jobs)
    try:
        store.add([], catalogue.documents)
        with closing(where.played(plan, units)) as batches:
            for results in batches:
                store.add(results)
                played += len(results)
                failed += sum(result.status in FAILURES for result in results)
                listener.ended(results)
                if first:
                    first -= {result.key for result in results}
                    if not first and plan.plays > 1:
                        listener.first_board(1)
    except KeyboardInterrupt as interrupt:
        return Summary(played, failed, signal_of(interrupt))
    return Summary(played, failed)
