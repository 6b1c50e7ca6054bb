"""``tokumei tournament``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from leaderboard.pages.number_text import counted
from scenarios.commands.common import GATE_FAILED, bad_input, echo
from scenarios.commands.tournament_host import COMMANDS, publish_notices, watch_scoring
from scenarios.commands.tournament_site import invite, serve
from scenarios.commands.tournament_texts import (
    check_all_accepted,
    check_one_target,
    listing_problems,
    say_problems,
    show_outcomes,
    show_receipt,
)
from scenarios.tables.toml.json_text import json_text

if TYPE_CHECKING:
    from scenarios.tables.dataset import Dataset

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
FOLDER = click.Path(file_okay=False, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)


@click.group(epilog=EPILOG)
def tournament() -> None:
    """Hold a tournament: teams submit anonymized tables and attacks, the host scores them."""


for command in (*COMMANDS, invite, serve):
    tournament.add_command(command)


@tournament.command()
@click.argument("folder", type=FOLDER)
@click.option("--dataset", "name", help="A built-in data set (`tokumei list datasets`).")
@click.option("--data", type=FILE, help="A table of your own instead (CSV or Parquet).")
@click.option("--roles", type=FILE, help="Roles and domains of its columns.")
@click.option("--teams", type=FILE, required=True, help="Text file with one team a line: NAME, or NAME,TITLE.")
@click.option("--title", help="Title of the tournament, in any script.  [default: that of the data set]")
@click.option("--originals", type=click.IntRange(min=1), default=100, show_default=True, help="Rows of a team's table.")
@click.option(
    "--candidates", type=click.IntRange(min=2), default=200, show_default=True, help="Rows of its candidates."
)
@click.option("--decoys", type=click.Choice(["random", "hard"]), default="random", show_default=True)
@click.option(
    "--rounds", type=click.IntRange(1, 2), default=1, show_default=True, help="Number of rounds of anonymization."
)
@click.option("--anonymize-until", required=True, metavar="MOMENT", help="End of the first phase (ISO 8601).")
@click.option("--anonymize-again-until", metavar="MOMENT", help="End of the second round.")
@click.option("--attack-until", required=True, metavar="MOMENT", help="End of the attack phase.")
@click.option(
    "--quota",
    type=click.IntRange(min=1),
    metavar="BYTES",
    help="Most bytes that are kept of a team's files.  [default: 64 MiB]",
)
@click.option("--hide-standings", is_flag=True, help="Show standings to the host alone until the close.")
@click.option(
    "--seed", type=click.IntRange(min=0), help="Seed of all secrets.  [default: drawn from the operating system]"
)
def init(folder: Path, name: str | None, data: Path | None, roles: Path | None, teams: Path, **settings: Any) -> None:
    """Create the folder of a tournament, with a subfolder for each team and one for the host alone.

    A MOMENT without a time is the end of that day. Without a zone, it is in the zone of this machine.
    """
    with bad_input():
        from scenarios.tournament.rules.opening import open_tournament, read_teams
        from scenarios.tournament.rules.settings import moment_text

        dataset = _dataset(name, data, roles)
        names = read_teams(teams)
        given = {option: value for option, value in settings.items() if option != "quota" or value is not None}
        opened = open_tournament(folder, dataset, list(names), titles=names, now=_now(), **given)
    if settings["seed"] is not None:
        _say(
            "warning: whoever guesses the seed knows every secret of this tournament; omit --seed in a real tournament"
        )
    echo(f"{folder}: {len(names)} teams; hand each its folder in {folder / 'teams'}, keep {folder / 'host'}")
    for phase, end in opened.ends:
        echo(f"phase {phase} ends on {moment_text(end)}")


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
    with bad_input():
        from scenarios.tournament.rules.checking import check as check_table
        from scenarios.tournament.rules.checking import check_answers

        if released is not None and candidates is not None and original is None:
            with listing_problems(as_json=form == "json"):
                notes = check_answers(file, released, candidates)
            echo(json_text({"notes": notes}) if form == "json" else "\n".join(("valid", *notes)))
            return
        if original is None or released is not None or candidates is not None:
            raise ValueError("name --original for a table, or --released and --candidates for an attack")
        with listing_problems(as_json=form == "json"):
            report = check_table(file, original, roles=roles, others=others)
    from scenarios.tournament.rules.check_report import check_report_to_json, check_report_to_terminal

    echo(check_report_to_json(report) if form == "json" else check_report_to_terminal(report))


@tournament.command()
@click.argument("folder", type=FOLDER)
@click.argument("team")
@click.argument("files", type=FILE, nargs=-1, required=True)
@click.option("--against", metavar="TEAM", help="Team that the attack targets.  [default: read from the file name]")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def submit(folder: Path, team: str, files: Sequence[Path], against: str | None, form: str) -> None:
    """Submit a team's table, or in the attack phase any number of files with its answers about other teams."""
    with bad_input():
        from scenarios.tournament.rules.folder import Tournament
        from scenarios.tournament.rules.problems import InvalidFileError
        from scenarios.tournament.rules.submitting import submit as submit_file
        from scenarios.tournament.rules.submitting import submit_all
        from scenarios.tournament.site.deciding import settle

        opened = Tournament(folder)
        settle(opened)
        if form == "json":
            show_outcomes(opened, team, files, _now(), against)
            return
        if len(files) == 1:
            with listing_problems():
                show_receipt(submit_file(opened, team, files[0], _now(), against=against))
            return
        check_one_target(files, against)
        refused = 0
        for outcome in submit_all(opened, team, files, _now()):
            if isinstance(outcome, ValueError):
                _say(f"refused: {outcome}")
                if isinstance(outcome, InvalidFileError) and outcome.total > 1:
                    say_problems(outcome)
                refused += 1
            else:
                show_receipt(outcome)
        check_all_accepted(refused, len(files))


