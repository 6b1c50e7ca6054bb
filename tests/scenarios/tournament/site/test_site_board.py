"""The public board: what it shows, what it hides, live updates, and how cheap it is."""

import csv
import io
import os
import re
import shutil
import threading
import zipfile
from datetime import timedelta
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from site_tools import HOUR, JSON, START, TEAMS, Clock, served

from scenarios.tournament.host.boards import update_boards
from scenarios.tournament.host.decisions import give_title, post, reopen
from scenarios.tournament.rules.advancing import advance
from scenarios.tournament.rules.folder import Tournament
from scenarios.tournament.rules.settings import Phase
from scenarios.tournament.site import jobs
from scenarios.tournament.site import journal as live_updates
from scenarios.tournament.site.application import ENDPOINTS
from scenarios.tournament.site.journal import LiveUpdates
from scenarios.tournament.site.pages import public_pages
from scenarios.tournament.site.pages.public_pages import picture_points

DAY = timedelta(days=1)
COLUMNS = (
    "rank,team,defense_rank,defense,attack_rank,attack,utility,utility_table,utility_record,worst_attack,worst_goal,"
    "worst_success,attacked,title,remark,status\n"
)
STANDINGS = f"""{COLUMNS}\
1,kyoto,1,0.62,1,0.25,0.8,0.8,0.9,osaka,rows,0.225,1,kyoto,,provisional
2,osaka,2,0.1,2,0.1,0.5,0.5,0.7,baseline:NearestNeighbour,rows,0.8,1,osaka,tied with nobody,provisional
3,nara,3,,3,,,,,,,,0,nara,handed in nothing,provisional
"""
MATRIX = """scenario,defense,attack,advantage
tournament,kyoto,osaka,0.225
tournament,osaka,baseline:NearestNeighbour,0.8
tournament,osaka,kyoto,0.25
"""


@pytest.fixture
def scored(attack_site):
    """A tournament in its attack phase whose boards were written."""
    public = attack_site.folder / "public"
    (public / "standings.csv").write_text(STANDINGS)
    (public / "matrix.csv").write_text(MATRIX)
    attack_site.clock.now = START + DAY + HOUR
    return attack_site


def test_the_page_shows_what_the_files_hold(scored):
    guest = scored.visitor()
    page = guest.get("/").text
    cells = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", page.partition('class="standings"')[2].partition("</table>")[0])
    rows = list(csv.DictReader(io.StringIO(STANDINGS)))
    for row in rows:
        assert any(cell.startswith(row["team"]) for cell in cells)
    # The ranks of which the rank is made stand beside the scores.
    assert page.count('0.620 <span class="muted">(1)</span>') == 1
    assert "handed in nothing" in page
    assert guest.get("/", headers=JSON).json()["standings"] == rows
    assert guest.get("/boards/standings.csv").text == STANDINGS
    assert "0.225" not in page.partition('class="matrix"')[2]
    assert "0.23" in page.partition('class="matrix"')[2]
    # Built-in attacks have short names, and the legend says which method each is.
    assert "baseline:" not in page
    assert page.count("built-in attack D") == 2
    assert "D = NearestNeighbour" in page


def test_standings_stand_above_the_messages(scored):
    post(scored.played.tournament, "Hello, class", scored.clock())
    page = scored.visitor().get("/").text
    assert 0 < page.index('id="standings"') < page.index("Hello, class")


def test_a_missing_score_is_shown_as_missing_and_ranks_last(scored):
    page = scored.visitor().get("/").text
    last = page.partition('class="standings"')[2].partition("</table>")[0].rpartition("<tr>")[2]
    assert "nara" in last
    assert last.count("–") >= 4


def test_the_public_page_shows_nothing_of_the_hosts_board(scored):
    (scored.folder / "host" / "standings.csv").write_text(STANDINGS.replace("0.62", "0.123"))
    for visitor in (scored.visitor(), scored.member("kyoto")):
        for path in ("/", "/screen", "/boards/standings.csv"):
            assert "0.123" not in visitor.get(path).text
    page = scored.member("host").get("/host").text
    assert "0.123" in page
    assert "only the host sees this" in page


