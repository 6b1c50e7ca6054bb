"""Worker: makes releases, runs attacks on them, and reports each result when it ends."""

from __future__ import annotations

import collections.abc
import copy
import pickle
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from numpy.random import Generator

from attacks.base import Attack, Claims, Knowledge, NotApplicable
from defenses import Defense, Microdata, MicrodataRelease
from defenses.base import Parametrized
from leaderboard.results.result import canonical
from metrics.columns import finite_number, refuse_any, require
from metrics.score import Score, Scores
from scenarios.games.playing import attack_release, make_release, play_alone
from scenarios.running.methods import (
    defined_at,
    describe,
    game_settings,
    is_user_defined,
    reason_of,
    source_name,
    status_of,
)
from scenarios.running.plan import Plan
from scenarios.running.units import Unit
from scenarios.running.workers.differences import Snapshot, different_attribute, released_difference
from scenarios.running.workers.isolation import TaskStep
from scenarios.tables.seeds import generator
from scenarios.tables.user_warnings import user_warnings

# Checks of a game's scores and measures.

# A mean of ones may exceed 1 by this much through rounding.
_SLACK = 1e-9


def checked_game_scores(scores: Any) -> Scores:
    """Check an attack's scores and return them with measures as floats.

    Raises TypeError if a game's `score` returned something other than `Scores`, or a measure is not a number. Raises
    ValueError if a measure is not finite; the message names it.
    """
    require(isinstance(scores, Scores), f"a game's score must be Scores, got {type(scores).__name__}", TypeError)
    return Scores(scores.goals, checked_measures(scores.measures))


def checked_measures(measures: Any) -> dict[str, float | None]:
    """Check a game's utility, or the measures of its scores, and return them as floats.

    A TypeError is raised if they are no mapping of names to numbers. A ValueError that names it is raised for a number
    that is not finite, or for a component of utility outside [0, 1].
    """
    require(
        isinstance(measures, Mapping),
        f"measures must be a mapping of names to numbers, got {type(measures).__name__}",
        TypeError,
    )
    numbers = {
        _name(name): None if value is None else finite_number(name, value, "a number or None")
        for name, value in measures.items()
    }
    for name, value in numbers.items():
        component = name == "utility" or name.startswith("utility_")
        if component and value is not None and not -_SLACK <= value <= 1 + _SLACK:
            raise ValueError(f"{name} must lie between 0 and 1, got {value:g}")
    return numbers


def _name(name: Any) -> str:
    require(isinstance(name, str), f"measures must have names, got {type(name).__name__} {name!r}", TypeError)
    return str(name)


# A user's methods are played twice at first: the same trial with the same seed must end alike.


class Witness(Attack):
    """An attack whose claims are kept."""

    def __init__(self, attack: Attack) -> None:
        self.attack = attack
        self.claims: Any = None

    def choose(self, knowledge: Knowledge, rng: Generator) -> Any:
        """Let the attack choose."""
        return self.attack.choose(knowledge, rng)

    def run(self, release: Any, knowledge: Knowledge, rng: Generator) -> Claims:
        """Let the attack run, and keep its claims."""
        claims = self.attack.run(release, knowledge, rng)
        self.claims = claims
        return claims


def claims_complaint(attack: Attack, first: Any, again: Any) -> str | None:
    """What is wrong if an attack made other claims the second time, else None."""
    return _complaint(attack, "claims", defined_at(type(attack).run)) if different_attribute(first, again) else None


def release_complaint(defense: Any, first: Any, again: Any) -> str | None:
    """What is wrong if a defense released another table the second time, else None; other releases are not compared."""
    if not isinstance(first, MicrodataRelease) or not isinstance(again, MicrodataRelease):
        return None
    differs = released_difference(first, again)
    return _complaint(defense, "release", defined_at(type(defense).apply)) if differs else None


def _complaint(method: Parametrized, what: str, place: str) -> str:
    name, verb = source_name(method), "differ" if what.endswith("s") else "differs"
    return f"{type(method).__name__}: its {what} {verb} with the same seed{place}; `tokumei check {name}` says why"


# Methods that change what they were given, and so the results of others.


class ChangedInput(Exception):  # noqa: N818 (the name says what happened)
    """A method changed records, knowledge or a release that others use, too; the message names method and place."""


