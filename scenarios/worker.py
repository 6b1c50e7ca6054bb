"""What a worker process does: play units and report their results."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import threadpoolctl

from attacks.attack import NotApplicable
from leaderboard.result import Result, canonical
from scenarios.methods import describe
from scenarios.plan import Plan
from scenarios.playing import attack_release, make_release, play_alone
from scenarios.seeds import generator
from scenarios.units import Unit

# A play's draw serves every defense; workers meet plays in order, so that few need to be remembered.
REMEMBERED = 4


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

    def secret(self, game: int, play: int) -> Any:
        """The secret of a play, drawn once."""
        if (game, play) not in self.secrets:
            while len(self.secrets) >= REMEMBERED * len(self.plan.games):
                self.secrets.pop(next(iter(self.secrets)))
            rng = generator(self.plan.seed, self.plan.name, "draw", play)
            self.secrets[game, play] = self.plan.games[game].draw(rng)
        return self.secrets[game, play]

    def play(self, unit: Unit) -> list[Result]:
        """Play what a unit lacks; a failure is the result of what failed, and stops nothing else."""
        plan, entry = self.plan, self.plan.defenses[unit.defense]
        names = (plan.name, "release", entry.name, canonical(describe(entry.method)), unit.play)
        started = time.perf_counter()
        try:
            release, published = make_release(
                entry.method, plan.games[0], self.secret(0, unit.play), generator(plan.seed, *names)
            )
        except Exception as error:  # any failure of a method is a result
            reason = _reason(error)
            return [_failed(result, f"the defense failed: {reason}", started) for result in unit.results]
        results = []
        if unit.release:
            results.append(
                _timed(unit.release, lambda: plan.games[0].utility(self.secret(0, unit.play), release), started)
            )
        for game, attack, result in unit.trials:
            results.append(_timed(result, self._trial(unit, game, attack, published, names)))
        return results

    def _trial(
        self, unit: Unit, game: int, attack: int, published: Any, names: tuple[Any, ...]
    ) -> Callable[[], dict[str, float | None]]:
        plan = self.plan
        defense, attacker, rules = plan.defenses[unit.defense].method, plan.attacks[attack].method, plan.games[game]

        def run() -> dict[str, float | None]:
            reason = rules.misfit(defense, attacker)
            if reason:
                raise NotApplicable(reason)
            variant = canonical(dict(rules.settings()))
            who = (plan.attacks[attack].name, canonical(describe(attacker)))
            rng = generator(plan.seed, *names, "attack", variant, *who)
            if rules.lets_choose:
                return play_alone(defense, attacker, rules, rng)[2]
            return attack_release(defense, attacker, rules, self.secret(game, unit.play), published, rng)

        return run


def _timed(result: Result, run: Callable[[], dict[str, float | None]], started: float | None = None) -> Result:
    started = time.perf_counter() if started is None else started
    try:
        values = run()
    except NotApplicable as reason:
        return _ended(result, started, status="skipped", reason=str(reason))
    except MemoryError as error:
        return _ended(result, started, status="oom", reason=_reason(error))
    except Exception as error:  # any failure of a method is a result
        return _failed(result, _reason(error), started)
    return _ended(result, started, values=values)


def _failed(result: Result, reason: str, started: float) -> Result:
    return _ended(result, started, status="error", reason=reason)


def _ended(result: Result, started: float, **changes: Any) -> Result:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return replace(result, seconds=time.perf_counter() - started, created=now, **changes)


def _reason(error: BaseException) -> str:
    """The error in one line, then where it was raised, without the values of variables."""
    frames = traceback.format_list(traceback.extract_tb(error.__traceback__)[-6:])
    return f"{type(error).__name__}: {error}\n{''.join(frames)}".rstrip()


_worker: Worker | None = None


def start(plan: Plan) -> None:
    """Make this process a worker on a plan, with one thread for linear algebra and deaf to Ctrl-C."""
    import signal

    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threadpoolctl.threadpool_limits(1)
    _worker = Worker(plan)


def work(unit: Unit) -> list[Result]:
    """Play a unit in a process that `start` prepared."""
    if _worker is None:
        raise RuntimeError("the process was not prepared by start()")
    return _worker.play(unit)
