"""Built-in defenses of the same table, released as files so that they are evaluated like any finished release."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from defenses import Constant, Identity, MicrodataDefense, Mondrian, PrivateMarginals, RetentionReplacement
from leaderboard import Promise, label
from scenarios.running.column_roles import promise_on
from scenarios.running.plan import NamedMethod
from scenarios.tables.dataset import Dataset
from scenarios.tables.released import as_csv
from scenarios.tables.seeds import generator

DEFENSES: tuple[tuple[type[MicrodataDefense], dict[str, Any]], ...] = (
    (Identity, {}),
    (Mondrian, {"k": 5}),
    (RetentionReplacement, {"retention": 0.5}),
    (PrivateMarginals, {"epsilon": 2.0}),
    (Constant, {}),
)
"""Built-in defenses, from no protection to no information, with their parameters."""


@dataclass(frozen=True)
class ReleasedFile:
    """A finished release before it is read.

    Parameters
    ----------
    name : str
        The file, or the built-in defense.
    data : bytes
        Its content.
    note : str
        What the defense promises; empty for a file.
    promise : Promise, optional
        The promise of a built-in defense, with what it covers; None for a file.
    """

    name: str
    data: bytes = field(repr=False)
    note: str = ""
    promise: Promise | None = field(default=None, repr=False, compare=False)


def baseline_releases(dataset: Dataset, seed: int) -> tuple[list[ReleasedFile], list[str]]:
    """Releases of the built-in defenses, and notes on those that refuse the table.

    Rows stay in the order of the records, so that linkage of rows can be measured.
    """
    files, notes, records = [], [], dataset.records
    for method, parameters in DEFENSES:
        defense, name = method(**parameters), label(method.__name__, parameters)
        try:
            defense.check(records)
            release = defense.apply(records, generator(seed, "rank", "baseline", name))
            promised = defense.guarantee(records)
        except ValueError as error:
            notes.append(f"{name}: left out, since {error}")
            continue
        note = f"built-in defense; promised: {promised}"
        promise = promise_on(dataset, NamedMethod(method.__name__, defense, parameters), promised)
        files.append(ReleasedFile(name, as_csv(release.analyst_table).encode(), note, promise))
    return files, notes
