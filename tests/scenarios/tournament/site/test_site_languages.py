"""The site's texts in other languages: every text has an entry, and every entry is used."""

import pytest
from language_tools import TEMPLATES, fields, followed, japanese, post, raw_texts, sentences, template_texts
from site_tools import START

from leaderboard.results import FAILURES, goal_words
from leaderboard.statistics.downtime import downtime_table
from metrics.columns import Sentence
from metrics.table_utility import COMPONENTS
from scenarios.running.methods import exported, summary
from scenarios.tournament.host.boards import update_boards
from scenarios.tournament.rules import Phase
from scenarios.tournament.rules.incidents import REFUSED, UNSCORED
from scenarios.tournament.rules.languages import LANGUAGE, LANGUAGES, catalogue, preferred, worded
from scenarios.tournament.rules.opening import PAGE, QUESTIONS
from scenarios.tournament.rules.standings import NOT_RUN

NAMES = {
    "board.html": ["live"],
    "board_main.html": ["standings.csv", "matrix.csv"],
    "invitation_sheet.html": ["?language="],
    "log_in.html": ["?then=&"],
    "screen.html": ["live screen"],
    "team.html": ["team", "SHA-256"],
}
"""What templates hold that is no text of a language: names, an address, and classes of pages."""


def words():
    """Words of closed lists, which pages look up by themselves."""
    phases = {form for phase in Phase for form in (str(phase), str(phase).replace("-", " "))}
    goals = {goal_words(goal) for goal in ("reidentification", "membership", "attribute", "linkability", NOT_RUN)}
    incidents = {REFUSED, UNSCORED, "all", *downtime_table([], START).columns}
    accounts = {"has a password", "invited", "not invited"}
    measures = {summary(one).rstrip(".") for one in exported("measures").values()}
    return phases | goals | incidents | accounts | measures | {*QUESTIONS.values(), *FAILURES, *COMPONENTS}


def texts():
    """All texts of the site."""
    return (
        sentences() | words() | set(PAGE.split("\n\n")) | {text for path in TEMPLATES for text in template_texts(path)}
    )


def test_every_text_is_translated_and_no_entry_is_unused():
    known = set(catalogue("ja"))
    missing, unused = sorted(texts() - known), sorted(known - texts())
    assert not missing, f"add to catalogues/ja.po: {missing}"
    assert not unused, f"remove from catalogues/ja.po: {unused}"


def test_translations_hold_the_same_values():
    for english, translation in catalogue("ja").items():
        assert fields(translation) == fields(english), english
        # What separates sentences in English does not in Japanese.
        assert translation.strip() or not english.strip("; \n"), english


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_templates_say_nothing_around_the_catalogue(path):
    assert raw_texts(path) == NAMES.get(path.name, [])


@pytest.mark.parametrize(
    ("chosen", "accepted", "language"),
    [
        ("", "ja,en-US;q=0.9,en;q=0.8", "ja"),
        ("", "en-US,en;q=0.9,ja;q=0.8", "en"),
        ("", "de,fr;q=0.9", "en"),
        ("", "", "en"),
        ("", "ja;q=0", "en"),
        ("", "de,ja;q=0.2", "ja"),
        ("en", "ja", "en"),
        ("ja", "en", "ja"),
        ("xx", "ja", "ja"),
        ("", "ja;q=high,*;;,", "ja"),
    ],
)
def test_language_is_the_chosen_one_or_the_browser_s(chosen, accepted, language):
    assert preferred(chosen, accepted) == language


def test_sentences_are_worded_with_their_values():
    said = Sentence("{phase} until {end}", phase=Phase.ATTACK, end=3)
    assert said == "attack until 3"
    token = LANGUAGE.set("ja")
    try:
        assert worded(said) == "攻撃 until 3"
        assert worded(Sentence("{inner}!", inner=Sentence("attack"))) == "攻撃!"
        assert worded(Sentence.joined(", ", [Sentence("attack"), "Nara"])) == "攻撃、Nara"
        assert worded("attack") == "attack"
    finally:
        LANGUAGE.reset(token)