def shared_in(secret: Any, game: Any) -> dict[str, Any]:
    """Parts of what a game drew that methods may reach, by name.

    Where the adversary chooses first, each trial draws its own people; such trials share domains and hierarchies.
    """
    names = [field.name for field in fields(secret)] if is_dataclass(secret) else list(vars(secret))
    shared = {"domains": game.records.domains, "hierarchies": game.records.hierarchies} if game.lets_choose else {}
    return {**{name: getattr(secret, name) for name in names}, **shared}


def check_defense_input(defense: Defense, given: Snapshot) -> None:
    """Raise `ChangedInput` if a defense has changed what it was given."""
    place = given.change()
    if place is not None:
        raise ChangedInput(
            f"{type(defense).__name__} changes the records it was given ({place.removeprefix('records, ')}); copy the "
            f"frame (released_frame does){defined_at(type(defense).apply)}"
        )


def check_attack_input(attack: Attack, *given: Snapshot) -> None:
    """Raise `ChangedInput` if an attack has changed what other attacks use, too."""
    refuse_any(
        filter(None, (each.change() for each in given)),
        lambda place: (
            f"{type(attack).__name__} changes what other attacks use, too ({place}); work on a copy, such as "
            f"knowledge.auxiliary.frame.copy(){defined_at(type(attack).run)}"
        ),
        ChangedInput,
    )


def guarded(defense: Defense) -> Defense:
    """The same defense, which raises `ChangedInput` if its `apply` changes its records.

    It serves where the defense is applied inside of a trial: to records that are drawn for the trial alone, or to the
    attacker's own. The project's own defenses stay as they are, since the conformance suite holds them to it and some
    games apply them thousands of times.
    """
    if not is_user_defined(defense):
        return defense
    same = copy.copy(defense)

    def apply(records: Microdata, rng: Generator) -> Any:
        before = Snapshot(records=records)
        release = defense.apply(records, rng)
        check_defense_input(defense, before)
        return release

    # Attacks apply clones.
    vars(same).update(apply=apply, clone=lambda: guarded(defense.clone()))
    return same


# Number of plays whose draws are cached. All defenses share a draw, and plays come in order, so few suffice.
CACHED_PLAYS = 4


@dataclass(frozen=True)
class Ending:
    """Outcome of a release or a trial.

    - result: Position in the unit's results.
    - status, reason, scores, values, seconds, created: See `leaderboard.Result`.
    """

    result: int
    status: str = "ok"
    reason: str = ""
    scores: Mapping[str, Score] = field(default_factory=dict)
    values: Mapping[str, float | None] = field(default_factory=dict)
    seconds: float = 0.0
    created: str = ""


Failure = Callable[[int], Ending] | None
"""Gives each result that depends on a failed step its outcome; None where the step has not failed."""


@dataclass(frozen=True)
class _Draw:
    """What a game drew for a play, and what it held then."""

    secret: Any
    snapshot: Snapshot


