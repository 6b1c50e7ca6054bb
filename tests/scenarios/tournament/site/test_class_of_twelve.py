"""A class of twelve teams with Japanese names, from the invitation to the points of the jury, on pages in Japanese."""

import re
import shutil
from datetime import timedelta
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
from language_tools import followed, japanese, post
from site_tools import Served
from starlette.testclient import TestClient
from tournament_tools import DAY, START, opened

from scenarios.tournament.host.archives import export, verify
from scenarios.tournament.host.boards import update_boards
from scenarios.tournament.host.presenting import present
from scenarios.tournament.rules.folder import csv_bytes
from scenarios.tournament.rules.scoring import score_shares

NAMES = """京都大学 大阪大学 奈良先端 東北の風 北海道チーム 九州連合 四国一 名古屋城 広島もみじ
沖縄ブルー 金沢兼六園 新潟米"""
TITLES = {f"team{number:02}": title for number, title in enumerate(NAMES.split(), start=1)}
PASSWORD = "秋の夜長に匿名化を学ぶ"


@pytest.fixture
def site(tmp_path):
    cup = opened(
        tmp_path / "made",
        tuple(TITLES),
        originals=10,
        candidates=20,
        titles=TITLES,
        language="ja",
        present_until=(START + 3 * DAY).isoformat(),
    )
    shutil.move(cup.tournament.folder, tmp_path / "cup")
    one = Served(tmp_path / "cup")
    with TestClient(one.app) as running:
        one.portal = running.portal
        yield one


@pytest.mark.thorough
@pytest.mark.usefixtures("one_baseline")
def test_a_class_of_twelve(site):
    def person(name):
        visitor = site.visitor()
        visitor.client.headers["Accept-Language"] = "ja"
        path = site.invitation(name)
        followed(visitor, visitor.post(path, {"password": PASSWORD, "repeated": PASSWORD}, page=path))
        return visitor

    def upload(team, name, data):
        home = f"/team/{team}"
        return followed(members[team], post(members[team], f"{home}/upload", page=home, files={"file": (name, data)}))

    host, members = person("host"), {team: person(team) for team in TITLES}
    # Every team comes in again by its Japanese name.
    for team, title in TITLES.items():
        members[team].post("/log-out", page="/account")
        given = {"name": title, "password": PASSWORD}
        answer = members[team].post("/log-in", given, page="/log-in")
        assert answer.headers["location"] == f"/team/{team}"
        assert title in japanese(members[team].get(f"/team/{team}"))
        table = site.played.frame(team).astype(object)
        table.loc[: int(team[-2:]) % 9, "age"] = "*"
        assert "受け付け済み" in upload(team, f"{team}_anonymized.csv", csv_bytes(table))
    begun = {"phase": "anonymize", "sure": "yes", "early": "yes"}
    assert "攻撃" in followed(host, post(host, "/host/advance", begun, page="/host"))
    rng = np.random.default_rng(0)
    for place, team in enumerate(TITLES):
        for target in [list(TITLES)[(place + step) % 12] for step in (1, 2)]:
            truth = site.played.truth(target)
            named = np.where(np.arange(10) < place, truth, rng.integers(0, 20, 10))
            answers = pd.DataFrame({"released_row": np.arange(10), "candidate_row": named})
            assert "10行のうち10行に回答" in upload(team, f"{team}_attack_{target}.csv", csv_bytes(answers))
    closed = {"phase": "attack", "sure": "yes", "early": "yes"}
    followed(host, post(host, "/host/advance", closed, page="/host"))
    tournament = site.played.tournament
    score_shares(tournament, (1.0,), 1)
    update_boards(tournament, 0.5)
    board = japanese(members["team01"].get("/"))
    assert all(title in board for title in TITLES.values())
    assert "最も強い攻撃" in japanese(members["team01"].get("/team/team01/report"))
    # The presentations are stored after the close, and judged by jurors and the other teams.
    for team in list(TITLES)[:3]:
        draft = f"/team/{team}/presentation"
        followed(members[team], post(members[team], f"/team/{team}/present", {"text": "# 方法\n丸めた。"}, page=draft))
    talk = "/presentations/team01"
    for juror, points in (("山田先生", 9), ("佐藤先生", 6), ("佐藤先生", 8)):
        followed(host, post(host, f"{talk}/points", {"juror": juror, "points": str(points)}, page=talk))
    followed(members["team02"], post(members["team02"], f"{talk}/points", {"points": "7"}, page=talk))
    shown = japanese(members["team05"].get("/presentations"))
    assert "審査員 8.5（2人）" in re.sub(r"\s+", " ", shown)
    assert "チーム 7.0（1チーム）" in shown
    own = post(members["team01"], f"{talk}/points", {"points": "10"}, page="/presentations/team02")
    assert "自分のチームの発表には点数を付けられません" in japanese(own, 422)
    more = post(members["team02"], f"{talk}/points", {"points": "11"}, page=talk)
    assert "点数は0から10まで" in japanese(more, 422)
    present(tournament, "team04", "間に合った", None, START + 3 * DAY - timedelta(seconds=1))
    with pytest.raises(ValueError, match="the tournament has ended"):
        present(tournament, "team04", "遅い", None, START + 3 * DAY)
    assert "are unchanged" in verify(tournament)
    export(tournament, tournament.folder.parent / "cup.zip")
    with ZipFile(tournament.folder.parent / "cup.zip") as archive:
        (name,) = (one for one in archive.namelist() if one.endswith("presentations/points.csv"))
        assert "team01,8.5,2,7.0,1" in archive.read(name).decode()
