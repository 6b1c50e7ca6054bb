"""A tournament's site under load: uploads, viewers, and how soon a change is on the board.

Every server is `tokumei tournament serve` in a process of its own on loopback, with its worker processes. The load
comes from the test's process, on the same cores.
"""

import asyncio
import hashlib
import json
import shutil
import time
from collections import Counter
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from load_tools import LATEST, Client, Crowd, answers_of, at_once, figures, one_by_one, request, serving, tables
from tournament_tools import DAY, HOUR, START, opened

from scenarios import load
from scenarios.tournament.host.archives import verify
from scenarios.tournament.host.boards import update_boards
from scenarios.tournament.rules.folder import Tournament, csv_bytes
from scenarios.tournament.rules.incidents import REFUSED, tournament_incidents
from scenarios.tournament.rules.scoring import score_shares
from scenarios.tournament.rules.submitting import submit_content

pytestmark = pytest.mark.long

SECONDS_AN_UPLOAD, SECONDS_A_PAGE = 2.0, 0.2
"""Bounds of the 95th percentiles."""
MOST_BYTES = 1 << 30
SLOWER = 1.2
"""Largest ratio of the times of scoring with and without viewers."""
SECONDS_TO_BOARD = 10.0
VIEWERS, EVERY = 500, 10.0
"""Viewers of the board; each loads it once in so many seconds, and after every change."""
SECONDS_TO_CLOSE = 60
"""From the opening of a tournament to the close of its first phase; the opening itself takes some seconds."""
MOST_GROWTH = 10 << 20
"""Bytes by which the server may grow over the second half of many requests."""


def test_a_thousand_uploads(tmp_path):
    """200 teams hand in five tables each, 100 at a time: none is lost, none counts twice."""
    now = datetime.now(UTC)
    teams = [f"team-{number:03d}" for number in range(200)]
    cup = opened(
        tmp_path / "cup",
        teams,
        dataset=load("bank"),
        originals=100,
        candidates=200,
        now=now,
        anonymize_until=(now + DAY).isoformat(),
        attack_until=(now + 2 * DAY).isoformat(),
    )
    contents = {team: tables(cup, team, 5) for team in teams}
    with serving(cup.tournament.folder) as site:
        calls = [
            site.upload(team, [(f"{team}_anonymized.csv", contents[team][turn])]) for turn in range(5) for team in teams
        ]
        began = time.perf_counter()
        answers = asyncio.run(at_once(site.port, 100, calls))
        lasted = time.perf_counter() - began
        spent = site.processor_seconds()
    seconds = [end - begin for *_, begin, end in answers]
    print(f"\n1,000 uploads in {lasted:.1f} s: {figures(seconds)}; {spent:.1f} s of the main process's processor")
    print(f"memory of all processes at most {site.largest >> 20} MB")
    assert [status for status, *_ in answers] == [200] * 1000
    receipts = {one["receipt"]["number"]: one["receipt"] for _, body, *_ in answers for one in answers_of(body)}
    entries = [one for one in cup.tournament.log.entries() if one.kind == "submitted"]
    assert len(receipts) == len(entries) == 1000
    assert {one.number: (one.details["sha256"], one.hash) for one in entries} == {
        number: (one["sha256"], one["log"]) for number, one in receipts.items()
    }
    sent = {hashlib.sha256(one).hexdigest() for team in teams for one in contents[team]}
    assert {one.name for one in cup.tournament.submissions.iterdir()} == sent
    assert "1000 accepted files" in verify(cup.tournament)
    assert np.percentile(seconds, 95) <= SECONDS_AN_UPLOAD
    assert site.largest <= MOST_BYTES


