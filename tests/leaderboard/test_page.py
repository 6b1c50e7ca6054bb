"""The HTML page of the board."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from leaderboard import Pair, Result, Row, matrix, rank, render_page
from leaderboard.chart import picture
from metrics import Score

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
        if tag not in {"meta", "link", "wbr"}:
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


def test_every_heading_of_the_sortable_table_is_a_button_and_one_is_sorted() -> None:
    text = page(results())
    head = text[text.index("<thead>") : text.index("</thead>")]
    assert head.count("<th ") == head.count('<button type="button"') == 11
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


@pytest.mark.parametrize("labelled", [True, False])
def test_a_picture_without_scores_is_empty(labelled: bool) -> None:
    drawn = picture([], 350, 400, 9, labelled=labelled)
    assert (drawn.points, drawn.front, drawn.labels) == ([], "", [])
