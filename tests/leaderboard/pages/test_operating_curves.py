"""Geometry of operating curves."""

import math
import re
from itertools import pairwise

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.pages.advantage_axis import SCALES, Scale, crosses, distance, inside, is_free, text_box
from leaderboard.pages.operating_curves import DASHES, FRONT, KINDS, MARKERS, box_of, curve_styles, draw_curves
from leaderboard.statistics.settings import Setting


def setting(family: str, strength: int, utility: float, advantage: float, **rest: float) -> Setting:
    upper = rest.pop("upper", min(1.0, advantage + 0.02))
    failures = int(rest.pop("failures", 0))
    name = f"{family} k={strength}"
    return Setting(family=family, name=name, utility=utility, advantage=advantage, upper=upper, failures=failures)


SETTINGS = [
    setting("Mondrian", 2, 0.9, 0.7),
    setting("Mondrian", 10, 0.5, 0.2),
    setting("Mondrian", 50, 0.2, 0.02),
    setting("Rounding", 5, 0.8, 1.0),
    setting("Rounding", 20, 0.4, 0.07),
]


@pytest.mark.parametrize("scale", SCALES)
def test_more_utility_is_higher_and_less_advantage_is_further_left(scale: Scale) -> None:
    drawn = draw_curves(SETTINGS, curve_styles(["Mondrian", "Rounding"]), 800, 500, scale=scale)
    marks = [mark for curve in drawn.curves for mark in curve.marks]
    assert len(marks) == len(SETTINGS)
    by_risk = sorted(marks, key=lambda mark: mark.setting.advantage)
    assert [mark.x for mark in by_risk] == sorted(mark.x for mark in marks)
    by_utility = sorted(marks, key=lambda mark: -mark.setting.utility)
    assert [mark.y for mark in by_utility] == sorted(mark.y for mark in marks)
    assert all(0 < mark.x < 800 and 0 < mark.y < 500 for mark in marks)
    assert [guide.x for guide in drawn.guides] == sorted(guide.x for guide in drawn.guides)


def test_a_line_runs_through_measured_settings_only() -> None:
    drawn = draw_curves(SETTINGS, curve_styles(["Mondrian", "Rounding"]), 800, 500)
    for curve in drawn.curves:
        points = [tuple(map(float, pair.split())) for pair in curve.path.removeprefix("M").split("L")]
        assert points == [(mark.x, mark.y) for mark in curve.marks]
        advantages = [mark.setting.advantage for mark in curve.marks]
        assert advantages == sorted(advantages)


def test_guides_name_the_most_useful_setting_whose_upper_bound_meets_the_limit() -> None:
    failing = setting("Rounding", 7, 0.99, 0.0, failures=1)
    wide = setting("Rounding", 9, 0.95, 0.01, upper=0.6)
    drawn = draw_curves([*SETTINGS, failing, wide], curve_styles(["Mondrian", "Rounding"]), 800, 500)
    named = {guide.bound: guide.best.name if guide.best else None for guide in drawn.guides}
    assert named == {0.05: "Mondrian k=50", 0.1: "Rounding k=20", 0.25: "Mondrian k=10", 0.5: "Mondrian k=10"}
    assert {mark.setting.name for curve in drawn.curves for mark in curve.marks if mark.best} == set(named.values())


def test_no_guide_names_a_setting_if_none_meets_the_limit() -> None:
    drawn = draw_curves([setting("Identity", 1, 1.0, 1.0)], curve_styles(["Identity"]), 800, 500)
    assert [guide.best for guide in drawn.guides] == [None] * 4
    assert drawn.curves[0].path == ""


def test_an_advantage_below_the_logit_axis_is_drawn_at_its_start() -> None:
    low = [setting("Constant", 1, 0.0, 0.0), setting("Constant", 2, 0.1, 0.001)]
    drawn = draw_curves(low, curve_styles(["Constant"]), 800, 500, scale="logit")
    start = drawn.across[0]
    assert start[0] == "≤ .01"
    assert {mark.x for mark in drawn.curves[0].marks} == {start[1]}


def test_no_measured_setting_lies_above_the_front() -> None:
    drawn = draw_curves(SETTINGS, curve_styles(["Mondrian", "Rounding"]), 800, 500, scale="linear")
    steps = [(0.0, 1e9)]
    for command, value in re.findall(r"([MHV])([\d.]+(?: [\d.]+)?)", drawn.front):
        if command == "M":
            x, y = map(float, value.split())
            steps = [(x, y)]
        else:
            x, y = steps[-1]
            steps.append((float(value), y) if command == "H" else (x, float(value)))
    for mark in (mark for curve in drawn.curves for mark in curve.marks):
        highest = min((y for x, y in steps if x <= mark.x), default=1e9)
        assert mark.y >= highest


