"""What a worker process does: make releases, run attacks on them, and report each result as it ends."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

from attacks.base.attack import NotApplicable
from leaderboard.result import canonical
from metrics.score import Score, Scores
from scenarios.games.playing import attack_release, make_release, play_alone
from scenarios.methods import describe
from scenarios.running.plan import Plan
from scenarios.running.scores import checked_measures, checked_scores
from scenarios.running.units import Unit
from scenarios.seeds import generator

# A play's draw serves every defense; workers meet plays in order, so that few need to be remembered.
REMEMBERED = 4
# Frames of a traceback that are kept.
FRAMES = 6
# Characters of what an error says that are kept.
LONGEST = 1000


@dataclass(frozen=True)
class Ending:
    """How a release or a trial ended.

    Attributes
    ----------
    result : int
        Which of the unit's results.
    status, reason, scores, values, seconds, created
        See `leaderboard.Result`.
    """

    result: int
    status: str = "ok"
    reason: str = ""
    scores: Mapping[str, Score] = field(default_factory=dict)
    values: Mapping[str, float | None] = field(default_factory=dict)
    seconds: float = 0.0
    created: str = ""


Begin = Callable[[str, Sequence[int]], None]
End = Callable[[Ending], None]


@dataclass
class Worker:
    """Plays units of one plan.

    Parameters
    ----------
    plan : Plan
        What is played.
    """

    plan: Plan
    secrets: dict[tuple[int, int], Any] = field(default_factory=dict)

    def play(self, unit: Unit, begin: Begin, end: End) -> None:
        """Play what a unit lacks; a failure is the result of what failed, and stops nothing else.

        Parameters
        ----------
        unit : Unit
            One release and the trials that it feeds.
        begin : callable
            Told of each step before it is taken: its name, and which results fail if it does not come to an end.
        end : callable
            Told how each result ended.
        """
        everything = range(len(unit.results))
        first = 1 if unit.release else 0
        secret, failure = self._drawn(0, unit.play, partial(begin, "the draw", everything))
        if failure is None:
            begin("the defense", everything)
            made, failure = _tried("the defense failed: ", lambda: self._release(unit, secret))
        if failure is not None:
            for result in everything:
                end(failure(result))
            return
        release, published, seconds = made
        if unit.release:
            begin("the measuring of utility", [0])
            # A release's time is that of its making.
            end(_timed(0, lambda: _measured(self.plan.games[0].utility(secret, release)), seconds))
        for game in dict.fromkeys(game for game, _, _ in unit.trials):
            trials = [
                (first + position, attack) for position, (other, attack, _) in enumerate(unit.trials) if other == game
            ]
            charged = [result for result, _ in trials]
            secret, failure = self._drawn(game, unit.play, partial(begin, "the draw", charged))
            for result, attack in trials:
                if failure is not None:
                    end(failure(result))
                else:
                    begin("the trial", [result])
                    end(_timed(result, self._trial(unit, game, attack, secret, published)))

    def _drawn(self, game: int, play: int, begin: Callable[[], None]) -> tuple[Any, Callable[[int], Ending] | None]:
        """The secret of a play, drawn once."""
        if (game, play) in self.secrets:
            return self.secrets[game, play], None
        begin()
        while len(self.secrets) >= REMEMBERED * len(self.plan.games):
            self.secrets.pop(next(iter(self.secrets)))
        rng = generator(self.plan.seed, self.plan.name, "draw", play)
        secret, failure = _tried("the draw failed: ", lambda: self.plan.games[game].draw(rng))
        if failure is None:
            self.secrets[game, play] = secret
        return secret, failure

    def _names(self, unit: Unit) -> tuple[Any, ...]:
        entry = self.plan.defenses[unit.defense]
        return (self.plan.name, "release", entry.name, canonical(describe(entry.method)), unit.play)

    def _release(self, unit: Unit, secret: Any) -> tuple[Any, Any, float]:
        """The release, what is published of it, and how long its making took."""
        started = time.perf_counter()
        rng = generator(self.plan.seed, *self._names(unit))
        made = make_release(self.plan.defenses[unit.defense].method, self.plan.games[0], secret, rng)
        return (*made, time.perf_counter() - started)

    def _trial(self, unit: Unit, game: int, attack: int, secret: Any, published: Any) -> Callable[[], Scores]:
        plan = self.plan
        defense, attacker, rules = plan.defenses[unit.defense].method, plan.attacks[attack].method, plan.games[game]

        def run() -> Scores:
            reason = rules.misfit(defense, attacker)
            if reason:
                raise NotApplicable(reason)
            variant = canonical(dict(rules.settings()))
            who = (plan.attacks[attack].name, canonical(describe(attacker)))
            rng = generator(plan.seed, *self._names(unit), "attack", variant, *who)
            if rules.lets_choose:
                return checked_scores(play_alone(defense, attacker, rules, rng)[2])
            return checked_scores(attack_release(defense, attacker, rules, secret, published, rng))

        return run


def _measured(utility: Any) -> Scores:
    """A release's utility, which has no goals."""
    return Scores({}, checked_measures(utility))


def _timed(result: int, run: Callable[[], Scores], seconds: float | None = None) -> Ending:
    """Ending of what gives numbers; its own time unless another is given."""
    started = time.perf_counter()
    try:
        scores = run()
    except NotApplicable as reason:
        return _ended(result, started, status="skipped", reason=str(reason))
    except BaseException as error:  # any failure of a method is a result, an attempt to leave the process too
        return _ended(result, started, status=_status(error), reason=_reason(error))
    return _ended(
        result,
        started if seconds is None else time.perf_counter() - seconds,
        scores=scores.goals,
        values=scores.measures,
    )


def _tried(what: str, run: Callable[[], Any]) -> tuple[Any, Callable[[int], Ending] | None]:
    """What was made, or the ending of every result that needs it."""
    started = time.perf_counter()
    try:
        return run(), None
    except BaseException as error:  # as above
        status, reason = _status(error), what + _reason(error)
        return None, lambda result: _ended(result, started, status=status, reason=reason)


def _ended(result: int, started: float, **changes: Any) -> Ending:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Ending(result, seconds=time.perf_counter() - started, created=now, **changes)


def _status(error: BaseException) -> str:
    return "oom" if isinstance(error, MemoryError) else "error"


def _reason(error: BaseException) -> str:
    """The error in one line, then where it was raised, without the values of variables."""
    frames = traceback.format_list(traceback.extract_tb(error.__traceback__)[-FRAMES:])
    try:
        said = " ".join(str(error).split())[:LONGEST]
    except Exception:
        said = "(an error that cannot say what it is)"
    return f"{type(error).__name__}: {said}\n{''.join(frames)}".rstrip()
