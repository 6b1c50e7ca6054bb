"""Commands of ``tokumei tournament`` for the host's decisions: deadlines, late files, disqualification, messages."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

import click

from leaderboard.pages.number_text import counted
from metrics.columns import refuse
from scenarios.commands.common import echo
from scenarios.commands.tournament_texts import (
    FILE,
    FOLDER,
    decision,
    listing_problems,
    now,
    on_tournament,
    publish_notices,
    say,
    show_check,
    show_receipt,
)

if TYPE_CHECKING:
    from scenarios.tournament.rules.folder import Tournament

PHASES = click.Choice(["anonymize", "anonymize-again", "attack"])
reason_option = click.option("--reason", required=True, help="Reason, which everybody sees.")


@click.command()
@decision
@click.argument("phase", type=PHASES)
@click.argument("until", metavar="MOMENT")
@reason_option
def extend(tournament: Tournament, phase: str, until: str, reason: str) -> str:
    """Move the end of the current or a later phase to a later MOMENT (ISO 8601).

    A date without a time is the end of that day. Without a zone, MOMENT is in the zone of this machine.
    """
    from scenarios.tournament.host.decisions import extend
    from scenarios.tournament.rules.settings import Phase, moment_text

    return f"phase {phase} ends on {moment_text(extend(tournament, Phase(phase), until, reason, now()))}"


@click.command()
@decision
@click.argument("phase", type=PHASES)
@click.argument("until", metavar="MOMENT")
@reason_option
def reopen(tournament: Tournament, phase: str, until: str, reason: str) -> str:
    """Open an earlier phase again until MOMENT (ISO 8601).

    A date without a time is the end of that day. Without a zone, MOMENT is in the zone of this machine.
    """
    from scenarios.tournament.host.decisions import reopen
    from scenarios.tournament.rules.settings import Phase, moment_text

    return f"phase {phase} is open again until {moment_text(reopen(tournament, Phase(phase), until, reason, now()))}"


@click.command()
@on_tournament
@click.argument("team")
@click.argument("file", type=FILE)
@click.option("--against", metavar="TEAM", help="Team that the attack targets.  [default: read from the file name]")
@reason_option
def admit(tournament: Tournament, team: str, file: Path, against: str | None, reason: str) -> None:
    """Admit a late FILE of TEAM; it must obey all other rules."""
    from scenarios.tournament.host.decisions import admit
    from scenarios.tournament.rules.sheets import read_submission

    with listing_problems():
        show_receipt(admit(tournament, team, file.name, read_submission(file), reason, now(), against=against))
    publish_notices(tournament)


@click.command()
@on_tournament
@click.argument("team")
@click.argument("number", type=click.IntRange(min=1))
def take(tournament: Tournament, team: str, number: int) -> None:
    """Take an older submission of TEAM into force again; NUMBER is that of its entry, as `submit` showed it."""
    from scenarios.tournament.rules.submitting import take_into_force
    from scenarios.tournament.site.deciding import settle

    settle(tournament)
    one = take_into_force(tournament, team, number, now())
    echo(f"in force: {team}'s {one.kind} of entry {number}, content {one.content[:16]}")


@click.command()
@decision
@click.argument("team")
@reason_option
def disqualify(tournament: Tournament, team: str, reason: str) -> str:
    """Disqualify TEAM: its files do not count, and standings say why."""
    from scenarios.tournament.host.decisions import disqualify

    disqualify(tournament, team, reason, now())
    return f"team {team} is disqualified; `readmit` takes it back"


@click.command()
@decision
@click.argument("team")
@reason_option
def readmit(tournament: Tournament, team: str, reason: str) -> str:
    """Readmit a disqualified TEAM: its files count again."""
    from scenarios.tournament.host.decisions import readmit

    readmit(tournament, team, reason, now())
    return f"team {team} takes part again"


@click.command()
@decision
@click.argument("text")
def message(tournament: Tournament, text: str) -> str:
    """Post TEXT to everybody: it is logged, and written to public/NOTICES.md."""
    from scenarios.tournament.host.decisions import post

    return f"posted as entry {post(tournament, text, now()).number}"


@click.command()
@on_tournament
@click.argument("team")
@click.argument("text", metavar="TITLE")
def title(tournament: Tournament, team: str, text: str) -> None:
    """Give TEAM a TITLE in any script, which standings show."""
    from scenarios.tournament.host.decisions import give_title

    echo(f"team {team} is called {give_title(tournament, team, text, now())}")


@click.command()
@on_tournament
@click.argument("team")
@click.argument("file", metavar="TEXT.MD", type=FILE)
@click.option("--picture", type=FILE, help="A PNG or JPEG file; without it the presentation has no picture.")
def present(tournament: Tournament, team: str, file: Path, picture: Path | None) -> None:
    """Store the presentation of TEAM: a text in Markdown, which the site shows after the close."""
    from scenarios.tables.toml.toml_file import read_bytes, read_text
    from scenarios.tournament.host.presenting import present

    image = None if picture is None else read_bytes(picture)
    present(tournament, team, read_text(file, read_bytes(file)), image, now())
    echo(f"the presentation of {team} is stored; the site shows it after the close")


@click.command()
@on_tournament
@click.argument("team")
@click.argument("file", type=FILE)
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def preview(tournament: Tournament, team: str, file: Path, form: str) -> None:
    """Preview a table of TEAM: utility and built-in attacks; nothing is recorded."""
    from scenarios.tournament.rules.checking import preview
    from scenarios.tournament.rules.sheets import read_submission

    with listing_problems(as_json=form == "json"):
        report = preview(tournament, team, file.name, read_submission(file))
    show_check(report, form)


@click.command()
@on_tournament
@click.argument("team", required=False)
def status(tournament: Tournament, team: str | None) -> None:
    """Show the phase and what each team has submitted, or all submissions of TEAM."""
    import leaderboard as lb
    from scenarios.tournament.host.boards import team_status, tournament_status

    echo(lb.report_to_terminal([tournament_status(tournament) if team is None else team_status(tournament, team)]))


@click.command()
@on_tournament
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
    tournament: Tournament, output: Path, *, everything: bool, codabench: bool, image: str | None, public_share: float
) -> None:
    """Export what is public, or everything, as one zip archive, or a competition bundle for Codabench."""
    from scenarios.tournament.codabench.bundle import export_codabench
    from scenarios.tournament.host.archives import export

    refuse(codabench and everything, "use either --all or --codabench")
    refuse(
        codabench and image is None,
        "--codabench needs --docker-image NAME, an image that you build from the bundle's image/Dockerfile",
    )
    refuse(image is not None and not codabench, "--docker-image is for --codabench")
    if codabench:
        count = export_codabench(tournament, output, str(image), public_share)
    else:
        count = export(tournament, output, everything=everything)
    echo(f"{output}: {counted(count, 'file')}{'; keep it secret' if everything or codabench else ''}")
    if codabench:
        echo("README.md in it has the next steps")


@click.command()
@on_tournament
@click.option("-o", "--output", type=FILE, required=True, help="The tar archive, a new file outside the folder.")
def backup(tournament: Tournament, output: Path) -> None:
    """Back up the whole folder; files may be submitted and scored meanwhile."""
    from scenarios.tournament.host.archives import backup

    echo(f"{output}: the tournament as of entry {backup(tournament, output)}; keep it secret")


@click.command()
@click.argument("archive", type=FILE)
@click.argument("folder", type=FOLDER)
def restore(archive: Path, folder: Path) -> None:
    """Restore a backup into a new FOLDER, and verify it."""
    from scenarios.tournament.host.archives import restore

    echo(restore(archive, folder))


def watch_scoring(tournament: Tournament, share: float, jobs: int | None, *, retry: bool) -> None:
    """Score whatever is submitted, until an interrupt."""
    from scenarios.tournament.host.scoring_queue import ScoringQueue

    queue: ScoringQueue

    def show() -> None:
        state = queue.progress()
        failed = f", {counted(len(state.failed), 'result')} failed" if state.failed else ""
        say(f"{state.updated}: boards written; {counted(state.waiting, 'table')} waiting{failed}")

    queue = ScoringQueue(tournament.folder, jobs=jobs, share=share, on_update=show)
    queue.start()
    try:
        queue.wake(retry=retry)
        threading.Event().wait()
    finally:
        queue.stop()


COMMANDS = (
    *(extend, reopen, admit, take, disqualify, readmit, message, title, present),
    *(preview, status, export, backup, restore),
)