def test_standings_of_before_the_close_are_never_called_final(scored):
    guest = scored.visitor()
    assert guest.get("/", headers=JSON).json()["counts"].startswith("Standings so far: until the tournament closes")
    path = scored.folder / "public" / "standings.csv"
    path.write_text(STANDINGS.replace("provisional", "partial"))
    assert guest.get("/", headers=JSON).json()["counts"].startswith("Scoring goes on: results are missing")
    advance(scored.played.tournament, START + 2 * DAY)
    old = START.timestamp()
    path.write_text(STANDINGS.replace("provisional", "final"))
    os.utime(path, (old, old))
    assert "from before the close" in guest.get("/").text
    new = (START + 3 * DAY).timestamp()
    os.utime(path, (new, new))
    assert "Final standings" in guest.get("/").text
    path.write_text(STANDINGS.replace("provisional", "partial"))
    os.utime(path, (new, new))
    page = guest.get("/").text
    assert "Scoring goes on" in page
    assert "Final standings" not in page
    # Scores of before the close that were written after it.
    path.write_text(STANDINGS)
    os.utime(path, (new, new))
    assert "from before the close" in guest.get("/").text
    path.write_text(STANDINGS.replace("provisional", "final"))
    reopen(scored.played.tournament, Phase.ATTACK, (START + 5 * DAY).isoformat(), "snow", START + 3 * DAY)
    assert "of the earlier close" in guest.get("/", headers=JSON).json()["counts"]


def test_a_title_is_shown_as_it_is_and_protected_in_files_for_spreadsheets_alone(scored):
    give_title(scored.played.tournament, "kyoto", "=1+1", START + HOUR)
    for folder in ("public", "host"):
        (scored.folder / folder / "standings.csv").write_text(STANDINGS.replace(",kyoto,,", ",'=1+1,,"))
    host, guest = scored.member("host"), scored.visitor()
    for visitor, path in ((guest, "/"), (host, "/host"), (host, "/")):
        shown = visitor.get(path, headers=JSON).json()
        titles = [one["title"] for one in (*shown["standings"], *shown["teams"]) if one["team"] == "kyoto"]
        assert titles == ["=1+1", "=1+1"]
    assert "&#39;=1+1" not in guest.get("/").text
    assert ",'=1+1," in guest.get("/boards/standings.csv").text


@pytest.mark.thorough
def test_hidden_standings_are_hidden_from_all_but_the_host(attack_phase, tmp_path):
    folder = tmp_path / "cup"
    shutil.copytree(attack_phase, folder)
    settings = folder / "tournament.toml"
    settings.write_text(settings.read_text().replace("hide_standings = false", "hide_standings = true"))
    (folder / "public" / "standings.csv").write_text(STANDINGS)
    (folder / "public" / "matrix.csv").write_text(MATRIX)
    with served(folder, tmp_path / "served") as site:
        for visitor, shown in ((site.visitor(), False), (site.member("kyoto"), False), (site.member("host"), True)):
            for path in ("/", "/screen", "/boards/standings.csv", "/boards/matrix.csv"):
                assert ("0.62" in visitor.get(path).text or "0.225" in visitor.get(path).text) == shown, path
            assert bool(visitor.get("/", headers=JSON).json()["standings"]) == shown
        advance(site.played.tournament, START + 2 * DAY)
        assert "0.62" in site.visitor().get("/").text


def addresses():
    """Addresses of all pages and files, of two teams."""
    found = set()
    for endpoint in ENDPOINTS:
        if endpoint.method == "GET" and endpoint.path != "/live":
            for team, name, kind in product(TEAMS[:2], ("standings.csv", "matrix.csv"), ("anonymized", "candidate")):
                path = re.sub("{(team|of)}", team, endpoint.path).replace("{number}", "2")
                found.add(path.replace("{name}", name).replace("{kind}", kind))
    return found


@pytest.mark.thorough
def test_while_standings_are_hidden_no_address_shows_a_number_or_the_picture(attack_phase, tmp_path):
    """Every page, file and JSON, with real boards of the host and reports of the teams."""
    folder = shutil.copytree(attack_phase, tmp_path / "cup")
    settings = folder / "tournament.toml"
    settings.write_text(settings.read_text().replace("hide_standings = false", "hide_standings = true"))
    update_boards(Tournament(folder), 0.5)
    for place in ("host", "public"):
        (folder / place / "standings.csv").write_text(STANDINGS)
        (folder / place / "matrix.csv").write_text(MATRIX)
    numbers = ("0.62", "0.225", "0.23", "0.250")
    with served(folder, tmp_path / "served") as site:
        site.clock.now = START + DAY + HOUR
        host, visitors = site.member("host"), (site.visitor(), site.member("kyoto"))
        assert "0.62" in host.get("/host").text
        for path, visitor, headers in product(addresses(), visitors, ({}, JSON)):
            answer = visitor.get(path, headers=headers)
            text = answer.text
            if answer.headers.get("content-type") == "application/zip":
                with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
                    text = "".join(archive.read(name).decode() for name in archive.namelist())
                    assert not [name for name in archive.namelist() if name.endswith(("gs.csv", "matrix.csv"))]
            assert answer.status_code < 500
            assert not [number for number in numbers if number in text], path
            assert "<circle" not in text, path
        for path in ("/", "/screen"):
            assert "hidden until the tournament closes" in visitors[0].get(path).text
        shown = visitors[0].get("/", headers=JSON).json()
        assert (shown["counts"], shown["standings"]) == ("The standings are hidden until the tournament closes.", [])


