"""Runner: plans as a user changes them, and the play of their missing results into a database."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from defenses.base import Guarantee
from leaderboard import FailureLog, Result, StatedGuarantee, Store, record_run, stored_guarantees
from leaderboard.results.setting_names import reword
from leaderboard.results.version import version
from metrics.columns import one_line, refuse_any
from scenarios.running.methods import (
    check_declarations,
    check_loaded,
    defined_at,
    is_project_module,
    user_code_location,
    versions,
)
from scenarios.running.plan import NamedMethod, Plan, read_plans
from scenarios.running.units import Catalogue, Unit
from scenarios.running.workers import Limits, signal_of, terminable
from scenarios.tables import Dataset, Note, generator, play_notes
from scenarios.tables.review import about_rows

# Methods that play no game of their scenario.


def check_fits(plan: Plan, entries: Sequence[NamedMethod]) -> None:
    """Check that each of these methods plays some game of the plan.

    If one would be skipped in all trials, a ValueError names the reason, and the line of the user's class.
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


def guarantees(plan: Plan) -> tuple[Guarantee, ...]:
    """Guarantee of each defense for the records of the first play.

    A ValueError that names the method is raised if:

    - a defense's parameters do not fit the records;
    - its `check` or `guarantee` fails, or returns no guarantee;
    - the kind or goal of a user's class is one that no game knows, or none of this plan plays.
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
        guarantees.append(about_rows(guarantee, secret.records))
    return tuple(guarantees)


def run(
    plan: Plan,
    catalogue: Catalogue,
    store: Store,
    listener: Listener,
    backend: Backend,
    *,
    fresh: bool = False,
) -> int:
    """Play the missing results of a plan; return the number of the signal that interrupted the run, or 0.

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
    backend : Backend
        Where to play units.
    fresh : bool
        Play all results, including those already in the store.
    """
    units = catalogue.missing(store, fresh=fresh)
    total = len(catalogue.keys)
    missing = sum(len(unit.results) for unit in units)
    listener.started(total, total - missing)
    first_play = (
        {result.key for unit in units if unit.play == 0 for result in unit.results} if total == missing else set()
    )
    try:
        # A database of an earlier version gets them even if nothing is left to play.
        store.add([], catalogue.stated)
        if not units:
            return 0
        store.add([], catalogue.documents)
        failures = FailureLog(store)
        with closing(backend.played(plan, units)) as batches:
            for results in batches:
                store.add(results)
                failures.record(results)
                listener.ended(results)
                if first_play:
                    first_play -= {result.key for result in results}
                    if not first_play and plan.plays > 1:
                        listener.first_board(1)
    except KeyboardInterrupt as interrupt:
        return signal_of(interrupt)
    return 0


# Plans as a user changes them, and their play into a database.


# Provenance of a run: version, revision, machine and packages.


def provenance(scenarios: Sequence[str], folder: Path | None = None) -> dict[str, Any]:
    """Provenance to record with a run of scenarios with these names.

    - folder: Folder whose Git revision is recorded; by default the current one, which usually holds the user's code.
    """
    return {
        "scenarios": list(scenarios),
        "version": version(),
        "revision": revision(folder or Path.cwd()),
        "machine": {
            "system": platform.system(),
            "architecture": platform.machine(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
        },
        "packages": dict(versions()),
    }


def revision(folder: Path) -> str:
    """Git revision of a folder, with ``+`` if files have changed since; empty without a repository."""
    head = _git(folder, "rev-parse", "HEAD")
    return head + "+" if head and _git(folder, "status", "--porcelain", "--untracked-files=no") else head


def revision_named(folder: Path, name: str) -> str:
    """Git revision of a branch, a tag or an expression such as ``HEAD~1``; empty if it does not exist."""
    return _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)  # noqa: S603 (fixed words)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


# What the guarantees on a board cover, in notes.


def guarantee_notes(plan: Plan, guarantees: Sequence[Guarantee]) -> list[str]:
    """One note for each family of defenses: which columns and conditions its guarantee is about, or why it has none.

    Settings of one family differ in their numbers only, so that the first one is described.
    """
    notes: dict[str, str] = {}
    for entry, guarantee in zip(plan.defenses, guarantees, strict=True):
        if guarantee.statement:
            kind = "guarantees nothing" if str(guarantee) == "none" else f"guarantees {guarantee}"
            notes.setdefault(entry.name, f"{entry.name} {kind}: {guarantee.statement.removeprefix('none: ')}")
    return list(notes.values())


Listening = Callable[[Plan, Catalogue, Store], AbstractContextManager[Listener]]


class Played(NamedTuple):
    """Outcome of a run.

    - results: Results of every trial of the plans, stored ones included.
    - guarantees: What their defenses guarantee.
    - interrupted: Number of the signal that stopped the run, 0 where none did.
    """

    results: list[Result]
    guarantees: list[StatedGuarantee]
    interrupted: int


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What a user changes in a scenario; None and empty tuples change nothing.

    - defenses, attacks: Methods to play instead of the scenario's: names of some of these, ``module:Class``, or others.
    - plays, seed: Number of plays, and seed of the run.
    - time_limit: Seconds that a trial may take.
    - memory_limit: Bytes that a trial may use.
    """

    defenses: tuple[str | NamedMethod, ...] = ()
    attacks: tuple[str | NamedMethod, ...] = ()
    plays: int | None = None
    seed: int | None = None
    time_limit: float | None = None
    memory_limit: int | None = None