@tournament.command()
@click.argument("folder", type=FOLDER)
@click.option("--early", is_flag=True, help="Allow the phase to close before its announced end.")
def advance(folder: Path, *, early: bool) -> None:
    """Close the current phase, publish its submissions and open the next phase."""
    with bad_input():
        from scenarios.tournament.rules.advancing import advance as advance_phase
        from scenarios.tournament.rules.folder import Tournament
        from scenarios.tournament.site.deciding import settle

        opened = Tournament(folder)
        settle(opened)
        now_open = advance_phase(opened, _now(), early=early)
        echo(f"phase {now_open} is open" if now_open != "closed" else "the tournament is closed")
        publish_notices(opened)


@tournament.command()
@click.argument("folder", type=FOLDER)
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
def score(folder: Path, public_share: float, jobs: int | None, form: str, *, retry: bool, watch: bool) -> None:
    """Score every table against every attacker; write boards and reports."""
    with bad_input():
        from scenarios.tournament.rules.folder import Tournament
        from scenarios.tournament.site.deciding import settle

        opened = Tournament(folder)
        opened.check_opening()
        if left := settle(opened):
            _say(f"{counted(left, 'upload')} not checked yet by the server; score again later")
        if watch:
            watch_scoring(opened, public_share, jobs, retry=retry)
        else:
            _scored(opened, public_share, jobs, form, retry=retry)


@tournament.command()
@click.argument("folder", type=FOLDER)
def verify(folder: Path) -> None:
    """Verify that log, accepted files and published files are unchanged (exit code 1 if not)."""
    from scenarios.tournament.host.verifying import verify as verify_folder
    from scenarios.tournament.rules.folder import Tournament

    with bad_input():
        opened = Tournament(folder)
    try:
        verdict = verify_folder(opened)
    except ValueError as error:
        echo(str(error), err=True)
        sys.exit(GATE_FAILED)
    echo(verdict)


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
    with bad_input():
        from scenarios.tournament.host.simulation import simulate as simulate_all

        dataset = _dataset(None if data else name, data, roles)
        played = simulate_all(folder, dataset, originals=originals, candidates=candidates, seed=seed, say=_say)
        publish_notices(played)
        _scored(played, 1.0, jobs, "table")


