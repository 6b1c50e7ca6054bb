"""Links to what is published, in every phase, and what a reopened phase does not show of it."""

from datetime import timedelta

import pytest
from site_tools import HOUR, JSON, ORIGINALS, START, TEAMS, served
from tournament_tools import opened

from scenarios.tournament.host.decisions import reopen
from scenarios.tournament.rules.advancing import advance
from scenarios.tournament.rules.settings import Phase

DAY = timedelta(days=1)
ALL_TABLES, ALL_CANDIDATES = "All published tables and candidate files (ZIP)", "The candidate files of all teams (ZIP)"


def reopened(site):
    """Open the first phase again an hour after the attack phase began; return its new end."""
    again = START + DAY + 3 * HOUR
    reopen(site.played.tournament, Phase.ANONYMIZE, again.isoformat(), "an error", START + DAY + HOUR)
    return again


@pytest.fixture
def two_rounds(tmp_path):
    """The site of a tournament of two rounds, in the first one."""
    sizes = {"originals": ORIGINALS, "candidates": 2 * ORIGINALS, "rounds": 2}
    ends = {"anonymize_again_until": (START + 1.5 * DAY).isoformat()}
    with served(opened(tmp_path / "prepared", TEAMS, **sizes, **ends).tournament.folder, tmp_path / "cup") as one:
        yield one


@pytest.mark.thorough
def test_the_second_round_links_the_candidate_files(two_rounds):
    kyoto, guest = two_rounds.member("kyoto"), two_rounds.visitor()
    two_rounds.played.hand_in("kyoto", two_rounds.table("kyoto"))
    for path in ("/", "/team/kyoto"):
        assert "/published" not in kyoto.get(path).text
    advance(two_rounds.played.tournament, START + DAY)
    page, board = kyoto.get("/team/kyoto").text, kyoto.get("/").text
    assert '<a href="/published/kyoto/candidate" download>Your candidate file</a>' in page
    assert ALL_CANDIDATES in page
    assert "Candidate files</h2>" in board
    assert [f"/published/{team}/candidate" in board for team in TEAMS] == [True] * 3
    assert not any("/anonymized" in text or ALL_TABLES in text for text in (page, board))
    assert kyoto.get("/published/kyoto/candidate").status_code == 200
    assert "/published" not in guest.get("/").text
    advance(two_rounds.played.tournament, START + 2 * DAY)
    assert ALL_TABLES in kyoto.get("/team/kyoto").text
    assert "/published/kyoto/anonymized" in kyoto.get("/").text


def test_a_reopened_phase_links_what_stays_published(attack_site):
    kyoto, again = attack_site.member("kyoto"), reopened(attack_site)
    attack_site.played.hand_in("nara", attack_site.table("nara"), now=again - HOUR)
    board = kyoto.get("/").text
    assert ALL_TABLES in kyoto.get("/team/kyoto").text
    assert [f"/published/{team}/anonymized" in board for team in TEAMS] == [True, True, False]
    assert kyoto.get("/published/osaka/anonymized").status_code == 200
    advance(attack_site.played.tournament, again)
    assert "/published/nara/anonymized" in kyoto.get("/").text


@pytest.mark.thorough
def test_who_has_submitted_a_table_is_shown_to_nobody_before_the_attacks(cup_site):
    kyoto, guest = cup_site.member("kyoto"), cup_site.visitor()
    before = kyoto.get("/team/kyoto", headers=JSON).json(), guest.get("/health").json()
    cup_site.played.hand_in("osaka", cup_site.table("osaka"))
    assert (kyoto.get("/team/kyoto", headers=JSON).json(), guest.get("/health").json()) == before
    assert before[0]["targets"] == []
    cup_site.played.publish()
    assert [one["team"] for one in kyoto.get("/team/kyoto", headers=JSON).json()["targets"]] == ["osaka"]


def test_a_reopened_phase_hides_that_a_rival_replaced_its_table(attack_site):
    kyoto = attack_site.member("kyoto")
    attack_site.played.attack("kyoto", "osaka", range(5), range(5))
    again = reopened(attack_site)
    before = kyoto.get("/team/kyoto", headers=JSON).json()
    assert [(one["against"], one["in_force"]) for one in before["submissions"]] == [("osaka", True), (None, True)]
    attack_site.played.hand_in("osaka", attack_site.played.frame("osaka").iloc[:5], now=again - HOUR)
    assert kyoto.get("/team/kyoto", headers=JSON).json() == before
    advance(attack_site.played.tournament, again)
    after = kyoto.get("/team/kyoto", headers=JSON).json()
    assert [(one["against"], one["in_force"]) for one in after["submissions"]] == [("osaka", False), (None, True)]
    assert [(one["team"], one["attacked"]) for one in after["targets"]] == [("osaka", False)]
