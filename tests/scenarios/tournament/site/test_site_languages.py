"""The site's texts in other languages: every text has an entry, and every entry is used."""

import pytest
from language_tools import TEMPLATES, fields, raw_texts, sentences, template_texts
from site_tools import START

from leaderboard.results import FAILURES, goal_words
from leaderboard.statistics.downtime import downtime_table
from metrics.columns import Sentence
from metrics.table_utility import COMPONENTS
from scenarios.tournament.rules import Phase
from scenarios.tournament.rules.incidents import REFUSED, UNSCORED
from scenarios.tournament.rules.standings import NOT_RUN
from scenarios.tournament.site.languages import LANGUAGE, LANGUAGES, catalogue, preferred, worded

NAMES = {
    "board.html": ["live"],
    "board_main.html": ["standings.csv", "matrix.csv"],
    "log_in.html": ["?then=&"],
    "screen.html": ["live screen"],
    "team.html": ["team", "SHA-256"],
}
"""What templates hold that is no text of a language: names, an address, and classes of pages."""


def words():
    """Words of closed lists, which pages look up by themselves."""
    phases = {form for phase in Phase for form in (str(phase), str(phase).replace("-", " "))}
    goals = {goal_words(goal) for goal in ("reidentification", "membership", NOT_RUN)}
    incidents = {REFUSED, UNSCORED, "all", *downtime_table([], START).columns}
    accounts = {"has a password", "invited", "not invited"}
    return phases | goals | incidents | accounts | {*FAILURES, *COMPONENTS}


def texts():
    """All texts of the site."""
    return sentences() | words() | {text for path in TEMPLATES for text in template_texts(path)}


def test_every_text_is_translated_and_no_entry_is_unused():
    known = set(catalogue("ja"))
    missing, unused = sorted(texts() - known), sorted(known - texts())
    assert not missing, f"add to catalogues/ja.po: {missing}"
    assert not unused, f"remove from catalogues/ja.po: {unused}"


def test_translations_hold_the_same_values():
    for english, japanese in catalogue("ja").items():
        assert fields(japanese) == fields(english), english
        assert japanese.strip(), english


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
