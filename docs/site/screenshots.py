"""Plays a small tournament and takes the screenshots of its site: ``python docs/site/screenshots.py``."""

import argparse
import io
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from attacks import AssignmentLinkage, ExpectationMaximizationLinkage, FellegiSunter
from attacks.base.attack import Attack, Knowledge, RankedAnswers
from defenses import Microaggregation, Mondrian, RankSwapping
from defenses.base.defense import MicrodataDefense
from defenses.base.release import MicrodataRelease
from scenarios import load
from scenarios.tables.dataset import load_table
from scenarios.tournament.host.simulation import correspondence
from scenarios.tournament.rules.folder import Tournament, csv_bytes
from scenarios.tournament.rules.opening import open_tournament
from scenarios.tournament.site.account_store import invitations_page, invite

PICTURES = Path(__file__).parent / "pictures"
LARGEST = 150_000
"""Most bytes of a picture."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PASSWORD = "a password for pictures"  # noqa: S105 (of a tournament that exists for a minute)
DESK = {"width": 1000, "height": 720}
WALL = {"width": 1280, "height": 720}
JSON = {"Accept": "application/json"}
SEED = 7
WAIT = 180
"""Seconds that the server has to start, or to score."""
PLAYERS: dict[str, tuple[MicrodataDefense, Attack]] = {
    "kyoto": (Mondrian(k=3), AssignmentLinkage()),
    "osaka": (RankSwapping(), ExpectationMaximizationLinkage()),
    "nara": (Microaggregation(k=5), FellegiSunter()),
}
"""Defense and attack of the teams that take part; a fourth team hands in nothing."""


def opened(folder: Path) -> Tournament:
    """A tournament on the bank's customers, whose first phase ends in three hours."""
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    open_tournament(
        folder,
        load("bank"),
        [*PLAYERS, "kobe"],
        originals=60,
        candidates=120,
        decoys="random",
        rounds=1,
        anonymize_until=(now + timedelta(hours=3)).isoformat(),
        anonymize_again_until=None,
        attack_until=(now + timedelta(hours=5)).isoformat(),
        now=now,
        seed=SEED,
        publish_every=None,
        titles={"nara": "奈良チーム"},
    )
    return Tournament(folder)


def table(tournament: Tournament, team: str, defense: MicrodataDefense) -> pd.DataFrame:
    """A team's originals, anonymized by a built-in defense."""
    folder = tournament.team_folder(team)
    originals = load_table(folder / f"{team}_original.csv", folder / "roles.toml")
    release = defense.apply(originals.records, np.random.default_rng(SEED))
    return originals.written.write(release.frame).assign(original_row=release.origin)


def attack_on(tournament: Tournament, team: str, target: str, attack: Attack) -> bytes:
    """Correspondence table of a built-in attack."""
    folder, public = tournament.team_folder(team), tournament.public
    candidates = load_table(public / f"{target}_candidate.csv", folder / "roles.toml")
    others = load_table(folder / "others.csv", folder / "roles.toml").records
    text = pd.read_csv(public / f"{target}_anonymized.csv", dtype=str, keep_default_na=False, na_values=[""])
    release = MicrodataRelease(candidates.written.read_frame(text), np.full(len(text), -1))
    rng = np.random.default_rng(SEED)
    answers = RankedAnswers.of(attack.run(release, Knowledge(candidates.records.frame, others), rng))
    return csv_bytes(correspondence(answers, rng))


def with_mistakes(frame: pd.DataFrame) -> bytes:
    """A table with a range in the wrong notation, an unknown job, and a row number that does not exist."""
    wrong = frame.astype(object)
    wrong.loc[3, "age"] = "20-29"
    wrong.loc[5, "job"] = "manger"
    wrong.loc[8, "original_row"] = 60
    return csv_bytes(wrong)


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve the tournament by the command; gives the address of the site."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    command = [sys.executable, "-m", "tokumei", "tournament", "serve", str(folder), "--address", address]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            wait_until(lambda: server.poll() is not None or answers(f"http://{address}/health"), "the server to start")
            if server.poll() is not None:
                raise RuntimeError("the server did not start")
            yield f"http://{address}"
        finally:
            server.terminate()


def answers(address: str) -> bool:
    """Whether a server answers."""
    try:
        with urllib.request.urlopen(address, timeout=5):  # noqa: S310 (an address of this machine)
            return True
    except urllib.error.URLError:
        return False


def wait_until(condition, what: str) -> None:  # type: ignore[no-untyped-def]
    """Wait for a condition; raise an error if it does not come true."""
    end = time.monotonic() + WAIT
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {WAIT} s for {what}")
        time.sleep(0.2)


def person(browser: Browser, address: str, link: str | None = None) -> Page:
    """A page of a new browser window; with an invitation, of somebody who has set a password."""
    context = browser.new_context(base_url=address, viewport=DESK, locale="en-GB", timezone_id="UTC")
    page = context.new_page()
    if link:
        page.goto(link)
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_label("The same password again").fill(PASSWORD)
        press(page, "Set the password and log in")
    return page


