"""Commands of ``tokumei tournament`` for the host's decisions: deadlines, late files, disqualification, messages."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from leaderboard.pages.number_text import counted
from scenarios.commands.common import bad_input, echo
from scenarios.commands.tournament_texts import listing_problems, show_receipt

if TYPE_CHECKING:
    from scenarios.tournament.rules.folder import Tournament

FOLDER = click.Path(file_okay=False, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)
PHASES = click.Choice(["anonymize", "anonymize-again", "attack"])
reason_option = click.option("--reason", required=True, help="Reason, which everybody sees.")


@click.command()
@click.argument("folder", type=FOLDER)
@click.argument("phase", type=PHASES)
@click.argument("until", metavar="MOMENT")
@reason_option
def extend(folder: Path, phase: str, until: str, reason: str) -> None:
    """Move the end of the current or a later phase to a later MOMENT (ISO 8601).

    A date without a time is the end of that day. Without a zone, MOMENT is in the zone of this machine.
    """
    from scenarios.tournament.host.deadlines import extend as extend_phase
    from scenarios.tournament.rules.settings import Phase, moment_text

    with bad_input():
        tournament = _opened(folder)
        end = extend_phase(tournament, Phase(phase), until, reason, _now())
        echo(f"phase {phase} ends on {moment_text(end)}")
        publish_notices(tournament)


@click.command()
@click.argument("folder", type=FOLDER)
@click.argument("phase", type=PHASES)
@click.argument("until", metavar="MOMENT")
@reason_option
def reopen(folder: Path, phase: str, until: str, reason: str) -> None:
    """Open an earlier phase again until MOMENT (ISO 8601).

    A date without a time is the end of that day. Without a zone, MOMENT is in the zone of this machine.
    """
    from scenarios.tournament.host.deadlines import reopen as reopen_phase
    from scenarios.tournament.rules.settings import Phase, moment_text

    with bad_input():
        tournament = _opened(folder)
        end = reopen_phase(tournament, Phase(phase), until, reason, _now())
        echo(f"phase {phase} is open again until {moment_text(end)}")
        publish_notices(tournament)


@click.command()
@click.argument("folder", type=FOLDER)
@click.argument("team")
@click.argument("file", type=FILE)
@click.option("--against", metavar="TEAM", help="Team that the attack targets.  [default: read from the file name]")
@reason_option
def admit(folder: Path, team: str, file: Path, against: str | None, reason: str) -> None:
    """Admit a late FILE of TEAM; it must obey all other rules."""
    from scenarios.tournament.host.late import admit as admit_late
    from scenarios.tournament.rules.sheets import read_submission

    with bad_input():
        tournament = _opened(folder)
        with listing_problems():
            data = read_submission(file)
            show_receipt(admit_late(tournament, team, file.name, data, reason, _now(), against=against))
        publish_notices(tournament)


@click.command()
@click.argument("folder", type=FOLDER)
@click.argument("team")
@click.argument("number", type=click.IntRange(min=1))
def take(folder: Path, team: str, number: int) -> None:
    """Take an older submission of TEAM into force again; NUMBER is that of its entry, as `submit` showed it."""
    from scenarios.tournament.rules.submitting import take_into_force
    from scenarios.tournament.site.deciding import settle

    with bad_input():
        tournament = _opened(folder)
        settle(tournament)
        one = take_into_force(tournament, team, number, _now())
    kind = "table" if one.against is None else f"attack on {one.against}"
    echo(f"in force: {team}'s {kind} of entry {number}, content {one.content[:16]}")


@click.command()
@click.argument("folder", type=FOLDER)
@click.argument("team")
@reason_option
def disqualify(folder: Path, team: str, reason: str) -> None:
    """Disqualify TEAM: its files do not count, and standings say why."""
    from scenarios.tournament.host.late import disqualify as disqualify_team

    with bad_input():
        tournament = _opened(folder)
        disqualify_team(tournament, team, reason, _now())
        echo(f"team {team} is disqualified; `readmit` takes it back")
        publish_notices(tournament)


@click.command()
@click.argument("folder", type=FOLDER)
@click.argument("team")
@reason_option
def readmit(folder: Path, team: str, reason: str) -> None:
    """Readmit a disqualified TEAM: its files count again."""
    from scenarios.tournament.host.late import readmit as readmit_team

    with bad_input():
        tournament = _opened(folder)
        readmit_team(tournament, team, reason, _now())
        echo(f"team {team} takes part again")
        publish_notices(tournament)


@click.command()
@click.argument("folder", type=FOLDER)
@click.argument("text")
def message(folder: Path, text: str) -> None:
    """Post TEXT to everybody: it is logged, and written to public/NOTICES.md."""
    from scenarios.tournament.host.messages import post

    with bad_input():
        tournament = _opened(folder)
        notice = post(tournament, text, _now())
        echo(f"posted as entry {notice.number}")
        publish_notices(tournament)


@click.command()
@click.argument("folder", type=FOLDER)
@click.argument("team")
@click.argument("text", metavar="TITLE")
def title(folder: Path, team: str, text: str) -> None:
    """Give TEAM a TITLE in any script, which standings show."""
    from scenarios.tournament.host.titles import give_title

    with bad_input():
        echo(f"team {team} is called {give_title(_opened(folder), team, text, _now())}")


@click.command()
@click.argument("folder", type=FOLDER)
@click.argument("team")
@click.argument("file", metavar="TEXT.MD", type=FILE)
@click.option("--picture", type=FILE, help="A PNG or JPEG file; without it the presentation has no picture.")
def present(folder: Path, team: str, file: Path, picture: Path | None) -> None:
    """Store the presentation of TEAM: a text in Markdown, which the site shows after the close."""
    from scenarios.tables.toml.toml_file import read_bytes
    from scenarios.tournament.host.presenting import present as store_presentation

    with bad_input():
        try:
            text = read_bytes(file).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ValueError(f"{file}: is no UTF-8 text") from None
        image = None if picture is None else read_bytes(picture)
        store_presentation(_opened(folder), team, text, image, _now())
        echo(f"the presentation of {team} is stored; the site shows it after the close")


@click.command()
@click.argument("folder", type=FOLDER)
@click.argument("team")
@click.argument("file", type=FILE)
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def preview(folder: Path, team: str, file: Path, form: str) -> None:
    """Preview a table of TEAM: utility and built-in attacks; nothing is recorded."""
    from scenarios.commands.tournament_texts import listing_problems
    from scenarios.tournament.host.preview import preview as preview_table
    from scenarios.tournament.rules.check_report import check_report_to_json, check_report_to_terminal
    from scenarios.tournament.rules.sheets import read_submission

    with bad_input(), listing_problems(as_json=form == "json"):
        report = preview_table(_opened(folder), team, file.name, read_submission(file))
    echo(check_report_to_json(report) if form == "json" else check_report_to_terminal(report))


@click.command()
@click.argument("folder", type=FOLDER)
@click.argument("team", required=False)
def status(folder: Path, team: str | None) -> None:
    """Show the phase and what each team has submitted, or all submissions of TEAM."""
    import leaderboard as lb
    from scenarios.tournament.host.status import team_status, tournament_status

    with bad_input():
        tournament = _opened(folder)
        section = tournament_status(tournament) if team is None else team_status(tournament, team)
    echo(lb.report_to_terminal([section]))


@click.command()
@click.argument("folder", type=FOLDER)
@click.option("-o", "--output", type=FILE, required=True, help="The zip archive, a new file.")
@click.option("--all", "everything", is_flag=True, help="Also what the host alone may see, except the secret seed.")
@click.option("--codabench", is_flag=True, help="Write a competition bundle for Codabench, which only you may read.")
@click.option("--docker-image", "image", metavar="NAME", help="Image in which a bundle's scoring program runs.")
@click.option(
    "--public-share",
    type=click.FloatRange(min=0, max=1, min_open=True),
    default=0.5,
    show_default=True,
    help="Share of each table's rows that a bundle scores until the tournament closes.",
)
def export(
    folder: Path, output: Path, *, everything: bool, codabench: bool, image: str | None, public_share: float
) -> None:
    """Export what is public, or everything, as one zip archive, or a competition bundle for Codabench."""
    with bad_input():
        if codabench and everything:
            raise ValueError("use either --all or --codabench")
        if (image is not None) != codabench:
            raise ValueError(
                "--codabench needs --docker-image NAME, an image that you build from the bundle's image/Dockerfile"
                if codabench
                else "--docker-image is for --codabench"
            )
        if codabench:
            from scenarios.tournament.codabench.bundle import export_codabench

            count = export_codabench(_opened(folder), output, str(image), public_share)
        else:
            from scenarios.tournament.host.exporting import export as export_all

            count = export_all(_opened(folder), output, everything=everything)
    echo(f"{output}: {counted(count, 'file')}{'; keep it secret' if everything or codabench else ''}")
    if codabench:
        echo("README.md in it has the next steps")


@click.command()
@click.argument("folder", type=FOLDER)
@click.option("-o", "--output", type=FILE, required=True, help="The tar archive, a new file outside the folder.")
def backup(folder: Path, output: Path) -> None:
    """Back up the whole folder; files may be submitted and scored meanwhile."""
    from scenarios.tournament.host.backup import backup as back_up

    with bad_input():
        count = back_up(_opened(folder), output)
    echo(f"{output}: the tournament as of entry {count}; keep it secret")


@click.command()
@click.argument("archive", type=FILE)
@click.argument("folder", type=FOLDER)
def restore(archive: Path, folder: Path) -> None:
    """Restore a backup into a new FOLDER, and verify it."""
    from scenarios.tournament.host.backup import restore as restore_folder

    with bad_input():
        echo(restore_folder(archive, folder))


def watch_scoring(tournament: Tournament, share: float, jobs: int | None, *, retry: bool) -> None:
    """Score whatever is submitted, until an interrupt."""
    from scenarios.tournament.host.scoring_queue import ScoringQueue

    queue: ScoringQueue

    def say() -> None:
        state = queue.progress()
        failed = f", {counted(len(state.failed), 'result')} failed" if state.failed else ""
        echo(f"{state.updated}: boards written; {counted(state.waiting, 'table')} waiting{failed}", err=True)

    queue = ScoringQueue(tournament.folder, jobs=jobs, share=share, on_update=say)
    queue.start()
    try:
        queue.wake(retry=retry)
        threading.Event().wait()
    finally:
        queue.stop()


def _opened(folder: Path) -> Tournament:
    from scenarios.tournament.rules.folder import Tournament

    return Tournament(folder)


def publish_notices(tournament: Tournament) -> None:
    """Write what everybody should read; the log has it in any case."""
    from scenarios.tournament.host.messages import write_notices

    for reason in write_notices(tournament):
        echo(f"warning: {reason}", err=True)


def _now() -> datetime:
    return datetime.now(UTC)


COMMANDS = (
    *(extend, reopen, admit, take, disqualify, readmit, message, title, present),
    *(preview, status, export, backup, restore),
)