def test_a_thousand_uploads_around_the_close(tmp_path):
    """Of 1,000 uploads around the close exactly those are accepted that arrived before it by the server's clock."""
    teams = [f"team-{number:03d}" for number in range(200)]
    now = datetime.now(UTC)
    end = now.replace(microsecond=0) + timedelta(seconds=SECONDS_TO_CLOSE)
    cup = opened(
        tmp_path / "cup",
        teams,
        dataset=load("bank"),
        originals=100,
        candidates=200,
        now=now - DAY,
        anonymize_until=end.isoformat(),
        attack_until=(now + DAY).isoformat(),
    )
    contents = {team: tables(cup, team, 5) for team in teams}
    with serving(cup.tournament.folder) as site:
        calls = [
            site.upload(team, [(f"{team}_anonymized.csv", contents[team][turn])]) for turn in range(5) for team in teams
        ]
        assert time.time() < end.timestamp() - 2, "opening the tournament took too long"
        starts = np.linspace(end.timestamp() - 1, end.timestamp() + 0.5, len(calls))
        answers = asyncio.run(one_by_one(site.port, calls, starts))
    accepted = [status == 200 for status, *_ in answers]
    assert {status for status, *_ in answers} <= {200, 422}
    entries = [one for one in cup.tournament.log.entries() if one.kind == "submitted"]
    waited = sum(answered >= end.timestamp() for (*_, answered), one in zip(answers, accepted, strict=True) if one)
    lasted = max(answered for *_, answered in answers) - end.timestamp()
    print(f"\n{sum(accepted)} of {len(calls)} files arrived before the close; {waited} of them were answered after it")
    print(f"the last answer came {lasted:.1f} s after it")
    assert 0 < sum(accepted) < len(calls)
    # When a request arrived between its begin and its end only the server knows.
    for (_, _, begin, answered), one in zip(answers, accepted, strict=True):
        assert one or answered >= end.timestamp()
        assert not one or begin < end.timestamp()
    receipts = [one["receipt"] for status, body, *_ in answers if status == 200 for one in answers_of(body)]
    assert sorted(one["number"] for one in receipts) == [one.number for one in entries]
    assert all(datetime.fromisoformat(one.arrived) < end for one in entries)
    # A file that comes late is no failure that the team could repair.
    assert not [one for one in tournament_incidents(cup.tournament) if one.kind == REFUSED]
    times = [datetime.fromisoformat(one.time) for one in cup.tournament.log.entries()]
    assert times == sorted(times)
    refused = [one for status, body, *_ in answers if status != 200 for one in answers_of(body)]
    assert all(f"ended at {end.isoformat()}" in one["message"] for one in refused)
    assert f"{len(entries)} accepted files" in verify(cup.tournament)


PREVIEWS, UPLOADS = 12, 60
"""What one team sends of it at once."""


def heavy(cup, team):
    """A valid table of the longest sets that are allowed, which takes many seconds to preview."""
    frame = cup.frame(team)
    columns = {
        name: ["{" + "|".join(map(str, range(row, row + step * count, step))) + "}" for row in range(len(frame))]
        for name, step, count in (("balance", 7, 380), ("duration", 11, 390), ("pdays", 2, 380))
    }
    return csv_bytes(frame.assign(**columns))


def test_nobody_waits_for_a_team_that_sends_heavy_tables(tmp_path):
    """While one team sends previews and uploads, others hand in, the host closes the phase, and all timely files count.

    What is measured is the time of another team's upload and of the host's close, and how many of 1,000 uploads of
    others around the end are refused although their last byte arrived before it.
    """
    teams = [f"team-{number:03d}" for number in range(100)]
    now = datetime.now(UTC)
    end = now.replace(microsecond=0) + timedelta(seconds=5 * SECONDS_TO_CLOSE)
    cup = opened(
        tmp_path / "cup",
        ["heavy", *teams],
        dataset=load("bank"),
        originals=100,
        candidates=200,
        now=now - DAY,
        anonymize_until=end.isoformat(),
        attack_until=(now + DAY).isoformat(),
    )
    contents, table = {team: tables(cup, team, 10) for team in teams}, heavy(cup, "heavy")
    other = shutil.copytree(cup.tournament.folder, tmp_path / "other")

    async def while_loaded(site, calls, starts):
        own = [site.upload("heavy", [("heavy_anonymized.csv", table + b"\n" * turn)]) for turn in range(UPLOADS)]
        own += [one.replace(b"/upload HTTP", b"/preview HTTP", 1) for one in own[:PREVIEWS]]
        load = asyncio.ensure_future(at_once(site.port, len(own), own))
        answers = await one_by_one(site.port, calls, starts)
        before = load.done()
        statuses = [status for status, *_ in await load]
        print(f"\nheavy team: {dict(Counter(statuses))}; {'all' if before else 'not all'} answered before the others")
        return answers

    with serving(other) as site:
        first = [site.upload(team, [(f"{team}_anonymized.csv", contents[team][0])]) for team in teams[:8]]
        # The workers have loaded their packages once all of these are answered.
        assert {status for status, *_ in asyncio.run(at_once(site.port, 8, first[1:]))} == {200}
        upload = first[0]
        calls = [upload, site.decision("advance", phase="anonymize", sure="yes", early="yes")]
        (uploaded, *_), (closed, body, *_) = found = asyncio.run(
            while_loaded(site, calls, time.time() + np.array([2, 4]))
        )
    seconds = [after - before for *_, before, after in found]
    print(f"another team's upload took {seconds[0]:.2f} s, the host's close {seconds[1]:.2f} s")
    assert (uploaded, closed) == (200, 200), body
    with serving(cup.tournament.folder) as site:
        calls = [
            site.upload(team, [(f"{team}_anonymized.csv", contents[team][turn])])
            for turn in range(10)
            for team in teams
        ]
        assert time.time() < end.timestamp() - 12, "opening the tournament took too long"
        starts = np.linspace(end.timestamp() - 10, end.timestamp() + 1, len(calls))
        answers = asyncio.run(while_loaded(site, calls, starts))
    refused = [one for one in answers if one[0] != 200]
    timely = sum(answered < end.timestamp() for *_, answered in refused)
    print(f"{len(answers) - len(refused)} of {len(answers)} uploads around the end are accepted")
    assert {status for status, *_ in answers} <= {200, 422}
    assert not timely
    assert all(f"ended at {end.isoformat()}" in one["message"] for _, body, *_ in refused for one in answers_of(body))
    assert all(status != 200 or begin < end.timestamp() for status, _, begin, _ in answers)
    assert "accepted files" in verify(cup.tournament)
    assert max(seconds) <= SECONDS_AN_UPLOAD