def test_labels_stay_in_the_frame_and_do_not_overlap() -> None:
    families = [f"Family{number}" for number in range(30)]
    crowd = [
        setting(family, strength, 1 - 0.03 * number - 0.1 * strength / 5, min(1.0, 0.02 + 0.03 * number * strength))
        for number, family in enumerate(families)
        for strength in range(1, 5)
    ]
    drawn = draw_curves(crowd, curve_styles(families), 1000, 600)
    boxes = [text_box(one.x, one.y, one.anchor, 6.2 * len(one.text), 13.5) for one in drawn.labels]
    assert boxes
    left, right, top, bottom = drawn.margin
    for index, box in enumerate(boxes):
        assert inside(box, (left, 1000 - right, top, 600 - bottom))
        assert is_free(box, boxes[:index])
    assert draw_curves(crowd, curve_styles(families), 1000, 600, labelled=False).labels == []


def test_thirty_families_have_styles_of_their_own() -> None:
    families = [f"Family{number:02}" for number in range(30)]
    kinds = {family: list(KINDS)[number % 6] for number, family in enumerate(families)}
    for known in (kinds, None):
        styles = curve_styles(families, known)
        assert len({(style.colour, style.marker) for style in styles.values()}) == 30
        assert all(1 <= style.colour <= 6 for style in styles.values())
        assert {style.marker for style in styles.values()} <= set(MARKERS)
        assert {style.dash for style in styles.values()} <= set(DASHES)
    assert all(style.kind == KINDS[kinds[family]] for family, style in curve_styles(families, kinds).items())


def test_the_order_of_families_and_settings_changes_nothing() -> None:
    styles = curve_styles(["Rounding", "Mondrian"])
    assert list(styles) == list(curve_styles(["Mondrian", "Rounding"]))
    assert draw_curves(SETTINGS, styles, 800, 500) == draw_curves(SETTINGS[::-1], styles, 800, 500)


def test_a_picture_without_settings_is_empty() -> None:
    drawn = draw_curves([], {}, 800, 500)
    assert (drawn.curves, drawn.front, drawn.labels) == ([], "", [])


settings_drawn = st.builds(
    setting,
    st.sampled_from([f"FamilyWithALongName{number}" for number in range(8)]),
    st.integers(1, 9),
    st.floats(0, 1),
    st.floats(0, 1) | st.sampled_from([0.0, 0.99, 1.0]),
)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("scale", SCALES)
@hypothesis.settings(max_examples=60, deadline=None)
@given(crowd=st.lists(settings_drawn, min_size=1, max_size=40, unique_by=lambda one: one.name))
def test_the_front_and_other_names_lie_under_no_name(scale: Scale, crowd: list[Setting]) -> None:
    drawn = draw_curves(crowd, curve_styles({one.family for one in crowd}), 1000, 600, scale=scale)
    points: list[tuple[float, float]] = []
    for command, values in re.findall(r"([MHV])([\d.]+(?: [\d.]+)?)", drawn.front):
        numbers = [float(value) for value in values.split()]
        x, y = points[-1] if points else (0.0, 0.0)
        points.append({"M": tuple(numbers), "H": (numbers[0], y), "V": (x, numbers[0])}[command])  # type: ignore[arg-type]
    boxes = [box_of(name) for name in drawn.labels]
    for index, box in enumerate(boxes):
        half = FRONT / 2
        grown = (box[0] - half, box[1] + half, box[2] - half, box[3] + half)
        assert not any(crosses(grown, (*one, *other)) for one, other in pairwise(points))
        assert is_free(box, boxes[:index])


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("scale", SCALES)
@hypothesis.settings(max_examples=60, deadline=None)
@given(crowd=st.lists(settings_drawn, min_size=1, max_size=40, unique_by=lambda one: one.name))
def test_no_other_setting_of_its_family_is_nearer_to_a_name(scale: Scale, crowd: list[Setting]) -> None:
    drawn = draw_curves(crowd, curve_styles({one.family for one in crowd}), 1000, 600, scale=scale)
    marks = {mark.setting.name: (mark.x, mark.y) for curve in drawn.curves for mark in curve.marks}
    for label in (label for label in drawn.labels if label.text in marks):
        own, box = marks[label.text], box_of(label)
        family = label.text.partition(" ")[0]
        apart = [place for name, place in marks.items() if name.startswith(f"{family} ") and math.dist(own, place) > 9]
        assert all(distance(box, own) < distance(box, other) for other in apart)


def test_a_name_that_would_stand_nearer_to_another_setting_of_its_family_is_left_out() -> None:
    # The frame leaves room on the right only, where the second setting is.
    measured = [setting("Mondrian", 2, 0.5, 0.01, upper=0.02), setting("Mondrian", 3, 0.499, 0.0125, upper=0.02)]
    drawn = draw_curves(measured, curve_styles(["Mondrian"]), 1000, 600, scale="logit")
    [first, second] = drawn.curves[0].marks
    assert 9 < second.x - first.x < 60
    assert "Mondrian k=2" not in {label.text for label in drawn.labels}
