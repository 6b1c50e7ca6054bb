"""Options, exit codes, errors and writers that several commands use."""

from __future__ import annotations

import gc
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

import leaderboard as lb
from metrics.columns import check_new_file, errors_at, refuse, require, write_atomically
from metrics.columns.printable import printable
from scenarios.tables.user_warnings import user_warnings

if TYPE_CHECKING:
    from scenarios.running.plan import Plan
    from scenarios.tables import Engine, Note

GATE_FAILED, FAILED_TRIALS, NOTHING = 1, 3, 4
"""Exit codes; 2 is that of `BadInput`."""
SIGNALLED = 128
"""Exit code of a process that a signal ended: this plus the signal's number."""
FORMATS = ("table", "markdown", "csv", "json", "latex")
STORED_NAMES = ("csv", "json")
"""Formats for programs, which name a class of one's own as the database does, `module:Class`."""

db_option = click.option(
    "--db",
    default="tokumei.db",
    show_default=True,
    metavar="FILE|URL",
    help="Database of results: an SQLite file, or an SQLAlchemy URL.",
)
format_option = click.option(
    "--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="Format of the board."
)
matrix_option = click.option("--matrix", is_flag=True, help="Show the success of every attack against every defense.")
roles_option = click.option(
    "--roles",
    type=click.Path(dir_okay=False, path_type=Path),
    help="TOML file with the roles, domains and hierarchies of the columns.",
)

memory_option = click.option(
    "--memory",
    metavar="SIZE",
    help="Read the table in parts within this memory, such as 8GB. Large files and folders are always read in parts, "
    "by default within half of the machine's memory.",
)


def engine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options that say where the parts of a large table are read; the command gets the scheduler of a cluster."""

    @click.option(
        "--backend",
        type=click.Choice(["local", "dask"]),
        default="local",
        show_default=True,
        help="Where the parts of a folder are read.",
    )
    @click.option("--scheduler", metavar="URL", help="Scheduler of the Dask cluster, such as tcp://host:8786.")
    @wraps(command)
    def with_scheduler(*arguments: Any, backend: str, scheduler: str | None, **others: Any) -> Any:
        refuse((backend == "dask") != (scheduler is not None), "--backend dask and --scheduler go together")
        return command(*arguments, scheduler=scheduler, **others)

    return with_scheduler


@contextmanager
def engine_of(scheduler: str | None) -> Iterator[Engine]:
    """The cluster of a scheduler, to which a command connects once, or this machine without one."""
    from scenarios.tables.parts.files.table_files import OneMachine

    if scheduler is None:
        yield OneMachine()
        return
    from scenarios.running.workers.cluster import DaskEngine

    with closing(DaskEngine(scheduler)) as engine:
        yield engine


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options that say how files are read; the command gets them as `reading`, keys and values of a roles file."""

    @click.option("--na", multiple=True, metavar="TEXT", help="Text that means a missing value (repeatable).")
    @click.option("--decimal", type=click.Choice([".", ","]), help="Decimal mark; the other mark groups thousands.")
    @click.option(
        "--delimiter", metavar="CHARACTER", callback=_delimiter, help="Separator of CSV fields; `tab` is a tab."
    )
    @click.option("--encoding", metavar="NAME", help="Encoding of CSV files that are not UTF-8, such as cp1252.")
    @wraps(command)
    def with_reading(
        *arguments: Any,
        na: tuple[str, ...],
        decimal: str | None,
        delimiter: str | None,
        encoding: str | None,
        suppressed: tuple[str, ...] = (),
        **others: Any,
    ) -> Any:
        reading: dict[str, Any] = {
            "na": [text.strip() for text in na] or None,
            "suppressed": [text.strip() for text in suppressed] or None,
            "decimal": decimal,
            "separator": delimiter,
            "encoding": encoding,
        }
        return command(
            *arguments, reading={key: value for key, value in reading.items() if value is not None}, **others
        )

    return with_reading


suppressed_option = click.option(
    "--suppressed",
    multiple=True,
    metavar="TEXT",
    help='Text that means a suppressed cell of a release, beside *; "" is an empty cell (repeatable).',
)
"""Option of commands with `reading_options` that read releases."""


def _delimiter(context: click.Context, option: click.Parameter, given: str | None) -> str | None:
    """The delimiter, which must be one character."""
    delimiter = "\t" if given in ("tab", "\\t") else given
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise click.BadParameter(f"must be one character such as ';', or `tab`; got {given!r}", context, option)
    return delimiter


