"""The HTML page of the board."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from browser_tools import chromium

from leaderboard import (
    Pair,
    Result,
    Row,
    board_sections,
    exposures,
    matrix,
    rank,
    render_page,
    report_to_terminal,
    summary_tables,
)
from leaderboard.pages.chart import picture
from leaderboard.results.goals import goal_meaning, goal_title, sought
from leaderboard.statistics.exposure import Exposure, WorstAttack
from leaderboard.statistics.pairs import Success
from metrics import Score
from metrics.estimate import Estimate
from scenarios.running.methods.methods import exported

HOSTILE = '<script>alert("x")</script>'


def results(defense: str = "Mondrian", attack: str = "Greedy") -> list[Result]:
    found = []
    for play in range(3):
        release = Result(
            key=f"release {play}",
            scenario="bank",
            defense=defense,
            parameters={"k": 5},
            guarantee="k=5",
            play=play,
            values={"marginals": 0.5 + play / 10},
        )
        found.append(release)
        for decoys in ("random", "hard"):
            scores = {
                "reidentification": Score("reidentification", play / 10, 0.005, 1),
                "membership": Score("membership", None, 0.5, 0),
            }
            trial = {"key": f"{decoys} {play}", "game": {"decoys": decoys}, "attack": attack, "values": {}}
            found.append(replace(release, **trial, scores=scores))
    return found


def page(found: list[Result], **descriptions: str) -> str:
    rows: list[Row] = rank(found)
    pairs: list[Pair] = matrix(found)
    return render_page(rows, pairs, {"seed": "1", "version": "0.1.0"}, descriptions)


class Reader(HTMLParser):
    """Tags with their attributes, text outside of script and style, and which elements were left open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in {"meta", "link", "wbr", "input"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self.open):
            self.words.append(data)


def test_the_page_is_well_formed_and_says_what_was_measured() -> None:
    reader = Reader(page(results(), Mondrian="Splits at medians."))
    assert reader.open == []
    text = " ".join(" ".join(reader.words).split())
    for words in ("Tokumei leaderboard", "decoys=random", "decoys=hard", "k=5", "Splits at medians.", "0.1.0"):
        assert words in text
    identifiers = [attributes["id"] for _, attributes in reader.tags if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))
    links = {attributes["href"] for tag, attributes in reader.tags if tag == "a"}
    assert links == {"#name-Mondrian"}
    assert "name-Mondrian" in identifiers


def test_the_introduction_names_only_goals_that_the_board_has() -> None:
    assert "Attacks tried to find out whose row a row is. A good defense" in page(results())
    values = [replace(one, scores={"attribute": Score("attribute", 0.5, 0.1, 9)}) for one in results() if one.attack]
    releases = [one for one in results() if not one.attack]
    assert "find out a person&#39;s sensitive value." in page([*releases, *values])


@pytest.mark.parametrize("goal", sorted({str(attack.goal) for attack in exported("attacks").values()}))
def test_every_goal_of_an_attack_is_named(goal: str) -> None:
    assert sought([goal]) != sought([])


def test_the_page_loads_nothing_from_anywhere() -> None:
    text = page(results(), Mondrian="Splits at medians.")
    assert not re.search(r"(https?:)?//(?!www\.w3\.org/)[\w.-]+\.\w", text, re.IGNORECASE)
    assert "@import" not in text
    assert "url(" not in text
    reader = Reader(text)
    assert not {tag for tag, _ in reader.tags} & {"img", "iframe", "object", "embed", "audio", "video"}
    assert all("src" not in attributes for _, attributes in reader.tags)
    policy = next(a["content"] for t, a in reader.tags if t == "meta" and "http-equiv" in a)
    assert policy is not None
    assert policy.startswith("default-src 'none'")


def test_hostile_names_are_text() -> None:
    found = [
        replace(row, scenario=HOSTILE, guarantee=HOSTILE, reason=HOSTILE, status="ok" if row.play else "error")
        for row in results(defense=HOSTILE, attack=HOSTILE)
    ]
    hostile = render_page(rank(found), matrix(found), {HOSTILE: HOSTILE}, {HOSTILE: f'" onclick="{HOSTILE}'})
    assert HOSTILE not in hostile
    reader = Reader(hostile)
    assert sum(tag == "script" for tag, _ in reader.tags) == 1
    assert not any(name.startswith("on") for _, attributes in reader.tags for name in attributes)


def test_the_order_of_insertion_changes_no_byte_of_the_page() -> None:
    assert page(results()) == page(results()[::-1])