@dataclass
class Worker:
    """Plays units of one plan.

    - packed: The pickled plan, from which a plan that a method has changed is restored; made if it is not given.
    """

    plan: Plan
    packed: bytes = field(default=b"", repr=False)
    draws: dict[tuple[int, int], _Draw] = field(default_factory=dict)
    repeated: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.packed = self.packed or pickle.dumps(self.plan)

    def play(self, unit: Unit) -> Iterator[TaskStep | Ending]:
        """Play the results of a unit; a failure is recorded as a result, and independent trials still run.

        It yields each step before it begins, and the outcome of each result.
        """
        ended = set[int]()
        try:
            for item in self._play(unit):
                if isinstance(item, Ending):
                    ended.add(item.result)
                yield item
        except ChangedInput:
            # What the method changed is shared: draws, release and plan are made anew for the results that are left.
            self.plan, self.draws = pickle.loads(self.packed), {}  # noqa: S301 (the bytes come from this machine)
            left = [result for result in range(len(unit.results)) if result not in ended]
            for item in self.play(unit.only(left)) if left else ():
                if isinstance(item, Ending):
                    yield replace(item, result=left[item.result])
                else:
                    yield replace(item, charged=tuple(left[result] for result in item.charged))

    def _play(self, unit: Unit) -> Iterator[TaskStep | Ending]:
        """Play the results of a unit until a method changes what it was given.

        Raises ChangedInput if a method has; its results have ended as errors.
        """
        everything = tuple(range(len(unit.results)))
        draw, failure = yield from self._drawn(0, unit.play, everything)
        if failure is None:
            outcome, texts, failure = yield from self._released(unit, draw, everything)
        if failure is not None:
            yield from map(failure, everything)
            return
        release, published, seconds = outcome
        if unit.release:
            yield TaskStep("the measuring of utility", (0,))
            # The time of a release is the time to make it, without measuring its utility.
            code = self._user_defined(self.plan.defenses[unit.defense].method, "apply")
            measured = _timed(
                0, lambda: Scores({}, checked_measures(self.plan.games[0].utility(draw.secret, release))), seconds, code
            )
            if measured.status == "ok":
                measured = replace(measured, reason="; ".join([*texts, *filter(None, [measured.reason])]))
            yield measured
        snapshot, first = Snapshot(release=published), int(bool(unit.release))
        for game in dict.fromkeys(game for game, _, _ in unit.trials):
            trials = [
                (first + position, attack) for position, (other, attack, _) in enumerate(unit.trials) if other == game
            ]
            draw, failure = yield from self._drawn(game, unit.play, tuple(result for result, _ in trials))
            for result, attack in trials:
                if failure is not None:
                    yield failure(result)
                else:
                    yield from self._attacked(result, unit, game, attack, draw, published, snapshot)

    def _drawn(
        self, game: int, play: int, charged: tuple[int, ...]
    ) -> collections.abc.Generator[TaskStep, None, tuple[Any, Failure]]:
        """The draw of a play, from the cache or fresh, or the failure of the draw."""
        game = self.plan.draw_of(game)
        if (game, play) in self.draws:
            return self.draws[game, play], None
        yield TaskStep("the draw", charged)
        while len(self.draws) >= CACHED_PLAYS * len(self.plan.games):
            self.draws.pop(next(iter(self.draws)))
        rng = generator(self.plan.seed, self.plan.name, "draw", play)
        secret, failure = _tried("the draw failed: ", lambda: self.plan.games[game].draw(rng))
        if failure is not None:
            return None, failure
        self.draws[game, play] = _Draw(secret, Snapshot(**shared_in(secret, self.plan.games[game])))
        return self.draws[game, play], None

    def _released(
        self, unit: Unit, draw: _Draw, everything: tuple[int, ...]
    ) -> collections.abc.Generator[TaskStep | Ending, None, tuple[Any, list[str], Failure]]:
        """What `_release` gives and the defense's warnings, or the failure of the defense."""
        yield TaskStep("the defense", everything)
        started = time.perf_counter()
        defense = self.plan.defenses[unit.defense].method
        code = self._user_defined(defense, "apply")
        with user_warnings() as texts:
            outcome, failure = _tried("the defense failed: ", lambda: self._release(unit, draw.secret), code)
            if failure is None and self._is_first_of(defense):
                yield TaskStep("the repeated defense", everything)
                again, failure = _tried("the defense failed: ", lambda: self._release(unit, draw.secret), code)
                complaint = release_complaint(defense, outcome[0], again[0]) if failure is None else None
                if complaint:
                    failure = partial(_ended, started=started, status="error", reason=complaint)
        try:
            check_defense_input(defense, draw.snapshot)
        except ChangedInput as changed:
            yield from (_ended(result, started, status="error", reason=str(changed)) for result in everything)
            raise
        return outcome, texts, failure

    def _names(self, unit: Unit) -> tuple[Any, ...]:
        entry = self.plan.defenses[unit.defense]
        return (self.plan.name, "release", entry.name, canonical(describe(entry.method)), unit.play)

    def _release(self, unit: Unit, secret: Any) -> tuple[Any, Any, float]:
        """The release, its published part, and the seconds that it took to make."""
        started = time.perf_counter()
        rng = generator(self.plan.seed, *self._names(unit))
        # A new instance each time: what one keeps in itself must not reach the next release.
        defense = copy.deepcopy(self.plan.defenses[unit.defense].method)
        release, published = make_release(defense, self.plan.games[0], secret, rng)
        return release, published, time.perf_counter() - started

    def _is_first_of(self, method: Any) -> bool:
        """Whether this is the first play of a user's method in this process; a second call says no."""
        name = repr(method)
        if name in self.repeated or not is_user_defined(method):
            return False
        self.repeated.add(name)
        return True

    def _attacked(
        self, result: int, unit: Unit, game: int, attack: int, draw: _Draw, published: Any, snapshot: Snapshot
    ) -> Iterator[TaskStep | Ending]:
        """Play a trial, and a user's attack twice at first."""
        yield TaskStep("the trial", (result,))
        started, attacker = time.perf_counter(), self.plan.attacks[attack].method
        try:
            ending, claims = self._tried_attack(result, unit, game, attack, draw.secret, published)
            if ending.status == "ok" and self._is_first_of(attacker):
                yield TaskStep("the repeated trial", (result,))
                _, again = self._tried_attack(result, unit, game, attack, draw.secret, published)
                complaint = claims_complaint(attacker, claims, again)
                ending = _ended(result, started, status="error", reason=complaint) if complaint else ending
            check_attack_input(attacker, draw.snapshot, snapshot)
        except ChangedInput as changed:
            yield _ended(result, started, status="error", reason=str(changed))
            raise
        yield ending

    def _tried_attack(
        self, result: int, unit: Unit, game: int, attack: int, secret: Any, published: Any
    ) -> tuple[Ending, Any]:
        """Outcome of a trial, and the attack's claims, or None."""
        attacker = self.plan.attacks[attack].method
        witness = Witness(copy.deepcopy(attacker))
        run = partial(self._trial, unit, game, attack, witness, secret, published)
        return _timed(result, run, code=self._user_defined(attacker, "run")), witness.claims

    def _user_defined(self, method: Any, name: str) -> Callable[..., Any] | None:
        """The function that a user's method runs, whose line messages name; None for the project's methods."""
        return getattr(type(method), name) if is_user_defined(method) else None

    def _trial(self, unit: Unit, game: int, attack: int, witness: Witness, secret: Any, published: Any) -> Scores:
        """Scores of one attack on a release, or on what it chose."""
        plan = self.plan
        defense, attacker, rules = plan.defenses[unit.defense].method, plan.attacks[attack].method, plan.games[game]
        reason = rules.misfit(defense, attacker)
        if reason:
            raise NotApplicable(reason)
        who = (plan.attacks[attack].name, canonical(describe(attacker)))
        rng = generator(plan.seed, *self._names(unit), "attack", canonical(game_settings(rules)), *who)
        own = guarded(copy.deepcopy(defense))
        if rules.lets_choose:
            return checked_game_scores(play_alone(own, witness, rules, rng)[2])
        return checked_game_scores(attack_release(own, witness, rules, secret, published, rng))