def test_a_team_reads_its_score_rank_and_what_it_has_not_attacked(scored):
    kyoto = scored.member("kyoto")
    text = " ".join(re.sub("<[^>]+>", "", kyoto.get("/team/kyoto").text).split())
    assert "Rank 1 of 3: defense 0.620 (rank 1), attack 0.250 (rank 1)." in text
    assert "0 of 1 tables attacked, missing: osaka." in text
    assert "Standings so far" in text
    assert kyoto.get("/team/kyoto", headers=JSON).json()["standing"]["rank"] == "1"
    text = " ".join(re.sub("<[^>]+>", "", scored.member("nara").get("/team/nara").text).split())
    assert "Rank 3 of 3: defense –, attack –. Handed in nothing." in text
    assert "0 of 2 tables attacked, missing: kyoto, osaka." in text


def test_a_team_does_not_read_hidden_standings(scored):
    settings = scored.folder / "tournament.toml"
    settings.write_text(settings.read_text().replace("hide_standings = false", "hide_standings = true"))
    text = scored.member("kyoto").get("/team/kyoto").text
    assert "hidden until the tournament closes" in text
    assert "Rank 1" not in text


def test_a_board_without_standings_says_why(cup_site):
    guest = cup_site.visitor()
    assert guest.get("/", headers=JSON).json()["counts"].startswith("Standings are not scored yet. 0 of 3 teams")
    cup_site.played.hand_in("kyoto", cup_site.table("kyoto"))
    cup_site.played.publish()
    cup_site.played.close()
    for path in ("/", "/screen"):
        assert "The final standings are not scored yet. 1 of 3 teams" in guest.get(path).text


@pytest.mark.thorough
def test_a_page_is_rendered_once_for_many_viewers(scored, monkeypatch):
    rendered, real = [], public_pages._content
    monkeypatch.setattr(public_pages, "_content", lambda *given: rendered.append(1) or real(*given))
    guest = scored.visitor()
    tags = {guest.get("/").headers["etag"] for _ in range(20)}
    assert len(rendered) == len(tags) == 1
    assert guest.get("/", headers={"If-None-Match": tags.pop()}).status_code == 304
    (scored.folder / "public" / "standings.csv").write_text(STANDINGS.replace("0.62", "0.63"))
    assert "0.63" in guest.get("/").text
    assert len(rendered) == 2
    # All teams share one rendering, too; only the navigation has their name.
    members = [scored.member(team) for team in TEAMS]
    pages = [member.get("/").text for member in members]
    assert len(rendered) == 3
    assert all(f'href="/team/{team}"' in page for team, page in zip(TEAMS, pages, strict=True))
    # The end of a phase changes the page without any change of the files.
    scored.clock.now = START + 3 * DAY
    assert "It ended" in guest.get("/").text


def test_a_new_message_appears_and_a_replaced_log_is_read_anew(cup_site):
    from scenarios.tournament.host.decisions import post

    guest, log = cup_site.visitor(), cup_site.folder / "host" / "log.jsonl"
    before = log.read_bytes()
    post(cup_site.played.tournament, "the first message", START)
    assert "the first message" in guest.get("/").text
    # A backup of the log is put back, and continues differently.
    log.write_bytes(before)
    (cup_site.folder / "host" / "log.jsonl.checkpoint").unlink(missing_ok=True)
    post(Tournament(cup_site.folder), "another message!", START)
    page = guest.get("/").text
    assert "another message!" in page
    assert "the first message" not in page