@pytest.mark.thorough
@pytest.mark.usefixtures("one_baseline")
def test_a_class_in_japanese(cup_site):
    def person(name=""):
        visitor = cup_site.visitor()
        visitor.client.headers["Accept-Language"] = "ja,en-US;q=0.7,en;q=0.3"
        if name:
            path = cup_site.invitation(name)
            assert "パスワードを設定してログイン" in japanese(visitor.get(path))
            given = {"password": "京都の秋は紅葉がきれい", "repeated": "京都の秋"}
            assert "二つのパスワードが違います" in japanese(visitor.post(path, given, page=path), 422)
            given["repeated"] = given["password"]
            followed(visitor, visitor.post(path, given, page=path))
        return visitor

    def table(team, **changed):
        return {"file": (f"{team}_anonymized.csv", cup_site.table(team, **changed), "text/csv")}

    host, kyoto, osaka, guest = person("host"), person("kyoto"), person("osaka"), person()
    title = {"team": "kyoto", "title": "京都大学"}
    assert "京都大学" in followed(host, post(host, "/host/title", title, page="/host"))
    note = {"text": "教室は 201 です。"}
    assert "お知らせを掲示しました" in followed(host, post(host, "/host/message", note, page="/host"))
    assert "教室は 201 です。" in japanese(guest.get("/"))
    assert "このリンクは kyoto だけに" in japanese(host.post("/host/invite", {"team": "kyoto"}, page="/host"))

    home = "/team/kyoto"
    assert "ファイルが送られていません" in japanese(post(kyoto, f"{home}/upload", page=home), 422)
    wrong = followed(kyoto, post(kyoto, f"{home}/upload", page=home, files=table("kyoto", age="二十")))
    assert "受け付けられません" in wrong
    assert "数値ではありません" in wrong
    shown = followed(kyoto, post(kyoto, f"{home}/preview", page=home, files=table("kyoto")))
    assert "この表はほとんど保護されていません" in shown
    assert "受け付け済み、10行" in followed(kyoto, post(kyoto, f"{home}/upload", page=home, files=table("kyoto")))
    followed(osaka, post(osaka, "/team/osaka/upload", page="/team/osaka", files=table("osaka", age="*")))

    early = {"phase": "anonymize", "sure": "yes"}
    assert "チェックを入れてください" in japanese(post(host, "/host/advance", early, page="/host"), 409)
    begun = post(host, "/host/advance", {**early, "early": "yes"}, page="/host")
    assert "フェーズ「攻撃」が始まりました" in followed(host, begun)
    answers = b"released_row,candidate_row,confidence\n0,1,0.5\n1,1,x\n"
    files = {"file": ("any.csv", answers, "text/csv")}
    assert "どのチームへの攻撃でしょうか" in followed(kyoto, post(kyoto, f"{home}/upload", page=home, files=files))
    aimed = post(kyoto, f"{home}/upload", {"against": "osaka"}, page=home, files=files)
    assert "0から1までの数値ではありません" in followed(kyoto, aimed)
    files = {"file": ("any.csv", answers.replace(b"1,1,x", b"1,2,1"), "text/csv")}
    aimed = post(kyoto, f"{home}/upload", {"against": "osaka"}, page=home, files=files)
    assert "10行のうち2行に回答" in followed(kyoto, aimed)
    update_boards(cup_site.played.tournament, 0.5)
    for visitor, paths in {
        guest: ("/", "/screen", "/log-in", "/presentations"),
        kyoto: ("/", home, f"{home}/presentation", "/account"),
        host: ("/host", "/account"),
    }.items():
        for path in paths:
            japanese(visitor.get(path))
    assert "そのページはありません" in japanese(guest.get("/nowhere"), 404)
    assert "主催者だけ" in japanese(kyoto.get("/host"), 403)


def test_language_of_the_browser_and_the_switch(cup_site):
    site = cup_site.visitor()
    page = site.get("/log-in", headers={"Accept-Language": "ja,en;q=0.5"}).text
    assert '<html lang="ja">' in page
    assert "<h1>ログイン</h1>" in page
    assert '<html lang="en">' in site.get("/log-in").text
    # The switch is remembered, whatever the browser says.
    assert '<html lang="ja">' in site.get("/log-in?language=ja").text
    assert '<html lang="ja">' in site.get("/", headers={"Accept-Language": "en"}).text
    assert '<html lang="ja">' in site.get("/nowhere").text
    assert '<html lang="en">' in site.get("/?language=en").text
    assert '<html lang="en">' in site.get("/", headers={"Accept-Language": "ja"}).text
    assert set(LANGUAGES) == {"en", "ja"}