def press(page: Page, button: str) -> None:
    """Press a button and wait for the page that it leads to."""
    with page.expect_navigation():
        page.get_by_role("button", name=button, exact=True).click()


def hand_in(page: Page, team: str, files: dict[str, bytes], button: str = "Submit") -> None:
    """Send files by the form of a team's page."""
    page.goto(f"/team/{team}")
    page.locator("#file").set_input_files(
        [{"name": name, "mimeType": "text/csv", "buffer": data} for name, data in files.items()]
    )
    press(page, button)


def scored(host: Page) -> None:
    """Wait until the board counts all attacks, and nothing waits to be scored."""

    def done() -> bool:
        scoring, board = (host.request.get(path, headers=JSON).json() for path in ("/host", "/"))
        attacked = [int(one["attacked"]) for one in board["standings"]]
        return not scoring["scoring"]["waiting"] and sum(attacked) == len(PLAYERS) * (len(PLAYERS) - 1)

    wait_until(done, "the scores")


def take(page: Page, name: str, *, selector: str | None = None, height: int = 0) -> None:
    """Take a picture of the window, from an element downwards if one is named; store it with few colours.

    Parameters
    ----------
    page : Page
        The page.
    name : str
        Name of the picture.
    selector : str, optional
        Element with which the picture begins; otherwise the top of the page.
    height : int
        Height of the picture in pixels; 0 is that of the window.
    """
    top = 0.0
    if selector:
        box = page.locator(selector).first.bounding_box()
        top = max(box["y"] + page.evaluate("window.scrollY") - 16, 0) if box else 0.0
    whole = page.evaluate("document.documentElement.scrollHeight")
    size = page.viewport_size or DESK
    clip = {"x": 0, "y": top, "width": size["width"], "height": min(height or size["height"], whole - top)}
    image = Image.open(io.BytesIO(page.screenshot(full_page=True, clip=clip, animations="disabled")))
    path = PICTURES / f"{name}.png"
    image.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)
    if path.stat().st_size > LARGEST:
        raise ValueError(f"{path} has {path.stat().st_size} bytes, more than {LARGEST}")
    print(path)


def play(browser: Browser, folder: Path) -> None:
    """Play the tournament; take a picture at each station."""
    tournament = opened(folder / "cup")
    with serving(tournament.folder) as address:
        links = invite(tournament.folder, ["host", *tournament.settings.teams], datetime.now(UTC), address=address)
        public = invite(
            folder_copy(tournament, folder), [*PLAYERS], datetime.now(UTC), address="https://cup.example.org"
        )
        sheet = folder / "sheet.html"
        sheet.write_text(invitations_page(tournament.settings.title, public), encoding="utf-8")
        page = person(browser, address)
        page.goto(sheet.as_uri())
        take(page, "invitation_sheet", height=620)

        pages = {one.name: person(browser, address, one.address) for one in links}
        host, kyoto = pages["host"], pages["kyoto"]
        frames = {team: table(tournament, team, defense) for team, (defense, _) in PLAYERS.items()}
        hand_in(kyoto, "kyoto", {"kyoto_anonymized.csv": with_mistakes(frames["kyoto"])})
        take(kyoto, "team_refused", height=640)
        hand_in(kyoto, "kyoto", {"kyoto_anonymized.csv": csv_bytes(frames["kyoto"])}, "Preview without submitting")
        take(kyoto, "team_preview", selector="#outcome", height=500)
        for team, frame in frames.items():
            hand_in(pages[team], team, {f"{team}_anonymized.csv": csv_bytes(frame)})
        take(kyoto, "team_accepted", height=520)

        host.goto("/host#grave")
        host.locator("#early").check()
        host.locator("#sure-advance").check()
        press(host, "Close the phase")
        for team, (_, attack) in PLAYERS.items():
            files = {
                f"{team}_attack_{target}.csv": attack_on(tournament, team, target, attack)
                for target in PLAYERS
                if target != team
            }
            hand_in(pages[team], team, files)
        host.goto("/host#decisions")
        host.locator("#text").fill("Slides are due ten minutes after the close.")
        press(host, "Post")
        scored(host)

        host.goto("/host")
        take(host, "host_progress", height=720)
        host.goto("/host#decisions")
        take(host, "host_decisions", selector="#decisions", height=720)
        page = person(browser, address)
        page.goto("/")
        take(page, "board", height=1400)
        page.set_viewport_size(WALL)
        page.goto("/screen")
        take(page, "projector")
        # Open pages wait for changes of the board; without them the server stops at once.
        for context in browser.contexts:
            context.close()


def folder_copy(tournament: Tournament, folder: Path) -> Path:
    """A copy of the tournament, whose invitations do not open the site and so may be shown."""
    return Path(shutil.copytree(tournament.folder, folder / "shown"))


def main() -> None:
    """Take all pictures."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        sys.exit(f"no browser: one of {', '.join(BROWSERS)} must be on the PATH")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        play(browser, Path(folder))
        browser.close()


if __name__ == "__main__":
    main()