def changed_plans(
    sources: Sequence[str], dataset: Dataset | None, changes: Changes, say_notes: Callable[[Iterable[Note]], object]
) -> list[Plan]:
    """Plans of scenarios with a user's changes.

    - sources: Names of shipped scenarios, and paths of scenario files; without any, ``bank``, or ``table`` with a data
      set.
    - dataset: Data set to use instead of those of the scenarios.
    - say_notes: Gets the notes on the data set.

    A ValueError is raised if a scenario or method does not exist, or two scenarios have one name. A method whose file
    has changed since it was loaded is refused, too.
    """
    plans = []
    for source in sources or ("bank" if dataset is None else "table",):
        for plan in read_plans(source, dataset=dataset, defenses=changes.defenses, attacks=changes.attacks):
            changed = plan.filtered(changes.defenses, changes.attacks)
            plans.append(changed)
            # A user's method is checked later, since its kind or goal may not exist at all.
            known = {entry.name for entry in (*plan.defenses, *plan.attacks)}
            entries = (*changed.defenses, *changed.attacks)
            check_fits(changed, [entry for entry in entries if entry.name not in known and ":" not in entry.name])
    if dataset is not None:
        say_notes(play_notes(dataset))
    names = [plan.name for plan in plans]
    refuse_any((name for name in names if names.count(name) > 1), lambda name: f"two scenarios are named {name!r}")
    check_loaded(plans)
    return [_changed(plan, changes) for plan in plans]


def _changed(plan: Plan, changes: Changes) -> Plan:
    """A plan with another number of plays, seed and limits, where given."""
    return replace(
        plan,
        plays=changes.plays or plan.plays,
        seed=plan.seed if changes.seed is None else changes.seed,
        limits=Limits(
            plan.limits.time if changes.time_limit is None else changes.time_limit,
            plan.limits.memory if changes.memory_limit is None else changes.memory_limit,
        ),
    )


def catalogues_of(plans: Sequence[Plan], say: Callable[[str], None] | None = None) -> list[Catalogue]:
    """Every trial of every plan; `say` gets what the guarantees of its defenses cover, a line at a time."""
    guaranteed = [guarantees(plan) for plan in plans]
    if say is not None:
        for line in (line for each in zip(plans, guaranteed, strict=True) for line in guarantee_notes(*each)):
            say(line)
    return [Catalogue(*each) for each in zip(plans, guaranteed, strict=True)]


def play_catalogues(
    catalogues: Sequence[Catalogue], backend: Backend, db: str, listening: Listening, *, fresh: bool = False
) -> Played:
    """Play what is missing in a database, and collect the results of all trials.

    - backend: Where trials are played.
    - listening: Makes the listener of a plan's progress, as a context manager.
    - fresh: Play trials again whose results are stored.
    """
    interrupted = 0
    with Store(db) as store:
        keys = set().union(*(catalogue.keys for catalogue in catalogues))
        record_run_of(store, [catalogue.plan.name for catalogue in catalogues], keys)
        for catalogue in catalogues:
            plan = catalogue.plan
            reword(store, plan.name, catalogue.settings, catalogue.documents)
            store.renew(plan.name, catalogue.keys)
            with terminable(), listening(plan, catalogue, store) as listener:
                interrupted = run(plan, catalogue, store, listener, backend, fresh=fresh)
            if interrupted:
                break
        # Another run may have stored results in other words meanwhile.
        for catalogue in catalogues:
            reword(store, catalogue.plan.name, catalogue.settings, catalogue.documents)
        results = [result for catalogue in catalogues for result in store.results(catalogue.plan.name, catalogue.keys)]
        guarantees = stored_guarantees(store, results)
    return Played(results, guarantees, interrupted)


def record_run_of(store: Store, scenarios: Sequence[str], keys: Collection[str]) -> None:
    """Store when and from which source a run was made, and the keys of its results."""
    record_run(store, datetime.now(UTC).isoformat(timespec="seconds"), provenance(scenarios), keys)