TEAMS = [f"team-{number:02d}" for number in range(25)]


@pytest.fixture(scope="module")
def attacked(tmp_path_factory):
    """25 teams whose tables are scored: the tournament without attacks, and the same one with all 600."""
    now = datetime.now(UTC)
    plain = tmp_path_factory.mktemp("site") / "plain"
    cup = opened(
        plain,
        TEAMS,
        dataset=load("bank"),
        originals=100,
        candidates=200,
        now=START - 10000 * DAY,
        anonymize_until=(now - HOUR).isoformat(),
        attack_until=(now + DAY).isoformat(),
    )
    for team in TEAMS:
        data = csv_bytes(cup.frame(team))
        submit_content(cup.tournament, team, f"{team}_anonymized.csv", data, now - 2 * HOUR, measure=False)
    from scenarios.tournament.rules.advancing import advance

    advance(cup.tournament, now)
    score_shares(cup.tournament, (0.5, 1.0), 2)
    update_boards(cup.tournament, 0.5)
    full = shutil.copytree(plain, plain.with_name("full"))
    tournament, rng = Tournament(full), np.random.default_rng(1)
    for team in TEAMS:
        for target in set(TEAMS) - {team}:
            data = attack(rng.integers(200, size=100))
            submit_content(tournament, team, f"{team}_attack_{target}.csv", data, now, measure=False)
    return cup, plain, full


def attack(candidates):
    columns = {"released_row": np.arange(100), "candidate_row": candidates, "confidence": 1.0}
    return csv_bytes(pd.DataFrame(columns))


def attacked_tables(folder):
    """Number of pairs that the public standings count."""
    return int(pd.read_csv(folder / "public" / "standings.csv")["attacked"].sum())


async def seconds_to_score(site, full):
    """Hand in all 600 attacks at once, as another process may; seconds until the public standings count them."""
    for one in (full / "host" / "submissions").iterdir():
        target = site.folder / "host" / "submissions" / one.name
        if not target.exists():
            shutil.copy(one, target)
    log = site.folder / "host" / "log.jsonl"
    with log.open("ab") as file:
        began = time.perf_counter()
        file.write((full / "host" / "log.jsonl").read_bytes()[log.stat().st_size :])
    while attacked_tables(site.folder) < 600:
        await asyncio.sleep(0.25)
        assert time.perf_counter() - began < 300
    return time.perf_counter() - began