def test_every_heading_of_the_sortable_table_can_be_pressed_and_one_is_sorted() -> None:
    text = page(results())
    head = text[text.index("<thead>") : text.index("</thead>")]
    assert head.count("<th ") == head.count('role="button" tabindex="0"') == 11
    # Chromium repeats no heading in print that holds a form element.
    assert "<button" not in head
    assert head.count("aria-sort") == 1


def test_a_board_without_results_or_scores_is_a_page_too() -> None:
    assert "No result yet" in render_page([], [], {}, {})
    failed = [replace(row, status="error", reason="out of luck", values={}, scores={}) for row in results()]
    text = page(failed)
    assert "out of luck" in text
    assert "incomplete: 6 failed" in text


def test_the_picture_puts_better_defenses_higher_and_further_left() -> None:
    found = [*results("Good"), *(replace(row, key=f"bad {row.key}", defense="Bad") for row in results())]
    worse = [
        replace(row, values={"marginals": 0.1})
        if row.attack is None and row.defense == "Bad"
        else replace(row, scores={"reidentification": Score("reidentification", 0.9, 0.005, 1)})
        if row.defense == "Bad"
        else row
        for row in found
    ]
    rows = [row for row in rank(worse) if row.variant == "decoys=hard"]
    drawn = picture(rows, 800, 500, 10, labelled=True)
    points = {point.row.defense: point for point in drawn.points}
    good, bad = points["Good"], points["Bad"]
    assert good.x < bad.x
    assert good.y < bad.y
    for point in points.values():
        assert 0 <= point.left <= point.x <= point.right <= 800
        assert 0 <= point.top <= point.y <= point.bottom <= 500
    assert [name.text for name in drawn.labels] == ["Good k=5"]
    assert drawn.points[-1].row.rank == 1


def test_equal_defenses_have_discs_side_by_side_near_their_point() -> None:
    found = [replace(row, key=f"{name} {row.key}", defense=name) for name in "ABCDEFGH" for row in results()]
    rows = [row for row in rank(found) if row.variant == "decoys=hard"]
    points = picture(rows, 880, 560, 10, labelled=True).points
    assert len({(point.x, point.y) for point in points}) == 1
    assert sum(point.moved for point in points) == 7
    for index, point in enumerate(points):
        assert abs(point.disc_x - point.x) <= 80
        assert abs(point.disc_y - point.y) <= 80
        for other in points[:index]:
            assert abs(point.disc_x - other.disc_x) >= 20 or abs(point.disc_y - other.disc_y) >= 20


@pytest.mark.parametrize("labelled", [True, False])
def test_a_picture_without_scores_is_empty(labelled: bool) -> None:
    drawn = picture([], 350, 400, 9, labelled=labelled)
    assert (drawn.points, drawn.front, drawn.labels) == ([], "", [])


GOALS = ("reidentification", "membership", "attribute", "singling_out", "linkability")


def large_board() -> tuple[list[Row], list[Pair], list[Exposure]]:
    """Two data sets, 25 families with four settings each, and 25 attacks: 5,000 pairs of defense and attack."""
    rows: list[Row] = []
    pairs: list[Pair] = []
    exposed: list[Exposure] = []
    for scenario in ("arena on adult", "arena on bank"):
        for family in range(25):
            for strength in (1, 2, 3, 4):
                method: dict[str, Any] = {
                    "defense": f"DefenseOfFamily{family:02}",
                    "parameters": {"strength": strength},
                }
                place: dict[str, Any] = {"scenario": scenario, "variant": ""}
                utility, advantage = 1 - 0.2 * strength + 0.007 * family, 0.01 + 0.03 * family / strength
                rows.append(
                    Row(
                        rank=len(rows) % 100 + 1,
                        **place,
                        **method,
                        guarantee="k=5",
                        utility=utility,
                        components=dict.fromkeys(("marginals", "associations", "queries", "classifier"), utility),
                        measured={"k": 5.0, "pk": 1 / 7},
                        worst_attack="AttackWithLongName00",
                        worst_parameters={},
                        goal="membership",
                        success=0.5 + advantage / 2,
                        chance=0.5,
                        advantage=advantage,
                        score=utility * (1 - advantage),
                        plays=1,
                        attacks=25,
                        failures=0,
                        reason="",
                        complete=True,
                        seconds=1.0,
                    )
                )
                for attack in range(25):
                    pursued = GOALS[:2] if attack < 9 else (GOALS[1 + attack % 4],)
                    pairs.append(
                        Pair(
                            **place,
                            **method,
                            attack=f"AttackWithLongName{attack:02}",
                            attack_parameters={},
                            successes={goal: Success(goal, (0.5 + advantage / 2,), 500, 0.5) for goal in pursued},
                            measures={"answered": 1.0, "precision": 0.5, "top3": 0.7},
                            plays=1,
                            status="ok",
                            reason="",
                            seconds=1.0,
                        )
                    )
                worst = {
                    goal: WorstAttack(goal, "AttackWithLongName00", {}, advantage, min(1.0, advantage + 0.03), 25)
                    for goal in GOALS
                }
                estimate = Estimate(utility, utility, utility, 1)
                exposed.append(
                    Exposure(
                        **place,
                        **method,
                        guarantee="k=5",
                        utility=estimate,
                        goals=worst,
                        overall=worst["membership"],
                        failures=0,
                        release_seconds=0.1,
                        attack_seconds=1.0,
                    )
                )
    return rows, pairs, exposed


