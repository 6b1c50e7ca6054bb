"""``tokumei tournament``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from leaderboard.pages.number_text import counted
from metrics.columns import refuse
from scenarios.commands.common import GATE_FAILED, echo, echo_notes, reading_options
from scenarios.commands.tournament_host import COMMANDS, watch_scoring
from scenarios.commands.tournament_texts import (
    FILE,
    FOLDER,
    decision,
    listing_problems,
    now,
    on_tournament,
    publish_notices,
    say,
    say_problems,
    show_check,
    show_receipt,
)
from scenarios.tables.toml.json_text import json_text

if TYPE_CHECKING:
    from scenarios.tables.dataset import Dataset
    from scenarios.tournament.rules.folder import Tournament

EPILOG = """\b
A host's tournament:
  tokumei tournament init cup --dataset bank --teams teams.txt \\
      --anonymize-until 2026-06-10T12:00 --attack-until 2026-06-17T12:00
  tokumei tournament submit cup teamX teamX_anonymized.csv
  tokumei tournament advance cup
  tokumei tournament submit cup teamX teamX_attack_teamY.csv
  tokumei tournament score cup
\b
A team:
  tokumei tournament check teamX_anonymized.csv --original teamX_original.csv
\b
The guides: `tokumei tournament guide host`, `tokumei tournament guide team`.
"""


@click.group(epilog=EPILOG)
def tournament() -> None:
    """Hold a tournament: teams submit anonymized tables and attacks, the host scores them."""


for command in COMMANDS:
    tournament.add_command(command)


@tournament.command()
@click.argument("folder", type=FOLDER)
@click.option("--dataset", "name", help="A built-in data set (`tokumei list datasets`).")
@click.option("--data", type=FILE, help="A table of your own instead (CSV or Parquet).")
@click.option("--roles", type=FILE, help="Roles and domains of its columns.")
@click.option("--teams", type=FILE, help="Text file with one team a line: NAME, or NAME,TITLE.  [required]")
@click.option("--title", help="Title of the tournament, in any script.  [default: that of the data set]")
@click.option("--originals", type=click.IntRange(min=1), default=100, show_default=True, help="Rows of a team's table.")
@click.option(
    "--candidates", type=click.IntRange(min=2), default=200, show_default=True, help="Rows of its candidates."
)
@click.option("--decoys", type=click.Choice(["random", "hard"]), default="random", show_default=True)
@click.option(
    "--rounds", type=click.IntRange(1, 2), default=1, show_default=True, help="Number of rounds of anonymization."
)
@click.option("--anonymize-until", metavar="MOMENT", help="End of the first phase (ISO 8601).  [required]")
@click.option("--anonymize-again-until", metavar="MOMENT", help="End of the second round.")
@click.option("--attack-until", metavar="MOMENT", help="End of the attack phase.  [required]")
@click.option("--present-until", metavar="MOMENT", help="Until when teams may change presentations, after the close.")
@click.option(
    "--quota",
    type=click.IntRange(min=1),
    metavar="BYTES",
    help="Most bytes that are kept of a team's files.  [default: 64 MiB]",
)
@click.option(
    "--ranking",
    type=click.Choice(["score", "ranks"]),
    default="score",
    show_default=True,
    help="Rank teams by defense + attack, or by the sum of their ranks in both.",
)
@click.option("--hide-standings", is_flag=True, help="Show standings to the host alone until the close.")
@click.option(
    "--publish-every",
    metavar="TIME",
    default="12h",
    show_default=True,
    help="Publish standings that often, counted back from the end of the attack phase, or `always`.",
)
@click.option("--freeze", metavar="TIME", help="Publish none in the last 2h, for example, until the close.")
@click.option("--contest", type=FILE, help="Rules of a contest: its utility measures and questions (TOML).")
@click.option(
    "--language",
    type=click.Choice(["en", "ja"]),
    default="en",
    show_default=True,
    help="Language of the rules, notices and reports in the folder; the site follows each browser.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), help="Seed of all secrets.  [default: drawn from the operating system]"
)
@reading_options
@click.option("--adopt-hashes", is_flag=True, help="Log the hashes of a folder that an earlier version made, instead.")
@click.pass_context
def init(
    context: click.Context,
    /,
    folder: Path,
    name: str | None,
    data: Path | None,
    roles: Path | None,
    teams: Path | None,
    *,
    reading: dict[str, Any],
    adopt_hashes: bool,
    **settings: Any,
) -> None:
    """Create the folder of a tournament, with a subfolder for each team and one for the host alone.

    A MOMENT without a time is the end of that day. Without a zone, it is in the zone of this machine.
    """
    from scenarios.tables import table_notes
    from scenarios.tournament.rules import moment_text, open_tournament, read_teams, seconds_in

    if adopt_hashes:
        others = context.params.keys() - {"folder", "adopt_hashes"}
        refuse(
            any(context.get_parameter_source(one) is ParameterSource.COMMANDLINE for one in others),
            "--adopt-hashes is for a folder that exists; give no other option",
        )
        _adopt_hashes(folder)
        return
    for option in ("anonymize_until", "attack_until"):
        if settings[option] is None:
            raise click.UsageError(f"Missing option '--{option.replace('_', '-')}'.")
    if teams is None:
        raise click.UsageError("Missing option '--teams'.")
    dataset = _dataset(name, data, roles, reading)
    names = read_teams(teams)
    given = {option: value for option, value in settings.items() if option != "quota" or value is not None}
    for option in ("publish_every", "freeze"):
        try:
            given[option] = None if given[option] in (None, "always") else seconds_in(given[option])
        except ValueError as error:
            raise ValueError(f"--{option.replace('_', '-')}: {error}") from None
    opened = open_tournament(folder, dataset, list(names), titles=names, now=now(), **given)
    if settings["seed"] is not None:
        say("warning: whoever guesses the seed knows every secret of this tournament; omit --seed in a real tournament")
    echo(f"{folder}: {len(names)} teams; hand each its folder in {folder / 'teams'}, keep {folder / 'host'}")
    for phase, end in opened.ends:
        echo(f"phase {phase} ends on {moment_text(end)}")
    if opened.present_until is not None:
        echo(f"presentations may be changed until {moment_text(datetime.fromisoformat(opened.present_until))}")
    if opened.contest is not None:
        echo(f"utility is the {opened.contest.utility} of {', '.join(one.shown for one in opened.contest.measure)}")
    if data is not None:
        echo_notes(table_notes(dataset))


@tournament.command()
@click.argument("file", type=FILE)
@click.option("--original", type=FILE, help="The team's original table, teamX_original.csv, beside tournament.toml.")
@click.option("--released", type=FILE, help="Of an attack: the table that it is about, teamY_anonymized.csv.")
@click.option("--candidates", type=FILE, help="Of an attack: the candidate file, teamY_candidate.csv.")
@click.option(
    "--roles", type=FILE, help="Roles and domains of the columns.  [default: roles.toml beside the original table]"
)
@click.option(
    "--others", type=FILE, help="Other people, used as decoys.  [default: others.csv beside the original table]"
)
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def check(
    file: Path,
    original: Path | None,
    released: Path | None,
    candidates: Path | None,
    roles: Path | None,
    others: Path | None,
    form: str,
) -> None:
    """Check a team's table, and show its utility and how well the host's attacks do.

    The utility is the host's if tournament.toml of the team's folder is beside the original table.

    With --released and --candidates, FILE is a correspondence table: its answers are checked and counted.
    """
    from scenarios.tournament.rules.checking import check, check_answers

    if released is not None and candidates is not None and original is None:
        with listing_problems(as_json=form == "json"):
            notes = check_answers(file, released, candidates)
        echo(json_text({"notes": notes}) if form == "json" else "\n".join(("valid", *notes)))
        return
    if original is None or released is not None or candidates is not None:
        raise ValueError("name --original for a table, or --released and --candidates for an attack")
    with listing_problems(as_json=form == "json"):
        report = check(file, original, roles=roles, others=others)
    show_check(report, form)


@tournament.command()
@on_tournament
@click.argument("team")
@click.argument("files", type=FILE, nargs=-1, required=True)
@click.option("--against", metavar="TEAM", help="Team that the attack targets.  [default: read from the file name]")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def submit(opened: Tournament, team: str, files: Sequence[Path], against: str | None, form: str) -> None:
    """Submit a team's table, or in the attack phase any number of files with its answers about other teams."""
    from scenarios.tournament.rules import InvalidFileError, outcome, submit, submit_all
    from scenarios.tournament.site.deciding import settle

    settle(opened)
    if form == "table" and len(files) == 1:
        with listing_problems():
            show_receipt(submit(opened, team, files[0], now(), against=against))
        return
    outcomes = []
    for one in submit_all(opened, team, files, now(), against=against):
        outcomes.append(one)
        if form == "table" and isinstance(one, ValueError):
            say(f"refused: {one}")
            if isinstance(one, InvalidFileError) and one.total > 1:
                say_problems(one)
        elif form == "table" and not isinstance(one, ValueError):
            show_receipt(one)
    if form == "json":
        echo(json_text([outcome(file.name, one) for file, one in zip(files, outcomes, strict=True)]))
    refused = sum(isinstance(one, ValueError) for one in outcomes)
    refuse(refused and len(files) == 1, "the file was refused")
    refuse(refused, f"{refused} of {len(files)} files were refused, the others are accepted")


