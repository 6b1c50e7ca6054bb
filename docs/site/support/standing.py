"""The standing board's settings as a table, as they are published."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).parents[3]
BOARD = ROOT / "docs" / "board"
BOUND = 0.1
"""The risk that `strengths` allows."""


def settings() -> pd.DataFrame:
    """Every setting of every defense on the board: utility, worst advantage over all goals, and its upper bound.

    Returns
    -------
    DataFrame
        Columns `data`, `family`, `kind`, `setting`, `guarantee`, `utility`, `utility_low`, `utility_high`, `advantage`,
        `upper`, `attack`, `goal`. `advantage` is the largest measured. `upper` bounds that of all attacks
        together with 95 % confidence, if plays vary as they did.
    """
    import defenses
    from leaderboard.results.goals import goal_words
    from leaderboard.results.result import label

    table = pd.read_csv(BOARD / "settings.csv", keep_default_na=False)
    given = table["parameters"].map(json.loads)
    names = [label("", {key: value for key, value in one.items() if key != "search_limit"}).strip() for one in given]
    return pd.DataFrame(
        {
            "data": table["scenario"].str.removeprefix("arena on "),
            "family": table["defense"],
            "kind": [getattr(defenses, name).__module__.split(".")[1] for name in table["defense"]],
            "setting": [name or "–" for name in names],
            "guarantee": table["guarantee"],
            **{name: table[name] for name in ("utility", "utility_low", "utility_high", "advantage")},
            "upper": table["advantage_upper"],
            "attack": table["worst_attack"],
            "goal": table["goal"].map(goal_words),
        }
    )


def strengths(bound: float = BOUND) -> pd.DataFrame:
    """The most useful setting of each family whose worst measured advantage is at most a bound, by data set.

    A family without such a setting has no row. The estimate decides, not its upper bound. With 95 % confidence the
    board can exclude a risk of 10 % for few settings, since sensitive values are judged by a small control group.
    """
    table = settings()
    within = table[table["advantage"] <= bound].sort_values("utility", ascending=False)
    return within.drop_duplicates(["data", "family"]).reset_index(drop=True)


def families_above(bound: float = BOUND) -> dict[str, list[str]]:
    """Families of which no measured setting keeps within the bound, by data set."""
    kept = strengths(bound)
    return {
        data: sorted(set(rows["family"]) - set(kept.loc[kept["data"] == data, "family"]))
        for data, rows in settings().groupby("data")
    }
