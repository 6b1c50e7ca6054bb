"""Options of gates: bounds on every defense, and where the checks are reported."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

import leaderboard as lb
from metrics.columns import refuse
from scenarios.commands.common import echo, writable, write_text

if TYPE_CHECKING:
    from scenarios.running.plan import Plan


def _share(context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    """A bound in [0, 1]. NaN is refused: no comparison with it is true, so that every board would pass the gate."""
    if value is not None and not 0 <= value <= 1:
        raise click.BadParameter(f"must lie between 0 and 1, got {value:g}")
    return value


def _by_goal(context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> Mapping[str | None, float]:
    """Bounds by goal of texts such as ``0.2`` and ``rows=0.1``; None is the goal of a bound without a name."""
    from leaderboard.results.goals import goal_named

    bounds: dict[str | None, float] = {}
    for text in texts:
        name, equals, number = text.rpartition("=")
        goal = goal_named(name) if equals else None
        try:
            bound = float(number)
        except ValueError:
            raise click.BadParameter(f"must be a number or GOAL=NUMBER, got {text!r}") from None
        refuse(goal in bounds, f"bounds {name or 'all goals'} twice", click.BadParameter)
        bounds[goal] = _share(context, parameter, bound) or 0.0
    return bounds


BOUND_OPTIONS = (
    click.option(
        "--min-utility", type=float, callback=_share, help="Gate: exit with 1 if a defense's utility is below this."
    ),
    click.option(
        "--max-advantage",
        multiple=True,
        callback=_by_goal,
        metavar="[GOAL=]BOUND",
        help="Gate: exit with 1 if an attack's advantage may be above this, in all goals or one, as in rows=0.1 "
        "(repeatable). The upper end of the advantage's interval counts, which holds if plays vary as they did.",
    ),
    click.option(
        "--max-success",
        type=float,
        callback=_share,
        help="Gate: exit with 1 if the worst attack's success rate is above this. Guessing members is right half the "
        "time: --max-advantage allows for that.",
    ),
)
REPORT_OPTIONS = (
    click.option(
        "--junit",
        type=click.Path(dir_okay=False, path_type=Path),
        callback=writable,
        help="Write the checks of the gate, and failed trials, as JUnit XML.",
    ),
    click.option(
        "--annotate/--no-annotate",
        default=lambda: os.environ.get("GITHUB_ACTIONS") == "true",
        help="Write failed checks as annotations of GitHub Actions to standard error.  [default: only there]",
    ),
)


def check_goals(bounds: Mapping[str | None, float], plans: Sequence[Plan]) -> None:
    """Refuse a bound on a goal that is neither well known nor a goal of a plan's games or attacks.

    Raises
    ------
    ValueError
        If there is such a bound.
    """
    from scenarios.running.methods.declarations import check_goal_names

    goals = {goal for plan in plans for game in plan.games for goal in game.takes}
    goals |= {entry.method.goal for plan in plans for entry in plan.attacks}
    check_goal_names(bounds, goals, "--max-advantage")


def as_check(check: lb.GateCheck) -> lb.ReportedCheck:
    """A bound on a defense as a check of a report."""
    return lb.ReportedCheck(
        check.place,
        f"{lb.label(check.defense, check.parameters)}: {check.bound}",
        failure="" if check.passed else check.finding,
        note="" if check.sure is None else check.finding,
    )


def report_checks(checks: Sequence[lb.ReportedCheck], junit: Path | None, *, annotate: bool) -> None:
    """Write checks to a file of JUnit XML, if one is named, and failed ones as annotations, if asked for."""
    if annotate and (lines := lb.github_annotations(checks)):
        echo(lines, err=True)
    if junit is not None:
        write_text(lb.junit_xml(checks), junit)
