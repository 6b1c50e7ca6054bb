"""The published board `docs/board`, as the pages of methods show it."""

import functools
import json
from dataclasses import dataclass

import pandas as pd
import standing
from page_run import ROOT

BOARD = ROOT / "docs" / "board"


@dataclass(frozen=True)
class Point:
    """A setting of a defense on one data set.

    Attributes
    ----------
    scenario : str
        For example "arena on adult".
    family : str
        Name of the defense.
    setting : str
        Parameters, such as "k=5".
    guarantee : str
        What it guarantees.
    utility, advantage, upper : float
        Utility, and the largest advantage over all goals, with an upper bound for all attacks (95 %, if plays vary so).
    attack : str
        The worst attack.
    """

    scenario: str
    family: str
    setting: str
    guarantee: str
    utility: float
    advantage: float
    upper: float
    attack: str


def settings_text(parameters: str) -> str:
    """Parameters in a line: {"k": 5} becomes "k=5"."""
    values = json.loads(parameters)
    return ", ".join(f"{name}={_value_text(value)}" for name, value in values.items())


def _value_text(value: object) -> str:
    return str(value.get("use", value)) if isinstance(value, dict) else str(value)


@functools.cache
def record() -> dict:
    """Version, plays, seeds and machine of the board."""
    return json.loads((BOARD / "record.json").read_text(encoding="utf-8"))


@functools.cache
def points() -> list[Point]:
    """All settings, with their worst attack, as the page on choosing a defense shows them."""
    return [
        Point(
            f"arena on {row.data}",
            row.family,
            row.setting.replace("–", ""),
            row.guarantee,
            row.utility,
            row.advantage,
            row.upper,
            row.attack,
        )
        for row in standing.settings().itertuples()
    ]


@functools.cache
def pairs() -> pd.DataFrame:
    """Advantage of each attack against each setting: scenario, defense, parameters, attack, advantage."""
    table = pd.read_csv(BOARD / "matrix.csv", usecols=["scenario", "defense", "parameters", "attack", "advantage"])
    return table.dropna(subset=["advantage"]).assign(advantage=lambda one: one["advantage"].clip(lower=0))


def scenarios() -> list[str]:
    """Scenarios of the board."""
    return sorted({point.scenario for point in points()})


def against_defense(name: str) -> pd.DataFrame:
    """Attacks against a defense: largest and mean advantage over its settings, one column pair a data set."""
    mine = pairs()[pairs()["defense"] == name]
    return mine.groupby("attack")["advantage"].agg(["max", "mean"]).sort_values(["max", "mean"], ascending=False)


def by_attack(name: str) -> pd.DataFrame:
    """Defenses under an attack: largest, mean and smallest advantage over their settings."""
    mine = pairs()[pairs()["attack"] == name]
    return mine.groupby("defense")["advantage"].agg(["max", "mean", "min"]).sort_values("mean", ascending=False)


def worst_count(name: str) -> tuple[int, int]:
    """Number of settings on which an attack is the worst one, and number of all settings."""
    return sum(point.attack == name for point in points()), len(points())
