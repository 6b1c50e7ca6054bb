"""``tokumei tournament serve`` and ``invite``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from leaderboard.pages.number_text import counted
from metrics.columns import refuse
from scenarios.commands.common import echo
from scenarios.commands.tournament_texts import FILE, FOLDER
from scenarios.running.workers.fork_server import start_server

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

        from scenarios.tournament.site.account_store import remember_address, without_password
        from scenarios.tournament.site.application import serve as serve_site
        from scenarios.tournament.site.workers import BackgroundScoring

        waiting = without_password(folder, datetime.now(UTC))

        def announce(port: int) -> None:
            listening = f"{'https' if certificate else 'http'}://{address.rpartition(':')[0]}:{port}"
            remember_address(folder, listening)
            echo(f"serving {folder} at {listening}; stop with Ctrl-C")
            if waiting:
                some = ", ".join(waiting[:20]) + (", …" if len(waiting) > 20 else "")
                echo(f"without a password yet: {some}; `tokumei tournament invite {folder} NAME` makes a link")

        scoring = (
            BackgroundScoring()
            if scoring_jobs == 0
            else BackgroundScoring(folder, jobs=scoring_jobs, share=public_share)
        )
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
def invite(
    folder: Path, names: Sequence[str], *, everybody: bool, host: bool, days: float, url: str | None, html: Path | None
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
            write_atomically(html, invitations_page(settings.title, invitations).encode())
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
