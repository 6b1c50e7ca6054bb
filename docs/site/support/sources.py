"""The items of the sources: where each lives, its command, the printed number and ours."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from reproduced import ROOT, Number, functions
from tables import Table

from scenarios.commands.cli import cli

HEADS = {
    "en": ("item", "where it lives", "command", "printed", "ours", "test"),
    "ja": ("項目", "実装", "コマンド", "出典の値", "計算した値", "テスト"),
}
LIBRARY = ROOT / "scenarios" / "library"
ROWS = tuple(csv.DictReader(Path(__file__).with_suffix(".csv").read_text(encoding="utf-8").splitlines()))


def walk(source: str, language: str, names: Mapping[str, Any]) -> Table:
    """Table of a source's items.

    Parameters
    ----------
    source : str
        Name of the source in ``sources.csv``.
    language : {"en", "ja"}
        Language of the headings and items.
    names : mapping of str to object
        Functions and data of the expressions that compute our numbers.

    Raises
    ------
    ValueError
        If a home, a command, a scenario or a test does not exist, or our number is not the printed one
        and the row does not call it a slip.
    """
    items = [row for row in ROWS if row["source"] == source]
    tests = list(dict.fromkeys(row["test"] for row in items))
    rows = []
    for row in items:
        _check(row)
        printed, ours = row["printed"] or "–", "–"
        if row["ours"]:
            decimals = int(row["decimals"])
            value = float(eval(row["ours"], dict(names)))  # noqa: S307 (a file of this repository)
            ours = f"{value:,.{decimals}f}"
            _compare(row, value, decimals)
        home = row["home"].replace(":", ".")
        rows.append((row[language], home, row["command"] or "–", printed, ours, str(tests.index(row["test"]) + 1)))
    return Table(HEADS[language], rows, notes=tests)


def _compare(row: Mapping[str, str], value: float, decimals: int) -> None:
    """Compare a printed number with ours. A slip of the source must differ; a printed formula has no number."""
    try:
        printed = float(row["printed"])
    except ValueError:
        return
    if row["tolerance"] != "slip":
        Number(row["en"], printed, value, decimals, row["test"], float(row["tolerance"]) if row["tolerance"] else None)
    elif abs(value - printed) <= 10.0**-decimals:
        raise ValueError(f"{row['en']}: the printed number is right")


def _check(row: Mapping[str, str]) -> None:
    module, _, name = row["home"].partition(":")
    if name and not hasattr(import_module(module), name):
        raise ValueError(f"{row['en']}: there is no {row['home']}")
    path, _, function = row["test"].partition("::")
    if function not in functions(path):
        raise ValueError(f"{row['en']}: there is no test {row['test']}")
    words = row["command"].split()
    if words and words[1] not in cli.commands:
        raise ValueError(f"{row['en']}: there is no command {row['command']}")
    if words[1:2] == ["run"] and not (LIBRARY / f"{words[2]}.toml").is_file():
        raise ValueError(f"{row['en']}: there is no scenario {words[2]}")