@pytest.mark.thorough
def test_a_board_of_5000_cells_is_at_most_two_megabytes_and_needs_no_script() -> None:
    rows, pairs, exposed = large_board()
    assert len(pairs) == 5000
    text = render_page(rows, pairs, {"seed": "1"}, {}, exposures=exposed)
    assert len(text.encode()) <= 2_000_000
    reader = Reader(text)
    assert reader.open == []
    assert not {tag for tag, _ in reader.tags} & {"img", "iframe", "object", "embed", "noscript"}
    assert not re.search(r"(https?:)?//(?!www\.w3\.org/)[\w.-]+\.\w", text, re.IGNORECASE)
    assert not any(tag == "use" for tag, _ in reader.tags)
    # Tables and pictures are in the document itself: a cell for each pair and goal, and a marker for each setting.
    without = text[: text.index("<script>")]
    assert sum("title" in attributes for tag, attributes in reader.tags if tag == "td") >= 5000
    marks = re.findall('<g class="marks".*?</g>', without, re.DOTALL)
    assert sum(family.count("<path") for family in marks) >= 200 * (4 + 2 * len(GOALS))
    assert 'hidden=""' not in without
    places = [attributes for tag, attributes in reader.tags if tag == "section"]
    assert all("hidden" not in attributes for attributes in places)
    identifiers = [attributes["id"] for _, attributes in reader.tags if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))


def strengths(goals: tuple[str, ...]) -> list[Result]:
    """A family of two settings, and one of two more, with one attack that pursues some goals."""
    results = []
    for defense in ("Mondrian", "Rounding"):
        for k, utility, rate in ((2, 0.8, 0.9), (50, 0.3, 0.5)):
            common: dict[str, Any] = {"scenario": "bank", "defense": defense, "parameters": {"k": k}, "play": 0}
            scores = {goal: Score(goal, rate, 0.5, 10_000) for goal in goals}
            name = f"{defense} {k}"
            results.append(Result(key=f"r {name}", values={"marginals": utility}, **common))
            results.append(Result(key=f"t {name}", attack="Homer", scores=scores, **common))
    return results


def test_several_goals_show_operating_curves_and_what_each_goal_means() -> None:
    played = strengths(GOALS)
    text = render_page(rank(played), matrix(played), {}, {}, exposures=exposures(played))
    words = " ".join(" ".join(Reader(text).words).split())
    for goal in GOALS:
        assert goal_title(goal) in words
        assert goal_meaning(goal) in words
    assert words.count("Mondrian k=50 keeps utility .30") == 4
    assert "nothing between two markers is claimed" in words
    assert "1 complete play." in words
    # One play is sure of nothing, and four settings of little.
    assert words.count("in these plays") > words.count("for sure") == 0
    assert "To be sure of .05 over 4 settings takes at least 86 plays." in words


def test_a_card_says_that_a_bound_is_met_for_sure_where_plays_exclude_more() -> None:
    played = [replace(one, key=f"{one.key} {play}", play=play) for one in strengths(GOALS) for play in range(20)]
    text = render_page(rank(played), matrix(played), {}, {}, exposures=exposures(played))
    words = " ".join(" ".join(Reader(text).words).split())
    assert "risk at most 50 % Mondrian k=50 keeps utility .30 worst advantage" in words
    cards = words.partition("risk at most 25 %")
    assert "for sure" not in cards[0]
    assert "for sure" in cards[2]