def share(context: click.Context, parameter: click.Parameter, value: float) -> float:
    """Callback of an option: a share between 0 and 1, neither of both; NaN is refused."""
    require(0 < value < 1, f"must lie between 0 and 1, got {value:g}", click.BadParameter)
    return value


def parameter_option(method: str) -> Callable[[Any], Any]:
    """The option ``-p NAME=VALUE`` for the parameters of a method, which the help names `method`."""
    return click.option(
        "-p",
        "--parameter",
        "parameters",
        multiple=True,
        metavar="NAME=VALUE",
        help=f"Parameter of {method} (repeatable).",
    )


class BadInput(click.ClickException):
    """Bad input: one line on standard error, exit code 2."""

    exit_code = 2


@contextmanager
def heavy_imports() -> Iterator[None]:
    """Import pandas and what builds on it without garbage collection (a tenth of the time), then or later."""
    if "pandas" in sys.modules or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        gc.enable()


def echo(text: object = "", *, nl: bool = True, err: bool = False, bold: bool = False) -> None:
    """Write text without control characters to standard output or standard error."""
    click.secho(printable(str(text)), nl=nl, err=err, bold=bold or None)


def echo_each(kind: str, texts: Iterable[str | None], *, err: bool = True) -> None:
    """Write each note or warning, as `kind` says, on a line of its own; None is no text."""
    for text in texts:
        if text is not None:
            echo(f"{kind}: {text}", err=err)


def echo_notes(notes: Iterable[Note], *, err: bool = True) -> None:
    """Write each record of a table, a release or a candidate file as a line, notes before warnings."""
    for note in sorted(notes, key=lambda one: one.level):
        echo(f"{note.level}: {note}", err=err)


def echo_with_earlier(text: str, earlier: Sequence[lb.Earlier], form: str) -> None:
    """Write a board to standard output, and what it leaves out below it; for programs, to standard error."""
    if form in ("table", "markdown") and earlier:
        text = f"{text}\n\n{written(lb.earlier_sections(earlier), form)}"
    echo_board(text)
    if form not in ("table", "markdown"):
        echo_earlier(earlier)


def exit_without(what: str) -> NoReturn:
    """Say on standard error that there is nothing to show, and end with the code of that."""
    echo(what, err=True)
    sys.exit(NOTHING)


@contextmanager
def ending_if_interrupted(say: Callable[[str], None], then: str) -> Iterator[None]:
    """On Ctrl-C or SIGTERM, end the command as `end_interrupted` does."""
    from scenarios.running.workers.interrupts import signal_of, terminable

    try:
        with terminable():
            yield
    except KeyboardInterrupt as interrupt:
        end_interrupted(say, then, signal_of(interrupt))


def end_interrupted(say: Callable[[str], None], then: str, number: int) -> NoReturn:
    """Say what the same command does `then`, and end with the code of the signal of this number."""
    say(f"interrupted; the same command {then}")
    sys.exit(SIGNALLED + number)


def echo_earlier(earlier: Sequence[lb.Earlier]) -> None:
    """Write what a board or a comparison leaves out to standard error."""
    for one in earlier:
        echo(f"{one}; `tokumei run` plays them again", err=True)


def written_board(
    results: Sequence[lb.Result], form: str, *, matrix: bool, guarantees: Sequence[lb.StatedGuarantee] = ()
) -> str:
    """The board of some results as text in one of `FORMATS`, and below it what the guarantees cover."""
    if form in STORED_NAMES:
        return written_records(
            lb.matrix_records(lb.matrix(results)) if matrix else lb.board_records(lb.rank(results), guarantees), form
        )
    results, guarantees = _shown(results, guarantees)
    pairs = lb.matrix(results)
    if matrix:
        return lb.latex_matrix(pairs) if form == "latex" else written(lb.matrix_sections(pairs), form)
    sections = lb.board_sections(lb.rank(results))
    if form != "latex":
        sections += [*lb.table_sections(lb.guarantee_tables(guarantees)), *lb.table_sections(lb.skip_tables(pairs))]
    return written(sections, form)


def _shown(
    results: Sequence[lb.Result], guarantees: Sequence[lb.StatedGuarantee]
) -> tuple[list[lb.Result], list[lb.StatedGuarantee]]:
    """Results and guarantees with the names that tables show."""
    from scenarios.running.boards.board_result import shown_board

    return shown_board(results, guarantees)


