"""Options of ``tokumei run``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from scenarios.commands.common import db_option, format_option, html_option, matrix_option, roles_option
from scenarios.commands.gate_options import BOUND_OPTIONS, REPORT_OPTIONS

Command = TypeVar("Command", bound=Callable[..., Any])
BACKENDS = ("local", "dask")


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What the user asks of ``tokumei run``; None where an option is not given.

    Attributes
    ----------
    scenarios : tuple of str
        Names of shipped scenarios and paths of scenario files; empty for the default one.
    defenses, attacks : tuple of str
        Methods to play; empty for all of the scenario.
    plays, seed : int, optional
        Replace those of the scenario.
    jobs : int, optional
        Worker processes.
    data, roles : Path, optional
        The user's own table, and the roles of its columns.
    db : str
        Database of results: a file or an SQLAlchemy URL.
    html : Path, optional
        Page to write.
    form : str
        Form of the board, one of `scenarios.commands.common.FORMATS`.
    matrix : bool
        Show the success of every attack against every defense.
    fresh : bool
        Play trials again whose results are stored.
    explain : bool
        Play nothing; say why each trial would be played.
    time_limit : float, optional
        Seconds that a trial may take.
    memory_limit : int, optional
        Bytes that a trial may use.
    backend : {"local", "dask"}
        Where trials are played.
    scheduler : str, optional
        URL of the Dask scheduler.
    min_utility, max_success : float, optional
        Gate on every defense, each in [0, 1].
    max_advantage : dict of str or None to float
        Gate on the advantage by goal; None for all goals together.
    junit : Path, optional
        File of checks to write.
    annotate : bool
        Write failed checks as annotations of GitHub Actions.
    quiet : bool
        Show neither progress nor failures.
    """

    scenarios: tuple[str, ...]
    defenses: tuple[str, ...]
    attacks: tuple[str, ...]
    plays: int | None
    seed: int | None
    jobs: int | None
    data: Path | None
    roles: Path | None
    db: str
    html: Path | None
    form: str
    matrix: bool
    fresh: bool
    explain: bool
    time_limit: float | None
    memory_limit: int | None
    backend: str
    scheduler: str | None
    min_utility: float | None
    max_success: float | None
    max_advantage: dict[str | None, float]
    junit: Path | None
    annotate: bool
    quiet: bool

    @property
    def board_only(self) -> dict[str, object]:
        """Options that an experiment does not take, with their values."""
        return {
            "--defense": self.defenses,
            "--attack": self.attacks,
            "--data": self.data,
            "--roles": self.roles,
            "--matrix": self.matrix,
            "--min-utility": self.min_utility,
            "--max-advantage": self.max_advantage,
            "--explain": self.explain,
            "--backend dask": self.backend == "dask",
        }


def _bytes(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """Number of bytes of a size such as ``4G``."""
    from scenarios.running.workers.limits import read_size

    try:
        return None if value is None else read_size(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


_OPTIONS = (
    click.argument("scenarios", nargs=-1, metavar="[SCENARIO...]"),
    click.option(
        "-d",
        "--defense",
        "defenses",
        multiple=True,
        help="Play only this defense (repeatable); module:Class, or 'Mondrian k=3', is added.",
    ),
    click.option(
        "-a",
        "--attack",
        "attacks",
        multiple=True,
        help="Play only this attack (repeatable); module:Class, or 'LearnedLinkage simulations=2', is added.",
    ),
    click.option(
        "--plays", type=click.IntRange(min=1), help="How often each pair plays.  [default: the scenario's own]"
    ),
    click.option("--seed", type=click.IntRange(min=0), help="Seed of all randomness.  [default: the scenario's own]"),
    click.option(
        "-j", "--jobs", type=click.IntRange(min=1), help="Number of worker processes.  [default: number of cores]"
    ),
    click.option(
        "--data",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Play on this table (CSV or Parquet) instead of the scenario's data set.",
    ),
    roles_option,
    db_option,
    html_option,
    format_option,
    matrix_option,
    click.option("--fresh", is_flag=True, help="Play every trial again, even if its result is stored."),
    click.option("--explain", is_flag=True, help="Play nothing; say why each trial would be played."),
    click.option(
        "--time-limit",
        type=float,
        metavar="SECONDS",
        help="Time limit of each trial.  [default: the scenario's own, or 600]",
    ),
    click.option(
        "--memory-limit",
        callback=_bytes,
        metavar="SIZE",
        help="Memory limit of each trial, such as 4G.  [default: the scenario's own, or 4G]",
    ),
    click.option(
        "--backend", type=click.Choice(BACKENDS), default="local", show_default=True, help="Where trials are played."
    ),
    click.option("--scheduler", metavar="URL", help="Scheduler of the Dask cluster, such as tcp://host:8786."),
    *BOUND_OPTIONS,
    *REPORT_OPTIONS,
    click.option("--quiet", is_flag=True, help="Show no progress and no failures, only the board and the exit code."),
)


def run_options(command: Command) -> Command:
    """Give a command the options of `RunOptions`, which it gets as keyword arguments."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