def _timed(
    result: int,
    run: Callable[[], Scores],
    seconds: float | None = None,
    code: Callable[..., Any] | None = None,
) -> Ending:
    """Outcome of a function that returns scores, with its own run time unless another is given.

    An error that comes from no line of a user's code names the line of `code`, whose answer was wrong.
    """
    started = time.perf_counter()
    try:
        with user_warnings() as texts:
            scores = run()
    except NotApplicable as reason:
        return _ended(result, started, status="skipped", reason=str(reason))
    except ChangedInput:
        raise
    except BaseException as error:  # any failure of a method is a result, even SystemExit
        return _ended(result, started, status=status_of(error), reason=reason_of(error, code))
    return _ended(
        result,
        started if seconds is None else time.perf_counter() - seconds,
        scores=scores.goals,
        values=scores.measures,
        reason="; ".join(texts),
    )


def _tried(prefix: str, run: Callable[[], Any], code: Callable[..., Any] | None = None) -> tuple[Any, Failure]:
    """Value of a function, or on failure a function that fails each result that depends on the value."""
    started = time.perf_counter()
    try:
        return run(), None
    except BaseException as error:  # as in `_timed`
        status, reason = status_of(error), prefix + reason_of(error, code)
        return None, lambda result: _ended(result, started, status=status, reason=reason)


def _ended(result: int, started: float, **changes: Any) -> Ending:
    return Ending(result, seconds=time.perf_counter() - started, created=current_moment(), **changes)


def current_moment() -> str:
    """The time in UTC to the second, as results state when they were made."""
    return datetime.now(UTC).isoformat(timespec="seconds")
