"""``tokumei choose``."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from leaderboard.pages.number_text import counted
from scenarios.assessment.choosing.goals import KINDS, QUESTIONS
from scenarios.commands.common import (
    FORMATS,
    GATE_FAILED,
    check_page,
    db_option,
    echo,
    echo_each,
    end_interrupted,
    ending_if_interrupted,
    html_option,
    roles_option,
    share,
    write_report,
)

if TYPE_CHECKING:
    from scenarios.assessment.choosing.choice import Choice
    from scenarios.assessment.choosing.choice_report import Source, WholeTable
    from scenarios.assessment.choosing.portfolio import Portfolio
    from scenarios.tables.review.rows_of_people import RowsOfPeople

EPILOG = """\b
Examples:
  tokumei choose people.csv --roles roles.toml --max-advantage 0.1
  tokumei choose people.csv --roles roles.toml --max-advantage 0.1 --goal rows --goal attributes --keep income
  tokumei choose people.csv --roles roles.toml --max-advantage 0.1 --only real-rows
  tokumei choose people.csv --roles roles.toml --max-advantage 0.2 --budget 1h --html choice.html
"""
_UNITS = {"s": 1, "m": 60, "h": 3600}


def _seconds(context: click.Context, parameter: click.Parameter, value: str) -> float:
    """Seconds of a duration such as ``90s``, ``10m`` or ``1.5h``."""
    written = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", value)
    if written is None or not float(written[1]):
        raise click.BadParameter(f"must be a duration such as 90s, 10m or 1.5h, got {value!r}")
    return float(written[1]) * _UNITS[written[2]]


@click.command(epilog=EPILOG)
@click.argument("table")
@roles_option
@click.option(
    "--max-advantage",
    "bound",
    type=float,
    required=True,
    callback=share,
    help="Bound of the worst attack's advantage: 0 is guessing, 1 is always right.",
)
@click.option(
    "--goal",
    "goals",
    multiple=True,
    type=click.Choice(list(QUESTIONS)),
    help="Goal of attacks (repeatable); all by default.",
)
@click.option("--keep", multiple=True, metavar="COLUMN", help="Column that must be released unchanged (repeatable).")
@click.option(
    "--only",
    multiple=True,
    type=click.Choice(KINDS),
    help="Family of defenses to play (repeatable), or real-rows: all whose rows stem from people.  [default: all]",
)
@click.option(
    "--budget",
    callback=_seconds,
    default="10m",
    show_default=True,
    help="Time: more means more plays. One play of each stage is played in any case.",
)
@click.option("--people", type=click.IntRange(min=1), help="Number of people in each play's release.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of all randomness.")
@click.option(
    "-j", "--jobs", type=click.IntRange(min=1), help="Number of worker processes.  [default: number of cores]"
)
@db_option
@html_option
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
@click.option("--quiet", is_flag=True, help="Show no progress.")
def choose(
    table: str,
    roles: Path | None,
    bound: float,
    goals: tuple[str, ...],
    keep: tuple[str, ...],
    only: tuple[str, ...],
    budget: float,
    people: int | None,
    seed: int,
    jobs: int | None,
    db: str,
    html: Path | None,
    form: str,
    *,
    quiet: bool,
) -> None:
    """Choose a defense, and its strength, for TABLE (CSV or Parquet) within a bound of the attacks' advantage.

    Every play draws people from the table, releases some of them, and attacks the release. A portfolio of settings is
    played in rounds: cheap attacks on all settings first, every attack on the best ones. The three best are then played
    on people drawn anew, so that the choice does not flatter them. A setting meets the bound if all attacks keep
    within it, and the classes of people alike in a release of the whole table do, too, which `tokumei report` counts.
    It meets it "in these plays" if plays vary as they did, and "for sure" however they vary, which takes many plays.

    Results are stored: the same command goes on where it was interrupted. Exit code 1 says that no setting meets the
    bound. Without --roles, texts that differ in every record are refused.
    """
    from leaderboard import Store
    from leaderboard.pages.number_text import exact
    from scenarios.assessment.choosing.choice import Chooser
    from scenarios.assessment.choosing.choice_report import Source, WholeTable, nearest_words, verdict
    from scenarios.assessment.choosing.portfolio import read_portfolio
    from scenarios.assessment.evaluation.evaluation_setting import EvaluationSetting
    from scenarios.running.display import Display
    from scenarios.running.workers import LocalProcesses, cores, start_server
    from scenarios.tables import (
        ReviewedTable,
        RowsOfPeople,
        Units,
        load_table,
        play_notes,
        refuse_undeclared_identifiers,
        text_notes,
    )

    display = Display(quiet=quiet)
    display.say_on_terminal("reading the table")
    check_page(html)
    start_server()
    dataset = load_table(table, roles)
    refuse_undeclared_identifiers(table, roles, ReviewedTable(dataset).unique_texts, len(dataset.records))
    portfolio = read_portfolio(dataset, goals=goals, people=people, keep=keep, only=only, seed=seed)
    display.say_notes([*play_notes(dataset), *text_notes(portfolio.notes)])
    several = RowsOfPeople.of(dataset.records)
    display.say(_in_words(portfolio, Units.of(dataset.records).words, budget))
    with Store(db) as store:
        asked = dataset.records.sensitive if not goals or "attributes" in goals else ()
        whole = WholeTable(EvaluationSetting(dataset, seed=seed), asked, bound)
        chooser = Chooser(portfolio, bound, store, LocalProcesses(jobs or cores()), display, budget, whole.refused)
        with ending_if_interrupted(display.say, "goes on where it was"):
            choice = chooser.choose()
        if choice.interrupted:
            end_interrupted(display.say, "goes on where it was", choice.interrupted)
    about = {
        "table": dataset.name,
        "bound": exact(bound),
        "goals": ", ".join(goals) or "all",
        "people": str(portfolio.people),
        "kept": ", ".join(keep) or "none",
        "only": ", ".join(only) or "all families",
        "seed": str(seed),
    }
    _write_choice(choice, whole, several, portfolio.people, Source(table, roles), only, about, form, html)
    echo(f"{table}: {verdict(choice, bound, only)}", err=True)
    echo_each("note", nearest_words(choice, bound))
    sys.exit(0 if any(one.meets for one in choice.finalists) else GATE_FAILED)


def _write_choice(
    choice: Choice,
    whole: WholeTable,
    several: RowsOfPeople | None,
    people: int,
    source: Source,
    only: tuple[str, ...],
    about: dict[str, str],
    form: str,
    html: Path | None,
) -> None:
    """Write the finalists with their guarantees and effects on the whole table, and how each is repeated."""
    from leaderboard import label
    from scenarios.assessment.choosing.choice_report import (
        COMMANDS,
        CONTROL,
        HELD_BACK,
        choice_sections,
        class_warnings,
        commands,
        hidden_warnings,
        people_warnings,
    )
    from scenarios.running.plan import guarantee_on

    dataset, bound = whole.setting.dataset, whole.bound
    entries = {label(one.entry.name, one.entry.parameters): one.entry for one in choice.finalists}
    guaranteed = {name: entry.method.guarantee(dataset.records) for name, entry in entries.items()}
    guarantees = [guarantee_on(dataset, entry, guaranteed[name]) for name, entry in entries.items()]
    of_people = people_warnings(several, guaranteed)
    near = [] if choice.nearest is None else [choice.nearest]
    shown_entries = entries | {label(one.name, one.parameters): one for one in near}
    effects = {name: whole.effect(entry) for name, entry in shown_entries.items()}
    sections = choice_sections(choice, bound, people, source, guarantees, only, effects, of_people)
    # Tables of a terminal are wrapped, and a command must stay in one line.
    shown = [section for section in sections if section.title != COMMANDS] if form == "table" else sections
    write_report(f"Choice for {dataset.name}", about, shown, form, html, sections)
    if form == "table":
        for name, *lines in commands(choice, bound, source):
            echo("\n".join([f"# {name}", *lines]))
        if commands(choice, bound, source):
            echo(f"# {CONTROL}: {HELD_BACK}")
    # The first of them, what plays count, was said before the plays.
    echo_each("warning", (*of_people[1:], *class_warnings(bound, effects), *hidden_warnings(effects)))


def _in_words(portfolio: Portfolio, people: str, budget: float) -> str:
    """What is played, in one line."""
    game = portfolio.plan.games[0]
    counts = f"{counted(len(portfolio.plan.defenses), 'setting')}, {counted(len(portfolio.plan.attacks), 'attack')}"
    drawn = f"each play releases {portfolio.people} of {people} beside {game.others} others"  # type: ignore[attr-defined]
    return f"{counts}; {drawn}; about {budget:.0f} s, longer if one play of each stage takes longer"