@tournament.command()
@decision
@click.option("--early", is_flag=True, help="Allow the phase to close before its announced end.")
def advance(opened: Tournament, *, early: bool) -> str:
    """Close the current phase, publish its submissions and open the next phase."""
    from scenarios.tournament.rules.advancing import advance
    from scenarios.tournament.site.deciding import settle

    settle(opened)
    phase = advance(opened, now(), early=early)
    return f"phase {phase} is open" if phase != "closed" else "the tournament is closed"


@tournament.command()
@on_tournament
@click.option(
    "--public-share",
    type=click.FloatRange(min=0, max=1, min_open=True),
    default=0.5,
    show_default=True,
    help="Share of each table's rows that public scores use until the tournament closes.",
)
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Worker processes.  [default: number of cores]")
@click.option("--format", "form", type=click.Choice(["table", "csv"]), default="table", show_default=True)
@click.option("--retry", is_flag=True, help="Score again what failed before.")
@click.option("--watch", is_flag=True, help="Keep scoring new files as they come, until Ctrl-C.")
def score(opened: Tournament, public_share: float, jobs: int | None, form: str, *, retry: bool, watch: bool) -> None:
    """Score every table against every attacker; write boards and reports."""
    from scenarios.tournament.site.deciding import settle

    opened.check_opening()
    if left := settle(opened):
        say(f"{counted(left, 'upload')} not checked yet by the server; score again later")
    if watch:
        watch_scoring(opened, public_share, jobs, retry=retry)
    else:
        _scored(opened, public_share, jobs, form, retry=retry)