def test_five_hundred_viewers(attacked, tmp_path):
    """Pages come quickly while everything is scored, and scoring hardly suffers."""
    _, plain, full = attacked
    alone, watched, seconds, lost = [], [], [], 0

    async def watch(site):
        nonlocal lost
        async with Crowd(site.port, VIEWERS, EVERY) as crowd:
            await asyncio.sleep(EVERY)
            quiet = len(crowd.seconds)
            watched.append(await seconds_to_score(site, full))
            await asyncio.sleep(2.0)
            print(f"\n{quiet} pages while nothing changes: {figures(crowd.seconds[:quiet])}")
            print(f"{len(crowd.seconds) - quiet} pages while scoring: {figures(crowd.seconds[quiet:])}")
            print(f"{crowd.bytes} bytes a page; {sum(one.events for one in crowd.viewers) / VIEWERS:.1f} events each")
            seconds.extend(crowd.seconds)
            lost += crowd.lost

    for turn in range(2):
        with serving(shutil.copytree(plain, tmp_path / f"alone-{turn}")) as site:
            alone.append(asyncio.run(seconds_to_score(site, full)))
        with serving(shutil.copytree(plain, tmp_path / f"watched-{turn}")) as site:
            asyncio.run(watch(site))
            print(f"memory of all processes at most {site.largest >> 20} MB")
    print(f"scoring alone {alone}, with viewers {watched} s; ratio {min(watched) / min(alone):.2f}")
    print(f"{len(seconds)} pages: {figures(seconds)}")
    assert not lost
    assert np.percentile(seconds, 95) <= SECONDS_A_PAGE
    assert min(watched) <= SLOWER * min(alone)


def test_a_change_reaches_the_board(attacked, tmp_path):
    """A team uploads all its 24 attacks anew; a browser that waits for events shows the new standings in time."""
    cup, _, full = attacked
    folder = shutil.copytree(full, tmp_path / "cup")
    team = TEAMS[7]
    files = [(f"{team}_attack_{one}.csv", attack(cup.truth(one))) for one in TEAMS if one != team]
    with serving(folder) as site:
        began = time.perf_counter()
        while attacked_tables(folder) < 600:
            time.sleep(0.1)
            assert time.perf_counter() - began < 300
        print(f"\nall 600 pairs from nothing: {time.perf_counter() - began:.1f} s after the start of the server")
        time.sleep(3.0)

        async def upload_and_watch():
            reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
            writer.write(request("GET", "/live"))
            client, began = Client(site.port), time.perf_counter()
            status, body = await client.send(site.upload(team, files))
            assert status == 200, body
            answered = time.perf_counter() - began
            client.close()
            while True:
                await reader.readuntil(b"event: changed")
                # The latest moment at which the page's script loads it.
                await asyncio.sleep(LATEST)
                _, body = await client.send(request("GET", "/", b"Accept: application/json"))
                client.close()
                standings = {one["team"]: one for one in json.loads(body)["standings"]}
                if float(standings[team]["attack"]) > 0.9:
                    writer.close()
                    return answered, time.perf_counter() - began

        answered, visible = asyncio.run(asyncio.wait_for(upload_and_watch(), 120))
    print(f"24 attacks: receipts after {answered:.1f} s, on the board after {visible:.1f} s")
    assert visible <= SECONDS_TO_BOARD


def test_memory_does_not_grow(attacked, tmp_path):
    """Many requests, as fast as the server answers them: pages, events, refused uploads and log-ins."""
    _, plain, _ = attacked
    folder = shutil.copytree(plain, tmp_path / "cup")
    with serving(folder, "--scoring-jobs", "0") as site:
        page = request("GET", "/", b"Accept-Encoding: gzip")
        wrong = [site.upload(team, [("x.csv", b"no,table\n" * 100)]) for team in TEAMS]
        login = request("POST", "/log-in", b"Accept: application/json", b"Content-Type: text/plain", body=b"")
        form = b"Content-Type: application/x-www-form-urlencoded"
        sizes = []

        async def events(port):
            for _ in range(500):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(request("GET", "/live"))
                await asyncio.sleep(0.005)
                writer.transport.abort()

        async def part(number):
            guests = [
                request("POST", "/log-in", form, body=b"name=g%d&password=%d" % (number, one)) for one in range(500)
            ]
            calls = [page] * 9000 + wrong + [login] * 100 + guests + [request("GET", "/rules")] * 400
            await asyncio.gather(at_once(site.port, 20, calls), events(site.port))

        began = time.perf_counter()
        for number in range(4):
            asyncio.run(part(number))
            sizes.append(site.memory())
    print(f"\n{4 * 10_525} requests in {time.perf_counter() - began:.0f} s; memory {[one >> 20 for one in sizes]} MB")
    # The first two parts fill caches and start threads, for which memory is taken that is used again later.
    assert sizes[3] - sizes[1] <= MOST_GROWTH