def written_summary(results: Sequence[lb.Result], form: str) -> str:
    """The summary of some results as text in one of `FORMATS`; by goal too, except on the terminal."""
    if form not in STORED_NAMES:
        results, _ = _shown(results, ())
    return written(lb.summarize(results, by_goal=form != "table"), form)


def shows_summary(results: Sequence[lb.Result], form: str, *, matrix: bool) -> bool:
    """Whether the terminal shows the summary instead of the boards of several data sets or goals."""
    return form == "table" and not matrix and lb.needs_summary(results)


def terminal_width() -> int:
    """Width of the terminal in characters; 120 where there is no terminal."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        return 120


def echo_board(text: str) -> None:
    """Write a board to standard output, with one newline at its end."""
    echo(text, nl=not text.endswith("\n"))


def check_page(path: Path | None, option: str = "--html") -> None:
    """Refuse a file of an option that cannot be written, before the work that fills it.

    Raises ValueError if the file exists and may not be written, or its folder does not exist or takes no new file.
    """
    if path is None:
        return
    if path.exists():
        require(os.access(path, os.W_OK), f"{option}: {path} cannot be written")
        return
    with errors_at(option):
        # A link to a file that does not exist yet is followed.
        check_new_file(path.resolve())


def writable(context: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    """Callback of an option: the file that it names can be written."""
    check_page(path, option.opts[0])
    return path


html_option = click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    callback=writable,
    help="Write the board as a page that works offline.",
)


def write_page(
    results: Sequence[lb.Result],
    path: Path,
    guarantees: Sequence[lb.StatedGuarantee] = (),
    earlier: Sequence[lb.Earlier] = (),
) -> None:
    """Write the board, what the guarantees cover, and what is left out as an HTML page.

    Raises OSError if the file cannot be written.
    """
    from scenarios.running.boards.board_result import board_page

    write_text(board_page(results, guarantees, earlier), path)


def write_report(
    title: str,
    about: Mapping[str, str],
    sections: Sequence[lb.Section],
    form: str,
    html: Path | None,
    page: Sequence[lb.Section] | None = None,
    text: str | None = None,
) -> None:
    """Write a report to standard output in one of `FORMATS`, and as an HTML page if `html` is given.

    The page has the same sections, unless `page` gives it others. If there is a `text`, it replaces that of the
    sections on standard output.
    """
    echo_board(written(sections, form) if text is None else text)
    if html is not None:
        write_report_page(title, about, page or sections, html)


def write_report_page(title: str, about: Mapping[str, str], sections: Sequence[lb.Section], path: Path) -> None:
    """Write a report as an HTML page that names this version, and say so."""
    from leaderboard.results.version import version

    write_text(lb.render_report(title, {**about, "version": f"tokumei {version()}"}, sections), path)
    echo(f"page written to {path}", err=True)


def written(sections: Sequence[lb.Section], form: str) -> str:
    """Sections of a report as text in one of `FORMATS`."""
    if form == "table":
        return lb.report_to_terminal(sections, width=terminal_width())
    writers = {
        "markdown": lb.report_to_markdown,
        "csv": lb.report_to_csv,
        "json": lb.report_to_json,
        "latex": lb.report_to_latex,
    }
    return writers[form](sections)


def written_records(records: lb.Records, form: str) -> str:
    """Records as text in one of `STORED_NAMES`."""
    return records.json() if form == "json" else records.csv()


def write_text(text: str, path: Path) -> None:
    """Write a file: atomically to a new or a regular file, whose permissions stay, and else in place."""
    replaceable = path.is_file() and not path.is_symlink() and os.access(path, os.W_OK)
    new = not os.path.lexists(path)
    if (new or replaceable) and os.access(path.parent, os.W_OK):
        write_atomically(path, text.encode(), mode=None if new else stat.S_IMODE(path.stat().st_mode))
    else:
        # Links, devices and pipes must stay what they are. In a read-only folder no file can be replaced.
        path.write_text(text, encoding="utf-8")


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Echo each warning of a method once, without the line of code that raised it."""
    with user_warnings() as texts:
        yield
    echo_each("warning", texts)


# Options of gates: bounds on every defense, and where the checks are reported.


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

    Raises ValueError if there is such a bound.
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