@pytest.mark.thorough
def test_open_pages_hear_of_changes(first_phase, tmp_path, monkeypatch):
    import asyncio

    from scenarios.tournament.site.journal import Journal

    folder = tmp_path / "cup"
    shutil.copytree(first_phase, folder)
    monkeypatch.setattr(live_updates, "EVERY", 0.01)

    async def listen():
        updates = LiveUpdates(Journal(folder))
        watching = asyncio.create_task(updates.watch())
        await asyncio.sleep(0.1)
        events = updates.events()
        assert (await anext(events)).startswith("retry")
        waiting = asyncio.ensure_future(anext(events))
        await asyncio.sleep(0.1)
        assert not waiting.done()
        (folder / "public" / "standings.csv").write_text(STANDINGS)
        assert (await asyncio.wait_for(waiting, 5)).startswith("event: changed")
        assert updates.listeners == 1
        ending = asyncio.ensure_future(anext(events, None))
        await asyncio.sleep(0.05)
        updates.stop()
        assert await asyncio.wait_for(ending, 5) is None
        assert updates.listeners == 0
        watching.cancel()

    asyncio.run(listen())


def test_the_picture_has_every_table_and_keeps_labels_apart():
    rows = [{"team": f"t{n}", "rank": str(n), "utility": "0.8", "defense": "0.4"} for n in range(5)]
    rows += [{"team": "none", "rank": "9", "utility": "", "defense": ""}]
    rows += [{"team": "zero", "rank": "8", "utility": "0", "defense": "0"}]
    points = picture_points(rows)
    assert [point.team for point in points] == ["t0", "t1", "t2", "t3", "t4", "zero"]
    assert points[0].advantage == pytest.approx(0.5)
    # Each side of the points has names, one below the other.
    for side in ("start", "middle", "end"):
        heights = sorted(point.label_y for point in points[:5] if point.anchor == side)
        assert all(later - earlier >= 13 for earlier, later in pairwise(heights))
    assert points[-1].advantage == 1.0


@pytest.mark.parametrize("letter", ["名", "n"])
def test_twelve_long_names_in_the_picture_are_clear_of_each_other(letter):
    """Wide letters take 12 units each, others 7; names are 12 units high."""
    rng = np.random.default_rng(0)
    rows = [
        {"team": f"t{n}", "title": letter * 20, "utility": str(utility), "defense": str(utility * kept)}
        for n, (utility, kept) in enumerate(rng.random((12, 2)).round(2) ** 3)
    ]
    wide = 20 * (12 if letter == "名" else 7)
    boxes = [
        (one.label_x - wide * share, one.label_x + wide * (1 - share), one.label_y)
        for one in picture_points(rows)
        for share in [{"start": 0, "middle": 0.5, "end": 1}[one.anchor]]
    ]
    assert len(boxes) == 12
    assert all(left >= 0 and right <= 640 and 0 < y < 360 for left, right, y in boxes)
    for (left, right, y), (other_left, other_right, other_y) in combinations(boxes, 2):
        assert right < other_left or other_right < left or abs(y - other_y) >= 12


class Running(Clock):
    """A clock that runs: each look at it is a millisecond later."""

    def __init__(self, now):
        super().__init__(now)
        self.lock = threading.Lock()

    def __call__(self):
        with self.lock:
            self.now += timedelta(milliseconds=1)
            return self.now


@pytest.mark.thorough
def test_exactly_the_uploads_before_the_deadline_are_accepted(cup_site, monkeypatch):
    """Many teams upload while the deadline passes; the server's clock decides, and no receipt is lost."""
    from concurrent.futures import ThreadPoolExecutor

    end = START + DAY
    arrived, lock, real = [], threading.Lock(), jobs.submit_content

    def recorded(tournament, team, name, data, now, **given):
        try:
            receipt = real(tournament, team, name, data, now, **given)
        except ValueError:
            receipt = None
        with lock:
            arrived.append((now, receipt))
        if receipt is None:
            raise ValueError("refused")
        return receipt

    cup_site.clock.now = end - HOUR
    members = {team: cup_site.member(team) for team in TEAMS}
    tokens = {team: member.token("/account") for team, member in members.items()}
    tables = {team: cup_site.table(team) for team in TEAMS}
    monkeypatch.setattr(jobs, "submit_content", recorded)
    cup_site.site.clock = Running(end - timedelta(milliseconds=45))
    with ThreadPoolExecutor(6) as pool:
        team_of = [TEAMS[n % 3] for n in range(30)]
        answers = list(pool.map(lambda team: members[team].upload(team, tables[team], token=tokens[team]), team_of))
    assert len(arrived) == 30
    assert {now < end for now, _ in arrived} == {True, False}
    assert all((receipt is not None) == (now < end) for now, receipt in arrived)
    receipts = [answer.json()["files"][0]["receipt"]["log"] for answer in answers if answer.status_code == 200]
    assert sorted(receipts) == sorted(entry.hash for entry in cup_site.log() if entry.kind == "submitted")