@tournament.command()
@click.argument("reader", type=click.Choice(["host", "team"]))
def guide(reader: str) -> None:
    """Show the guide for hosts or for teams."""
    from importlib import resources

    text = (resources.files("scenarios.tournament") / f"{reader.upper()}.md").read_text(encoding="utf-8")
    echo(text)


def _scored(opened: Any, public_share: float, jobs: int | None, form: str, *, retry: bool = False) -> None:
    """Score all tables, write boards and reports, and show the standings."""
    from scenarios.running.workers.local import cores
    from scenarios.tournament.host.boards import (
        FOR_THE_HOST,
        failures_table,
        standings_csv,
        standings_table,
        what_counts,
    )
    from scenarios.tournament.host.updating import PhaseChangedError, scored_phase, shares_in, write_all
    from scenarios.tournament.rules.advancing import publish_again
    from scenarios.tournament.rules.incidents import counted_incidents, record_scoring, tournament_incidents
    from scenarios.tournament.rules.scoring import score_shares

    phase = scored_phase(opened)
    shares = shares_in(phase, public_share)
    publish_again(opened)
    began = _now()
    try:
        scored = score_shares(opened, shares, jobs or cores(), _progress("scoring"), retry=retry)
    except Exception:
        record_scoring(opened, began, _now(), failed=True)
        raise
    record_scoring(opened, began, _now(), failed=False)
    try:
        boards = write_all(opened, phase, scored[1.0], scored[shares[0]], shares[0])
    except PhaseChangedError as error:
        _say(str(error))
        _scored(opened, public_share, jobs, form, retry=retry)
        return
    for reason in boards.warnings:
        _say(f"warning: {reason}")
    secret = not boards.closed and (shares[0] < 1 or opened.settings.hide_standings)
    if secret:
        _say(FOR_THE_HOST)
    if form == "csv":
        echo(standings_csv(boards.ordered, boards.titles, closed=boards.closed, partial=boards.partial), nl=False)
    else:
        import leaderboard as lb

        counts = what_counts(1.0, closed=boards.closed, partial=boards.partial)
        table = standings_table(boards.ordered, boards.titles, counts)
        about = f"{opened.settings.title}, for the host only" if secret else opened.settings.title
        sections = [lb.Section(about, tables=(table,))]
        if boards.failed:
            sections.append(lb.Section("Failed scorings", tables=(failures_table(boards.failed),)))
        echo(lb.report_to_terminal(sections))
    if failures := counted_incidents(tournament_incidents(opened)):
        _say(f"failures so far: {failures}; `tokumei downtime --tournament {opened.folder}` shows how long they lasted")
    _say(f"boards written to {opened.public} (for everybody) and {opened.host} (for the host)")


def _progress(what: str) -> Callable[[int, int], None]:
    """A callback that writes progress to standard error, at most one line for each 5 %."""

    def show(done: int, total: int) -> None:
        if done == total or done * 20 // total > (done - 1) * 20 // total:
            _say(f"{what}: {done} of {total} tables")

    return show


def _say(text: str) -> None:
    echo(text, err=True)


def _dataset(name: str | None, data: Path | None, roles: Path | None) -> Dataset:
    """A built-in data set by name, or the user's own table."""
    from scenarios.datasets import load
    from scenarios.tables.dataset import load_table

    if (name is None) == (data is None):
        raise ValueError("name the records by one of --dataset and --data")
    if data is not None:
        return load_table(data, roles)
    if roles is not None:
        raise ValueError("--roles describes a table of your own; name it with --data")
    return load(str(name))


def _now() -> datetime:
    return datetime.now(UTC)