def test_curves_for_the_screen_have_tooltips_and_those_for_print_have_the_same_marks_without() -> None:
    played = strengths(GOALS)
    text = render_page(rank(played), matrix(played), {}, {}, exposures=exposures(played))
    drawings = list(re.finditer(r'<svg [^>]*class="chart curves (\w+).*?</svg>', text, re.DOTALL))
    assert {drawing[1] for drawing in drawings} == {"wide", "narrow", "print", "small"}
    for drawing in drawings:
        families = re.findall('<g class="marks".*?</g>', drawing[0])
        assert sum(family.count("<path") for family in families) == 4
        assert drawing[0].count("<title>Mondrian k=50: utility .30, advantage") == (drawing[1] != "print")


@pytest.mark.thorough
def test_a_summary_shows_utility_left_at_risk_and_the_usefulness_of_attacks() -> None:
    played = strengths(GOALS)
    settings = exposures(played)
    summary = summary_tables(played, settings)
    text = render_page(rank(played), matrix(played), {}, {}, exposures=settings, summary=summary)
    words = " ".join(" ".join(Reader(text).words).split())
    assert "Utility left at risk" in words
    (left,) = summary.left.values()
    for row in [*left.texts(), *summary.attacks.texts()]:
        assert " ".join(cell for cell in row if cell) in words
    assert "Which attacks count?" in words
    assert "Utility left at risk" not in render_page(rank(played), matrix(played), {}, {}, exposures=settings)


def test_one_goal_keeps_the_scatter_chart() -> None:
    played = strengths(GOALS[:1])
    text = render_page(rank(played), matrix(played), {}, {}, exposures=exposures(played))
    assert "Operating curves" not in text
    assert 'class="chart wide logit"' in text


def test_fractions_are_written_alike_everywhere() -> None:
    measured = [
        replace(row, values={**row.values, "pk": 1 / 7, "k": 5.0}) if row.attack is None else row for row in results()
    ]
    text = page(measured)
    assert "measured k 5, pk .143" in text
    assert "0.143" not in text


def test_equal_scores_share_a_rank_on_page_and_terminal_and_a_disc_has_the_text_of_its_row() -> None:
    found = [replace(row, key=f"{name} {row.key}", defense=name) for name in ("A", "B", "C") for row in results()]
    better = [
        replace(row, key=f"good {row.key}", defense="Good", values={"marginals": 0.95 if row.attack is None else 0.0})
        for row in results()
    ]
    rows = [row for row in rank([*found, *better]) if row.variant == "decoys=hard"]
    assert [row.rank for row in rows] == [1, 2, 2, 2]
    text = render_page(rows, matrix([*found, *better]), {}, {})
    shown = re.findall(r'<td class="count" data-sort="\d+">([^<]*)</td>', text)
    assert shown == ["1", "2a", "2b", "2c"]
    first = text[text.index('class="chart wide') :].partition("</svg>")[0]
    assert sorted(re.findall(r'text-anchor="middle"[^>]*>(\d+[a-z]?)</text>\s*</g>', first)) == shown
    lines = report_to_terminal(board_sections(rows)).splitlines()
    assert [line.replace("★", "").split()[:2] for line in lines[4:8]] == [
        ["1", "Good"],
        ["2a", "A"],
        ["2b", "B"],
        ["2c", "C"],
    ]
    assert "a rank with a letter: equal scores" in lines[-1]
    assert "a rank with a letter" not in report_to_terminal(board_sections(rows[:2]))


def test_a_scatter_chart_has_both_axes_and_says_which() -> None:
    text = page(results())
    for size in ("wide", "narrow", "print"):
        for scale in ("logit", "linear"):
            assert text.count(f'class="chart {size} {scale}"') == 2
    assert text.count("advantage of the worst attack, logit axis") == 4
    assert text.count(">worst advantage, logit axis") == 2
    # Without the choice of an axis the first one shows.
    assert "checked> logit axis" in text


@pytest.mark.thorough
def test_a_page_that_is_dark_on_the_screen_is_printed_black_on_white() -> None:
    colours = "const s = getComputedStyle(document.querySelector('.scroll')); [s.backgroundColor, s.color]"
    with chromium() as browser:
        shown = browser.new_page(color_scheme="dark")
        shown.set_content(page(results()))
        assert shown.evaluate(colours) == ["rgb(23, 27, 32)", "rgb(230, 233, 237)"]
        shown.emulate_media(media="print", color_scheme="dark")
        assert shown.evaluate(colours) == ["rgb(255, 255, 255)", "rgb(26, 30, 35)"]
        # Nobody hovers over paper.
        assert shown.get_by_text("A disc beside its point").first.is_visible()
        assert not shown.get_by_text("Hover over, tap or focus a disc").first.is_visible()