@tournament.command()
@on_tournament
def verify(opened: Tournament) -> None:
    """Verify that log, accepted files and published files are unchanged (exit code 1 if not)."""
    from scenarios.tournament.host.archives import verify

    try:
        echo(verify(opened))
    except ValueError as error:
        say(str(error))
        sys.exit(GATE_FAILED)


@tournament.command()
@click.argument("folder", type=FOLDER)
@click.option("--dataset", "name", default="bank", show_default=True, help="A built-in data set.")
@click.option("--data", type=FILE, help="A table of your own instead (CSV or Parquet).")
@click.option("--roles", type=FILE, help="Roles and domains of its columns.")
@click.option("--originals", type=click.IntRange(min=1), default=100, show_default=True)
@click.option("--candidates", type=click.IntRange(min=2), default=200, show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True)
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Worker processes.  [default: number of cores]")
def simulate(
    folder: Path,
    name: str,
    data: Path | None,
    roles: Path | None,
    originals: int,
    candidates: int,
    seed: int,
    jobs: int | None,
) -> None:
    """Simulate a tournament in which the teams are built-in defenses and attacks."""
    from scenarios.tournament.host.simulation import simulate

    dataset = _dataset(None if data else name, data, roles)
    played = simulate(folder, dataset, originals=originals, candidates=candidates, seed=seed, say=say)
    publish_notices(played)
    _scored(played, 1.0, jobs, "table")


@tournament.command()
@click.argument("reader", type=click.Choice(["host", "team"]))
def guide(reader: str) -> None:
    """Show the guide for hosts or for teams."""
    from importlib import resources

    echo((resources.files("scenarios.tournament") / f"{reader.upper()}.md").read_text(encoding="utf-8"))


def _scored(opened: Tournament, public_share: float, jobs: int | None, form: str, *, retry: bool = False) -> None:
    """Score all tables, write boards and reports, and show the standings."""
    import leaderboard as lb
    from scenarios.running.workers.local_processes import cores
    from scenarios.tournament.host.boards import FOR_THE_HOST, score_all
    from scenarios.tournament.rules.incidents import counted_incidents, tournament_incidents

    boards = score_all(opened, public_share, jobs or cores(), _progress("scoring"), say, retry=retry)
    for reason in boards.warnings:
        say(f"warning: {reason}")
    if boards.secret:
        say(FOR_THE_HOST)
    if form == "csv":
        echo(boards.full.standings_csv(), nl=False)
    else:
        echo(lb.report_to_terminal(boards.sections))
    if failures := counted_incidents(tournament_incidents(opened)):
        say(f"failures so far: {failures}; `tokumei downtime --tournament {opened.folder}` shows how long they lasted")
    everybody = f"{opened.public} (for everybody) and " if boards.published else ""
    say(f"boards written to {everybody}{opened.host} (for the host)")
    if not boards.published:
        say(f"the public boards stay as they are until it is time. {opened.settings.publication}")


def _adopt_hashes(folder: Path) -> None:
    """Log the hashes of a tournament that an earlier version opened, and say so."""
    from scenarios.tournament.rules import Tournament, adopt_hashes

    adopted = Tournament(folder)
    count = adopt_hashes(adopted, now())
    publish_notices(adopted)
    echo(f"{folder}: the hashes of {counted(count, 'file')} are logged; `verify` names each later change")


def _progress(what: str) -> Callable[[int, int], None]:
    """A callback that writes progress to standard error, at most one line for each 5 %."""

    def show(done: int, total: int) -> None:
        if done == total or done * 20 // total > (done - 1) * 20 // total:
            say(f"{what}: {done} of {total} tables")

    return show


def _dataset(name: str | None, data: Path | None, roles: Path | None, reading: dict[str, Any] | None = None) -> Dataset:
    """A built-in data set by name, or the user's own table."""
    from scenarios.datasets import load
    from scenarios.tables.dataset import load_table

    refuse((name is None) == (data is None), "name the records by one of --dataset and --data")
    if data is not None:
        return load_table(data, roles, reading=reading)
    refuse(roles, "--roles describes a table of your own; name it with --data")
    refuse(reading, "how a table is read concerns one of your own; name it with --data")
    return load(str(name))
