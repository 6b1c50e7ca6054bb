"""Deadlines: a phase ends later, or opens again; the log says why."""

from __future__ import annotations

from datetime import datetime

from metrics.columns.parameters import refuse
from scenarios.tournament.rules.folder import State, Tournament
from scenarios.tournament.rules.names import checked_reason
from scenarios.tournament.rules.settings import Phase, moment


def extend(tournament: Tournament, phase: Phase, until: str, reason: str, now: datetime) -> datetime:
    """Move the end of the current or a later phase to a later moment.

    Parameters
    ----------
    tournament : Tournament
        The tournament.
    phase : Phase
        The phase.
    until : str
        Its new end, ISO 8601.
    reason : str
        Reason, which everybody sees.
    now : datetime
        Current time, with a time zone.

    Returns
    -------
    datetime
        The new end.

    Raises
    ------
    ValueError
        If the phase is over, the moment is invalid or no later than now and the present end, or a later phase would end
        before it.
    """
    return _moved(tournament, "extended", phase, until, reason, now)


def reopen(tournament: Tournament, phase: Phase, until: str, reason: str, now: datetime) -> datetime:
    """Open an earlier phase again; what was published stays until the phase is closed again.

    Correspondence tables about a table that changes meanwhile no longer count.

    Parameters
    ----------
    tournament, phase, until, reason, now
        See `extend`.

    Raises
    ------
    ValueError
        If the phase is not over, the moment is invalid or no later than now, or a later phase would end before it.
    """
    return _moved(tournament, "reopened", phase, until, reason, now)


def _moved(tournament: Tournament, kind: str, phase: Phase, until: str, reason: str, now: datetime) -> datetime:
    """Record the new end of a phase that is over and is ``reopened``, or that is not over and is ``extended``."""
    reason, again = checked_reason(reason), kind == "reopened"
    with tournament.log.locked():
        state, order = tournament.state(), tournament.settings.phases
        current, present = state.phase, state.end(phase)
        over = order.index(phase) < order.index(current)
        refuse(over and not again, f"phase {phase} is over, the phase is {current}; `reopen` opens it again")
        refuse(again and not over, f"phase {phase} is not over, the phase is {current}; `extend` moves its end")
        refuse(present is None and not again, f"phase {phase} has no end")
        end = _checked_end(state, phase, until, now)
        if present is not None and end <= present and not again:
            raise ValueError(f"phase {phase} runs until {present.isoformat()} already; --until must be later")
        details = {"phase": str(phase), "until": end.isoformat(timespec="seconds"), "reason": reason}
        tournament.log.append(kind, details | ({"moment": now.isoformat()} if again else {}), now)
    return end


def _checked_end(state: State, phase: Phase, until: str, now: datetime) -> datetime:
    end = datetime.fromisoformat(moment(until))
    refuse(end <= now, f"{end.isoformat()} has passed; name a later moment")
    order = state.tournament.settings.phases
    current = order.index(state.phase)
    # The last phase first, since no later one keeps it from being moved.
    for number in reversed(range(order.index(phase) + 1, len(order))):
        theirs = state.end(order[number])
        if theirs is not None and theirs <= end:
            how = "reopen" if number < current else "extend"
            raise ValueError(f"phase {order[number]} ends at {theirs.isoformat()}, too early; {how} it first")
    return end
