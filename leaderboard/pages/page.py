"""The board as one self-contained HTML page that works offline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from leaderboard import (
    Earlier,
    Exposure,
    Pair,
    Row,
    StatedGuarantee,
    earlier_tables,
    guarantee_tables,
    label,
    skip_tables,
)
from leaderboard.pages.advantage_axis import SCALE_WORDS, SCALES
from leaderboard.pages.board_tables import (
    LARGEST,
    ON_PAGE,
    advantage_text,
    attack_text,
    grids,
    interval_text,
    place_title,
    plays_text,
    rank_texts,
)
from leaderboard.pages.chart import picture
from leaderboard.pages.documents import render
from leaderboard.pages.heat_map import heat_map
from leaderboard.pages.number_text import counted, measure, number
from leaderboard.pages.operating_curves import Style, curve_styles, draw_curves, guide_settings
from leaderboard.results.goals import goal_heading, goal_meaning, goal_title, goal_words, in_order, sought
from leaderboard.statistics import SummaryTables, by_place, plays_condition, settings_of, sure_note

_SIZES = (("wide", 880, 560, 10), ("narrow", 350, 400, 9), ("print", 510, 380, 10))
"""Size and radius of discs of the charts for wide and narrow screens, and for a line of a paper."""


def render_page(
    rows: Sequence[Row],
    pairs: Sequence[Pair],
    about: Mapping[str, str],
    descriptions: Mapping[str, str],
    *,
    kinds: Mapping[str, str] | None = None,
    exposures: Sequence[Exposure] = (),
    summary: SummaryTables | None = None,
    guarantees: Sequence[StatedGuarantee] = (),
    earlier: Sequence[Earlier] = (),
) -> str:
    """HTML page of the board, which loads no external resources.

    Parameters
    ----------
    rows : sequence of Row
        Rows as returned by `rank`.
    pairs : sequence of Pair
        Pairs as returned by `matrix`.
    about : mapping of str
        Facts about the run: scenario, plays, seed, version, date.
    descriptions : mapping of str
        Description of each name in one line; occurrences of the name link to it.
    kinds : mapping of str, optional
        Kind of each defense (`leaderboard.pages.operating_curves.KINDS`), which gives its colour in operating curves.
    exposures : sequence of Exposure
        Exposures as returned by `leaderboard.exposures`. If a variant of a scenario has several goals, and most
        families have several settings, operating curves show them.
    summary : SummaryTables, optional
        Tables of several data sets or goals (`leaderboard.statistics.summary.summary_tables`).
    guarantees : sequence of StatedGuarantee
        What the defenses guarantee (`leaderboard.results.guarantees.stored_guarantees`); tables say which columns that
        covers.
    earlier : sequence of Earlier
        Results that the board leaves out (`leaderboard.results.earlier_versions`); tables name them.
    """
    grid = grids(pairs)
    styles = curve_styles({row.defense for row in rows}, kinds)
    scenarios = sorted({row.scenario for row in rows})
    below = (earlier_tables(earlier), guarantee_tables(guarantees), skip_tables(pairs))
    places = [
        {
            **_place(group, grid.get((scenario, variant), {}), styles, exposures),
            "tables": [table for tables in below for table in tables.get(scenario, [])],
            "left": summary and summary.left.get((scenario, variant)),
            "id": f"place-{index}",
            "title": place_title(scenario, variant),
            # With a single scenario, the variant alone suffices.
            "choice": variant if variant and len(scenarios) == 1 else place_title(scenario, variant),
        }
        for index, ((scenario, variant), group) in enumerate(by_place(rows).items())
    ]
    return render(
        "board.html",
        {"anchor": _anchor, "percent": _percent},
        scenarios=scenarios,
        sought=sought({goal for pair in pairs for goal in pair.successes}),
        places=places,
        attacks=summary and summary.attacks,
        about=about,
        descriptions=descriptions,
        goal_words=goal_words,
        goal_title=goal_title,
        goal_meaning=goal_meaning,
        goal_heading=goal_heading,
        label=label,
        columns=ON_PAGE,
        largest_note=LARGEST,
        scale_words=SCALE_WORDS,
    )


def _place(
    rows: Sequence[Row],
    grid: Mapping[str, Mapping[str, Pair]],
    styles: Mapping[str, Style],
    exposures: Sequence[Exposure],
) -> dict[str, Any]:
    """Template variables of one scenario and variant."""
    names = [label(row.defense, row.parameters) for row in rows]
    ranks = rank_texts(rows)
    curves = _curves(rows, styles, exposures)
    return {
        "ranks": ranks,
        "rows": list(zip(names, rows, [_details(row) for row in rows], strict=True)),
        "plays": counted(plays_text(rows), "complete play"),
        "if_plays_vary": plays_condition(min(row.plays for row in rows)),
        "biased": not all(row.advantage_unbiased for row in rows),
        "curves": curves,
        "pictures": []
        if curves
        else [
            (size, chart, [(names[at], ranks[at]) for at in chart.unnamed])
            for size, width, height, radius in _SIZES
            for scale in SCALES
            for chart in [picture(rows, width, height, radius, labelled=size != "narrow", scale=scale)]
        ],
        "heat": heat_map(rows, grid, list(styles)),
    }


def _curves(rows: Sequence[Row], styles: Mapping[str, Style], exposures: Sequence[Exposure]) -> dict[str, Any] | None:
    """Operating curves of one scenario and variant; None with a single goal, or few settings for the families."""
    families = {row.defense for row in rows}
    own = [exposure for exposure in exposures if exposure.place == (rows[0].scenario, rows[0].variant)]
    played = in_order({goal for exposure in own for goal in exposure.goals})
    if len(played) < 2 or len(rows) < 2 * len(families):
        return None
    overall = settings_of(rows, own)
    by_goal = {goal: settings_of(rows, own, goal) for goal in played}
    shown = {family: style for family, style in styles.items() if family in families}
    legend = [
        entry
        for kind, members in groupby(shown.items(), lambda one: one[1].kind)
        for entry in ((f"{kind}:", None), *members)
    ]
    return {
        "best": guide_settings(overall),
        "sure": sure_note(own),
        "overall": [
            (size, draw_curves(overall, styles, width, height, scale=scale, labelled=size != "narrow"))
            for size, width, height in (("wide", 1000, 600), ("narrow", 360, 400), ("print", 510, 380))
            for scale in SCALES
        ],
        "goals": {
            goal: (
                [draw_curves(settings, styles, 400, 290, scale=scale, labelled=False) for scale in SCALES],
                guide_settings(settings),
            )
            for goal, settings in by_goal.items()
        },
        "legend": legend,
    }


def _details(row: Row) -> str:
    """Tooltip of a defense, in lines."""
    success = interval_text(row.success, row.success_low, row.success_high)
    attacked = (
        f"worst attack {attack_text(row)}",
        f"· {goal_words(row.goal or '')} {success}, chance {number(row.chance, 3)}",
        f"· advantage {advantage_text(row)}",
    )
    measured = ", ".join(f"{name} {measure(value)}" for name, value in row.measured.items())
    reason = f" ({row.reason})" if row.reason else ""
    lines = (
        label(row.defense, row.parameters),
        f"guarantee {row.guarantee}" if row.guarantee else "",
        f"measured {measured}" if measured else "",
        f"utility {interval_text(row.utility, row.utility_low, row.utility_high)}",
        *(f"· {name} {number(value)}" for name, value in row.components.items()),
        *(attacked if row.worst_attack is not None else ()),
        f"score {number(row.score, 3)}",
        "" if row.complete else f"incomplete: {row.failures} failed{reason}",
    )
    return "\n".join(filter(None, lines))


def _percent(share: float) -> str:
    return f"{100 * share:g} %"


def _anchor(name: str) -> str:
    """HTML identifier of a described name."""
    return "name-" + "".join(letter if letter.isalnum() else f"-{ord(letter):x}-" for letter in name)
