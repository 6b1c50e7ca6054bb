"""What a board shows of a database: results of the newest versions, chosen by scenario, defense and attack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.results.earlier_versions import Earlier, Versions
from leaderboard.results.promises import Promise, stored_promises
from leaderboard.results.result import Result
from leaderboard.results.setting_names import settings_named
from leaderboard.results.store import Store


@dataclass(frozen=True)
class StoredBoard:
    """Results of a board, and what is said beside them.

    Attributes
    ----------
    results : list of Result
        Releases and trials, at most one per release and trial, each method in one version.
    promises : list of Promise
        What the defenses promise.
    earlier : list of Earlier
        What is left out, since it is of an earlier version of a method, or of an earlier seed, data set or game.
    """

    results: list[Result]
    promises: list[Promise]
    earlier: list[Earlier]


def stored_board(
    store: Store,
    results: Sequence[Result],
    *,
    defenses: Sequence[str] = (),
    attacks: Sequence[str] = (),
) -> StoredBoard:
    """Board of stored results.

    Parameters
    ----------
    store : Store
        Database that holds the results.
    results : sequence of Result
        All results of one or more scenarios, in order of insertion.
    defenses, attacks : sequence of str
        Names of those to keep, as boards show them, with or without parameters. Empty keeps all. Releases meet every
        attack and are kept.

    Raises
    ------
    ValueError
        If there is no defense or attack of a name; the message lists those that are there.
    """
    versions = Versions(store, results)
    played = [(result.defense, result.parameters) for result in results]
    tried = [(result.attack, result.attack_parameters) for result in results if result.attack is not None]
    defended = {setting for name in defenses for setting in settings_named(name, played, "defense")}
    attacked = {setting for name in attacks for setting in settings_named(name, tried, "attack")}
    chosen = [
        result
        for result in results
        if (not defenses or (result.defense, result.parameters_text) in defended)
        and (not attacks or result.attack is None or (result.attack, result.attack_parameters_text) in attacked)
    ]
    current = versions.current(chosen)
    return StoredBoard(current, stored_promises(store, current), versions.earlier(chosen))
