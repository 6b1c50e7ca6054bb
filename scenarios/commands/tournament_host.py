"""Commands of ``tokumei tournament`` for the host: deadlines, late files, disqualification, messages, and the site."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
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
from scenarios.running.workers.fork_server import start_server

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
    from scenarios.tournament.rules import preview, read_submission

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
    count = (
        export_codabench(tournament, output, str(image), public_share)
        if codabench
        else export(tournament, output, everything=everything)
    )
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


# The site, and invitations to it.


_URL = "http://127.0.0.1:8000"


@click.command()
@click.argument("folder", type=FOLDER)
@click.option("--address", default="127.0.0.1:8000", show_default=True, metavar="HOST:PORT", help="Where to listen.")
@click.option(
    "--trust-proxy",
    "proxy",
    is_flag=False,
    flag_value="127.0.0.1",
    metavar="[ADDRESSES]",
    help="A proxy does TLS. Its addresses, with commas between them; 127.0.0.1 if none is given.",
)
@click.option("--tls-certificate", "certificate", type=FILE, help="Certificate chain (PEM).")
@click.option("--tls-key", "key", type=FILE, help="Its private key (PEM).")
@click.option(
    "-j", "--jobs", type=click.IntRange(min=1), default=2, show_default=True, help="Worker processes for uploads."
)
@click.option(
    "--scoring-jobs", type=click.IntRange(min=0), help="Worker processes for scoring; 0 leaves it to `score`."
)
@click.option(
    "--public-share",
    type=click.FloatRange(min=0, max=1, min_open=True),
    default=0.5,
    show_default=True,
    help="Share of each table's rows that public scores use until the tournament closes.",
)
@click.option(
    "--advance/--no-advance",
    "advances",
    default=True,
    show_default=True,
    help="Close each phase at its end and open the next one, or leave it to the host.",
)
def serve(
    folder: Path,
    address: str,
    proxy: str | None,
    certificate: Path | None,
    key: Path | None,
    jobs: int,
    scoring_jobs: int | None,
    public_share: float,
    *,
    advances: bool,
) -> None:
    """Serve the tournament as a web site: teams upload, everybody watches."""
    with _server_extra(), _private_files():
        from scenarios.tournament.rules.settings import read_settings
        from scenarios.tournament.site.application import check_exposure, parsed_address

        check_exposure(parsed_address(address)[0], proxy=proxy, certificate=certificate, key=key)
        read_settings(folder)
        # Workers load their packages while this process loads its own.
        start_server()

        from scenarios.tournament.host.scoring_queue import ScoringQueue
        from scenarios.tournament.site.account_store import remember_address, without_password
        from scenarios.tournament.site.application import serve as serve_site

        waiting = without_password(folder, datetime.now(UTC))

        def announce(port: int) -> None:
            listening = f"{'https' if certificate else 'http'}://{address.rpartition(':')[0]}:{port}"
            remember_address(folder, listening)
            echo(f"serving {folder} at {listening}; stop with Ctrl-C")
            if waiting:
                some = ", ".join(waiting[:20]) + (", …" if len(waiting) > 20 else "")
                echo(f"without a password yet: {some}; `tokumei tournament invite {folder} NAME` makes a link")

        scores = scoring_jobs != 0
        scoring = ScoringQueue(folder, jobs=scoring_jobs, share=public_share) if scores else None
        serve_site(
            folder,
            address,
            proxy=proxy,
            certificate=certificate,
            key=key,
            processes=jobs,
            advances=advances,
            scoring=scoring,
            announce=announce,
        )


@click.command()
@click.argument("folder", type=FOLDER)
@click.argument("names", nargs=-1, metavar="[TEAM]...")
@click.option("--all", "everybody", is_flag=True, help="All teams that have neither a password nor a valid link.")
@click.option("--host", "host", is_flag=True, help="The host.")
@click.option("--days", type=click.FloatRange(min=0, min_open=True, max=366), default=14, show_default=True)
@click.option("--url", help=f"Address of the site.  [default: where `serve` listened last, else {_URL}]")
@click.option("--html", type=FILE, help="Write a page to print, which only you can read.")
@click.option("--language", type=click.Choice(["en", "ja"]), default="en", help="Language of that page.")
def invite(
    folder: Path,
    names: Sequence[str],
    *,
    everybody: bool,
    host: bool,
    days: float,
    url: str | None,
    html: Path | None,
    language: str,
) -> None:
    """Make one-time links by which teams set a password, also when it is lost.

    A new link replaces an unused one. The old password holds until the link is used.
    """
    with _server_extra():
        from metrics.columns import write_atomically
        from scenarios.tournament.rules.folder import Tournament
        from scenarios.tournament.site.account_store import (
            host_name,
            invitations_page,
            served_address,
            skipped,
            team_accounts,
        )
        from scenarios.tournament.site.account_store import invite as issue

        now = datetime.now(UTC)
        settings = Tournament(folder).settings
        users = [host_name(settings.teams)] if host else []
        others = {team: state for team, state in team_accounts(folder, now).items() if team not in names}
        users += [*names, *(team for team, state in others.items() if everybody and not state)]
        refuse(not users and not everybody, "whom? Name teams, or use --all or --host")
        served = served_address(folder)
        leads = url or served or _URL
        invitations = issue(folder, list(dict.fromkeys(users)), now, address=leads, lifetime=timedelta(days=days))
        if html is not None:
            write_atomically(html, invitations_page(settings.title, invitations, language).encode())
    if html is None:
        for one in invitations:
            echo(one.line)
    else:
        them = "it is" if len(invitations) == 1 else "they are"
        echo(f"{counted(len(invitations), 'invitation')} written to {html}; remove it once {them} handed out")
    if invitations and url is None:
        where = "where `serve` listened last" if served else "where `serve` listens by default"
        echo(f"links lead to {leads}, {where}; if teams use another address, give it by --url", err=True)
    if everybody and (reasons := skipped(others)):
        count = sum(map(bool, others.values()))
        what = f"skipped {count} team{'s' * (count != 1)}" if invitations else "no team needs a link"
        echo(f"{what}: {reasons}; `tokumei tournament invite {folder} TEAM` makes a new link", err=True)


@contextmanager
def _server_extra() -> Iterator[None]:
    """Say which extra is missing.

    Raises ValueError if a package of the server is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] in {"metrics", "scenarios", "leaderboard"}:
            raise
        raise ValueError(f"the site needs {error.name}; pip install 'tokumei[server]' installs it") from None


@contextmanager
def _private_files() -> Iterator[None]:
    """Let nobody but the owner read new files, also those of processes that are started meanwhile."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


if TYPE_CHECKING:
    from scenarios.tournament.rules.folder import Tournament


COMMANDS = (
    *(extend, reopen, admit, take, disqualify, readmit, message, title, present),
    *(preview, status, export, backup, restore, serve, invite),
)
