"""Line charts of reports."""

import numpy as np
import pytest

from leaderboard import Lines, Section, Series, render_report
from leaderboard.pages.line_chart import draw

GAP = Series("N = 10", (0.5, 1, 2, 4), (0.5, 0.4, 0.2, 0.1), (0.4, 0.3, 0.1, 0.0), (0.6, 0.5, 0.3, 0.2))


def chart(*series, **options):
    return Lines("Gap", "epsilon", "loss gap", series or (GAP,), **options)


def test_points_stand_where_their_numbers_say():
    drawing = draw(chart())
    x, y, text = (np.array(part) for part in zip(*drawing.lines[0].points, strict=True))
    assert np.corrcoef(x, GAP.x)[0, 1] == pytest.approx(1, abs=1e-5)
    assert np.corrcoef(y, GAP.y)[0, 1] == pytest.approx(-1, abs=1e-5)
    assert text[0] == "N = 10: epsilon .5, loss gap .5"
    assert drawing.lines[0].whiskers.count("V") == 4
    assert drawing.left < x.min() < x.max() < drawing.right
    assert drawing.top <= y.min() < y.max() <= drawing.bottom


@pytest.mark.parametrize("top", [0.001, 8, 2_000_000, 123_456_789])
def test_labels_of_the_vertical_axis_stand_within_the_chart(top):
    drawing = draw(chart(Series("a", (1, 2), (0.0, top))))
    # The template ends a label 5 units before the axis; a digit of its font is 6 units wide.
    assert min(drawing.left - 5 - 6 * len(text) for _, text in drawing.up) >= 0
    assert all(drawing.left <= x <= drawing.right for x, _ in drawing.across)


def test_a_logarithmic_axis_shows_factors_as_distances():
    x = [point[0] for point in draw(chart(scale="logarithmic")).lines[0].points]
    assert np.diff(x) == pytest.approx(np.diff(x)[0], abs=0.11)


def test_ticks_are_round_and_span_the_values():
    ticks = [text for _, text in draw(chart()).up]
    assert ticks == ["0", ".2", ".4", ".6"]
    wide = draw(chart(Series("a", (0, 1000), (-3.0, 4711.0)), scale="linear"))
    assert [text for _, text in wide.up] == ["-1,000", "0", "1,000", "2,000", "3,000", "4,000", "5,000"]


@pytest.mark.parametrize("values", [(0.3,), (0.0, 0.0), (7.0, 7.0)])
def test_a_single_point_and_a_level_line_are_drawn(values):
    drawing = draw(chart(Series("flat", tuple(range(1, 1 + len(values))), values)))
    assert all(np.isfinite(point[:2]).all() for point in drawing.lines[0].points)


def test_the_page_names_axes_and_what_is_better():
    page = render_report("Report", {}, (Section("Part", lines=(chart(better="lower", scale="logarithmic"),)),))
    assert "loss gap (↓ lower is better)" in page
    assert "epsilon (logarithmic)" in page
    assert "N = 10</text>" in page


@pytest.mark.parametrize(
    ("series", "options", "said"),
    [
        ((), {}, "1 to 6 lines"),
        ((GAP,) * 7, {}, "1 to 6 lines"),
        ((Series("a", (), ()),), {}, "differ in length"),
        ((Series("a", (1, 2), (1,)),), {}, "differ in length"),
        ((Series("a", (1, 2), (1, 2), (1,), (2,)),), {}, "differ in length"),
        ((Series("a", (1,), (float("nan"),)),), {}, "not finite"),
        ((Series("a", (0, 1), (1, 2)),), {"scale": "logarithmic"}, "logarithmic"),
    ],
)
def test_charts_that_cannot_be_drawn_are_refused(series, options, said):
    with pytest.raises(ValueError, match=said):
        Lines("Gap", "x", "y", series, **options)
