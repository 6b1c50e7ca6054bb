"""Results of two boards in pairs: which defenses, attacks and plays are compared with each other."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from leaderboard.results.result import Result, label
from leaderboard.results.setting_names import Setting, setting_named
from leaderboard.statistics.pairs import variant_name

RELEASE = 4
"""Length of a release's identity: scenario, variant, defense, parameters. A trial's identity has two more parts."""


def paired_settings(
    base: Sequence[Result], head: Sequence[Result], pairs: Sequence[tuple[str, str]]
) -> Mapping[Setting, Setting | None]:
    """The base's setting with which each setting of the head is compared; settings that are not named stay as they are.

    A setting of the head whose like in the base is compared with another one is left out (None).

    Parameters
    ----------
    base, head : sequence of Result
        Results of both sides.
    pairs : sequence of (str, str)
        Names of a defense of the base and of one of the head.

    Raises
    ------
    ValueError
        If a side has no such defense, or one is in two pairs.

    Examples
    --------
    >>> def release(k):
    ...     return Result(key=f"{k}", scenario="bank", defense="Mondrian", parameters={"k": k}, play=0)
    >>> paired_settings([release(5)], [release(2)], [("Mondrian k=5", "Mondrian k=2")])
    {('Mondrian', '{"k":2}'): ('Mondrian', '{"k":5}')}
    """
    sides = [[(result.defense, result.parameters) for result in results] for results in (base, head)]
    found: dict[Setting, Setting] = {}
    for names in pairs:
        before, after = (setting_named(name, side, "defense") for name, side in zip(names, sides, strict=True))
        for name, taken in ((names[0], before in found.values()), (names[1], after in found)):
            if taken:
                raise ValueError(f"{name!r} is in two pairs; compare it in a run of its own")
        found[after] = before
    alone = {setting: None for setting in found.values() if setting not in found and _has(head, setting)}
    return {**found, **alone}


def _has(results: Sequence[Result], setting: Setting) -> bool:
    return any((result.defense, result.parameters_text) == setting for result in results)


def grouped(
    results: Sequence[Result], paired: Mapping[Setting, Setting | None] | None = None
) -> Mapping[tuple[str, ...], dict[int, Result]]:
    """Results by identity (scenario, variant, defense, parameters, and for a trial attack and parameters), by play.

    Defenses that are `paired` with others have their identity, or are left out.
    """
    groups: dict[tuple[str, ...], dict[int, Result]] = defaultdict(dict)
    for result in results:
        attack = () if result.attack is None else (result.attack, result.attack_parameters_text)
        place_played = (result.scenario, "" if result.attack is None else variant_name(result.game))
        own = (result.defense, result.parameters_text)
        setting = (paired or {}).get(own, own)
        if setting is not None:
            groups[(*place_played, *setting, *attack)][result.play] = result
    return groups


def ended_pairs(base: Mapping[int, Result], head: Mapping[int, Result]) -> list[tuple[Result, Result]]:
    """Both results of every play that ended ``ok`` on both sides."""
    pairs = [(base[play], head[play]) for play in sorted(set(base) & set(head))]
    return [pair for pair in pairs if pair[0].status == pair[1].status == "ok"]


def newly_skipped(
    base: Sequence[Result], head: Sequence[Result], pairs: Sequence[tuple[str, str]] = ()
) -> Mapping[str, int]:
    """Number of trials that ended ``ok`` in the base and are skipped in the head, by the attack's name.

    What is skipped has no success rate, so that a comparison of rates says nothing about it.

    Parameters
    ----------
    base, head : sequence of Result
        Results of both sides.
    pairs : sequence of (str, str)
        Defenses to be compared with each other, as in `paired_settings`; all others are compared with their like.

    Examples
    --------
    >>> from dataclasses import replace
    >>> trial = Result(key="1", scenario="bank", defense="Mondrian", attack="NearestNeighbour", play=0)
    >>> newly_skipped([trial], [replace(trial, status="skipped")])
    {'NearestNeighbour': 1}
    """
    before, after = grouped(base), grouped(head, paired_settings(base, head, pairs))
    skipped = [
        now
        for identity, ended in before.items()
        for play, now in after.get(identity, {}).items()
        if now.status == "skipped" and play in ended and ended[play].status == "ok"
    ]
    counts = Counter(label(now.attack or now.defense, now.attack_parameters) for now in skipped)
    return dict(sorted(counts.items()))
