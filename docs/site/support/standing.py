"""The standing board's settings as a table, computed from its published results."""

from __future__ import annotations

import fcntl
import hashlib
from pathlib import Path
from typing import Any

import pandas as pd

ROOT = Path(__file__).parents[3]
BOARD = ROOT / "docs" / "board"
CACHE = Path(__file__).parents[1] / "_build" / "standing"
BOUND = 0.1
"""The risk that `strengths` allows."""


def settings() -> pd.DataFrame:
    """Every setting of every defense on the board: utility, worst advantage over all goals, and its upper bound.

    Returns
    -------
    DataFrame
        Columns `data`, `family`, `kind`, `setting`, `guarantee`, `utility`, `utility_low`, `utility_high`, `advantage`,
        `upper`, `attack`, `goal`. `upper` bounds the advantage of all attacks together with 95 % confidence.
    """
    results = BOARD / "results.jsonl.gz"
    digest = hashlib.sha256(results.read_bytes())
    for path in sorted((ROOT / "leaderboard").glob("*.py")):
        digest.update(path.read_bytes())
    stored = CACHE / f"{digest.hexdigest()[:16]}.csv"
    CACHE.mkdir(parents=True, exist_ok=True)
    # Pages are built at the same time: the second one waits for what the first one computes.
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stored.exists():
            written = stored.with_suffix(".part")
            pd.DataFrame(_rows()).to_csv(written, index=False)
            written.replace(stored)
    return pd.read_csv(stored, keep_default_na=False, na_values=["NaN"])


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


def _rows() -> list[dict[str, Any]]:
    import defenses
    from leaderboard.exposure import exposures
    from leaderboard.goals import goal_words
    from leaderboard.result import label
    from scenarios.running.standing_board import read_results

    rows = []
    for one in exposures(read_results(BOARD)):
        if one.utility is None or one.overall is None:
            continue
        name = label("", {key: value for key, value in one.parameters.items() if key != "search_limit"}).strip()
        rows.append(
            {
                "data": one.scenario.removeprefix("arena on "),
                "family": one.defense,
                "kind": getattr(defenses, one.defense).__module__.split(".")[1],
                "setting": name or "–",
                "guarantee": one.guarantee,
                "utility": one.utility.value,
                "utility_low": one.utility.low,
                "utility_high": one.utility.high,
                "advantage": one.overall.advantage,
                "upper": one.overall.upper,
                "attack": one.overall.attack,
                "goal": goal_words(one.overall.goal),
            }
        )
    return rows
