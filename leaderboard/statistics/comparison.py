"""Comparison of two sets of results: significant changes in utility, success and time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log, log1p
from typing import Any

import numpy as np

from leaderboard.results import FAILURES, Result, Setting, in_order, label, setting_named
from leaderboard.statistics.pairs import (
    headlines_without,
    jackknife_deviation,
    pooled_utility,
    variant_name,
)
from leaderboard.statistics.significance import (
    JudgedDifference,
    TestedChange,
    corrected,
    plays_for,
    shared_level,
    signed_rank_test,
    student_test,
)
from metrics.columns import Floats, refuse, require

# Results of two boards in pairs: which defenses, attacks and plays are compared with each other.

RELEASE = 4
"""Length of a release's identity: scenario, variant, defense, parameters. A trial's identity has two more parts."""


def paired_settings(
    base: Sequence[Result], head: Sequence[Result], pairs: Sequence[tuple[str, str]]
) -> Mapping[Setting, Setting | None]:
    """The base's setting with which each setting of the head is compared; settings that are not named stay as they are.

    A setting of the head whose like in the base is compared with another one is left out (None).

    - pairs: Names of a defense of the base and of one of the head.

    Raises ValueError if a side has no such defense, or one is in two pairs.

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
            refuse(taken, f"{name!r} is in two pairs; compare it in a run of its own")
        found[after] = before
    there = {(result.defense, result.parameters_text) for result in head}
    alone = {setting: None for setting in found.values() if setting not in found and setting in there}
    return {**found, **alone}


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

    - pairs: Defenses to be compared with each other, as in `paired_settings`; all others are compared with their like.

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


# Pace of two sets of results: how many times as long releases and attacks took, and what of it is the machine's.

COMPARABLE = 3
"""Smallest number of defenses (or pairs of defense and attack) from which the machine's speed is estimated."""
AGREED = 0.1
"""Two estimates of the machine's speed agree if they differ by at most this share."""


@dataclass(frozen=True)
class Paces:
    """How many times as long the head took as the base for the same work, by what was timed.

    - releases, attacks: Median over plays of each release, and of each pair of defense and attack, which is timed apart
      from the release; in ascending order. Only results that both sides computed anew count, since a result that is
      known from an earlier run was timed in that run.

    Examples
    --------
    Two of three defenses are slower, and no attack is: that is not the machine.

    >>> Paces((1.0, 3.0, 3.0), (0.98, 1.0, 1.02)).machine is None
    True
    >>> round(Paces((2.9, 3.0, 3.0), (2.98, 3.0, 3.02)).machine, 2)
    3.0

    Nor if most attacks are slower, too, as where they share code with these defenses: the machine slows everything.

    >>> Paces((1.0, 3.0, 3.0), (1.0, 3.0, 3.0)).machine is None
    True
    """

    releases: tuple[float, ...] = ()
    attacks: tuple[float, ...] = ()

    @property
    def medians(self) -> tuple[float | None, float | None]:
        """Median of the releases and of the attacks; None for fewer than `COMPARABLE`."""
        releases, attacks = (
            float(np.exp(np.median(np.log(times)))) if len(times) >= COMPARABLE else None
            for times in (self.releases, self.attacks)
        )
        return releases, attacks

    @property
    def machine(self) -> float | None:
        """The machine's pace, by which times are corrected; None if it is not known.

        Releases and attacks must agree. A slower machine slows everything, so no third of the releases may beat it.
        Releases alone are what is compared. So all of them must have changed alike, or their median must not have
        changed.
        """
        releases, attacks = self.medians
        if releases is None:
            return attacks
        if attacks is None and _agree(releases, 1.0):
            return releases
        others = self.releases if attacks is None else (attacks,)
        if releases > 1 + AGREED:
            others = (*others, self.releases[(len(self.releases) - 1) // 3])
        return releases if all(_agree(releases, other) for other in others) else None


def _agree(one: float, other: float) -> bool:
    return abs(log(one / other)) <= log1p(AGREED)


def paces(base: Sequence[Result], head: Sequence[Result]) -> Paces:
    """How many times as long the head took for the same work, by release and by trial."""
    return paces_of(grouped(base), grouped(head))


def pace(base: Sequence[Result], head: Sequence[Result]) -> float | None:
    """Time that the head took for the same work, as a multiple of the base's; None if it cannot be estimated.

    The estimate is the median over the releases of at least three defenses. The median over the trials of at least
    three pairs of defense and attack must agree with it (`Paces.machine`). With fewer defenses the estimate is the
    median over the trials. This common factor is attributed to the machine, or to code that all methods use, and not to
    one method.
    """
    return paces(base, head).machine


def paces_of(
    before: Mapping[tuple[str, ...], dict[int, Result]], after: Mapping[tuple[str, ...], dict[int, Result]]
) -> Paces:
    """The paces of results in groups."""
    factors: dict[bool, list[float]] = {True: [], False: []}
    for identity in set(before) & set(after):
        pairs = ended_pairs(before[identity], after[identity])
        log_ratios = log_ratios_of([pair for pair in pairs if computed_anew(*pair)])
        if log_ratios.size:
            factors[len(identity) == RELEASE].append(float(np.exp(np.median(log_ratios))))
    return Paces(tuple(sorted(factors[True])), tuple(sorted(factors[False])))


def computed_anew(base: Result, head: Result) -> bool:
    """Whether the two results were computed separately, so that neither side reused the other's."""
    return (base.key, base.created, base.seconds) != (head.key, head.created, head.seconds)


def log_ratios_of(pairs: Sequence[tuple[Result, Result]]) -> Floats:
    """Logarithms of the ratios of times, head to base; pairs with a time of 0 are left out."""
    seconds = np.array([(one.seconds, other.seconds) for one, other in pairs], dtype=float).reshape(-1, 2)
    seconds = seconds[(seconds > 0).all(axis=1)]
    return np.asarray(np.log(seconds[:, 1] / seconds[:, 0]))


COUNTED = ("failures", "mended failures")
"""Measures that are counted, not tested: plays that failed in the head alone, and in the base alone."""
FIRM, LOOSE = 0.05, 0.5
"""Default tolerance of a slowdown, as a share: `FIRM` if the machine's speed is known, else `LOOSE`."""


@dataclass(frozen=True, kw_only=True)
class Change(JudgedDifference):
    """Change in one measure of a defense, or of an attack on it.

    Parameters
    ----------
    scenario, variant : str
        The scenario and the variant of its game. Utility and time of a release belong to every variant; the variant is
        then empty.
    defense, attack : str
        Class names; `attack` is None if the release was measured.
    parameters, attack_parameters : dict
        Their parameters.
    base_defense, base_parameters : str, dict
        The defense of the base; another one than `defense` if the two were paired.
    measure : str
        ``utility``, ``time``, a goal, for the success rate in it, or one of `COUNTED`.
    base, head : float
        Values before and after: means over plays; for time the median in seconds; for `COUNTED` the number of plays
        that failed on this side alone.
    change, low, high : float
        Head minus base, with its interval across plays at the level of the comparison. For time, head / base - 1.
    p : float
        Two-sided p-value of the change.
    plays : int
        Number of plays that both sides have.
    worse : bool
        Whether the change is for the worse.
    significant : bool
        Whether the change exceeds the tolerance significantly, after correction for multiple tests.
    judged : bool
        Whether the plays suffice for any change to be significant; otherwise the measure cannot alarm.
    smallest_p : float
        Smallest p-value that so many plays can give.

    Examples
    --------
    A trial that ended in the base and fails in the head is an alarm:

    >>> from dataclasses import replace
    >>> from leaderboard import Result, compare
    >>> trial = Result(key="1" * 64, scenario="bank", defense="Mondrian", attack="NearestNeighbour", play=0)
    >>> [change] = compare([trial], [replace(trial, key="2" * 64, status="timeout")])
    >>> change.measure, change.base, change.head, change.alarm
    ('failures', 0, 1, True)
    """

    base_defense: str
    base_parameters: dict[str, Any]
    attack: str | None = None
    measure: str
    base: float
    head: float
    change: float
    worse: bool

    @property
    def alarm(self) -> bool:
        """Whether the change is significant and for the worse."""
        return self.worse and self.significant


@dataclass(frozen=True)
class Tolerance:
    """Tolerated changes: of utility and success in their own unit, of time as a share.

    By default, `FIRM` is the tolerance of time if the machine's speed is known (`leaderboard.pace`), else `LOOSE`.
    """

    utility: float = 0.0
    success: float = 0.0
    time: float | None = None


def compare(
    base: Sequence[Result],
    head: Sequence[Result],
    *,
    tolerance: Tolerance | None = None,
    level: float = 0.01,
    pairs: Sequence[tuple[str, str]] = (),
) -> list[Change]:
    r"""Compare every defense, and every attack on it, that both sides have played.

    Play i of the base is paired with play i of the head. With equal seeds both drew the same people, and the
    differences vary little. With different seeds the pairs are independent, and the tests remain valid.

    - A success rate is tested by Student's t across plays.
    - Utility is tested by Student's t with the jackknife's variance, since its classifier part is pooled over plays.
    - Time is tested by Wilcoxon's signed ranks of the log ratios. Only results that both sides computed anew count,
      and `leaderboard.pace` is divided out first, since a busy machine slows all defenses and attacks alike. If they
      disagree, nothing is divided out.

    Each test is against the tolerance, not against zero. Student's t assumes normally distributed differences. With n
    plays its p-value is at least 2 · 4⁻ⁿ (`leaderboard.statistics.significance.student_floor`), and Wilcoxon's at least
    2¹⁻ⁿ. Holm's correction bounds the probability of any false alarm among all measures by `level`: half of it is for
    times, half for utility and success (`leaderboard.statistics.significance.shared_level`). Measures with too few
    plays for any alarm are marked as not judged and left out of the correction (Tarone); `plays_needed` says how many
    would do.

    A trial that ended in the base and fails in the head is always a significant worsening, even if another one fails no
    more. The measures of an experiment are compared like success rates: smaller is better.

    Parameters
    ----------
    base, head : sequence of Result
        At most one per release and trial each.
    tolerance : Tolerance, optional
        Tolerated changes.
    level : float
        Probability of any false alarm, in (0, 1).
    pairs : sequence of (str, str)
        Defenses to be compared with each other: that of the base and that of the head, by the names that boards show,
        as in ``("Mondrian k=5", "Mondrian k=2")``. All others are compared with their like.

    Returns
    -------
    list of Change
        In order of scenario, defense, attack and measure; empty if nothing can be compared.

    Raises
    ------
    ValueError
        If `level` or a tolerance is out of range, a side has no defense of a pair, or a defense is in two pairs.

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure. Hodges and Lehmann (1963), Estimates of
    location based on rank tests. Tarone (1990), A modified Bonferroni method for discrete data.
    """
    allowed = tolerance or Tolerance()
    require(0 < level < 1, f"level must lie in (0, 1), got {level}")
    for name, value in vars(allowed).items():
        refuse(
            value is not None and not 0 <= value < np.inf,
            f"tolerance of {name} must be a finite number of at least 0, got {value}",
        )
    before, alike = grouped(base), grouped(head)
    after = grouped(head, paired_settings(base, head, pairs)) if pairs else alike
    speed = paces_of(before, alike).machine
    if allowed.time is None:
        allowed = replace(allowed, time=LOOSE if speed is None else FIRM)
    changes = [
        change
        for identity in sorted(set(before) & set(after), key=str)
        for change in _changes(before[identity], after[identity], allowed, level, speed or 1.0)
    ]
    return _corrected(changes, level)


def plays_needed(changes: Sequence[Change], level: float = 0.01) -> int | None:
    """Smallest number of plays with which every compared measure can alarm; None if all of them already can.

    Parameters
    ----------
    changes : sequence of Change
        As `compare` returns them at this level.
    level : float
        Probability of any false alarm, in (0, 1).
    """
    if all(change.judged for change in changes):
        return None
    return plays_for([change.measure for change in changes if change.measure not in COUNTED], level)


def _changes(
    base: Mapping[int, Result], head: Mapping[int, Result], allowed: Tolerance, level: float, speed: float
) -> list[Change]:
    """Changes of one release, or of one trial, in all measures."""
    changes = [*_failures([(base[play], head[play]) for play in sorted(set(base) & set(head))])]
    ended = ended_pairs(base, head)
    if len(ended) > 1:
        if ended[0][0].is_measurement:
            # Measures of an experiment, of which smaller is better.
            values = [[one.values for one in pair] for pair in ended]
            changes += _means(ended, values, sorted(_common(values)), allowed.success, level)
        elif ended[0][0].attack is None:
            timed = [pair for pair in ended if computed_anew(*pair)]
            changes += [*_utility(ended, allowed.utility, level), *_time(timed, allowed.time or 0.0, level, speed)]
        else:
            rates = [[{goal: score.rate for goal, score in one.scores.items()} for one in pair] for pair in ended]
            changes += _means(ended, rates, in_order(_common(rates)), allowed.success, level)
    return changes


def _failures(pairs: Sequence[tuple[Result, Result]]) -> list[Change]:
    """New failures and mended ones, each for itself: a mended play does not make up for one that now fails."""
    failed = [tuple(one.status in FAILURES for one in pair) for pair in pairs]
    new, mended = failed.count((False, True)), failed.count((True, False))
    changes = []
    for measure, ends in zip(COUNTED, ((0, new), (mended, 0)), strict=True):
        if any(ends):
            difference = float(ends[1] - ends[0])
            counted = TestedChange(difference, difference, difference, 0.0)
            changes.append(replace(_change(pairs, measure, ends, counted, worse=difference > 0), significant=True))
    return changes


def _common(measured: Sequence[Sequence[Mapping[str, float | None]]]) -> set[str]:
    """Measures that both sides of some pair have."""
    return set().union(*(set(one) & set(other) for one, other in measured))


def _means(
    pairs: Sequence[tuple[Result, Result]],
    measured: Sequence[Sequence[Mapping[str, float | None]]],
    names: Sequence[str],
    allowed: float,
    level: float,
) -> list[Change]:
    """Changes of means of which smaller is better, tested by Student's t over the plays that both sides measured."""
    changes = []
    for name in names:
        both = [(one.get(name), other.get(name)) for one, other in measured]
        values = np.array([ends for ends in both if None not in ends], dtype=float).reshape(-1, 2)
        if len(values) < 2:
            continue
        differences = values[:, 1] - values[:, 0]
        mean, deviation = float(differences.mean()), float(differences.std(ddof=1) / np.sqrt(len(differences)))
        tested = student_test(mean, deviation, len(differences), allowed, level)
        ends = (float(values[:, 0].mean()), float(values[:, 1].mean()))
        # Plays that did not measure it are no evidence.
        changes.append(replace(_change(pairs, name, ends, tested, worse=mean > 0), plays=len(values)))
    return changes


def _utility(pairs: Sequence[tuple[Result, Result]], allowed: float, level: float) -> list[Change]:
    sides = [[pair[side].values for pair in pairs] for side in (0, 1)]
    pooled = [pooled_utility(side) for side in sides]
    if pooled[0] is None or pooled[1] is None:
        return []
    ends = (pooled[0].headline.value, pooled[1].headline.value)
    differences = headlines_without(sides[1]) - headlines_without(sides[0])
    if np.isnan(differences).any():
        return []
    tested = student_test(ends[1] - ends[0], jackknife_deviation(differences), len(pairs), allowed, level)
    return [_change(pairs, "utility", ends, tested, worse=ends[1] < ends[0])]


def _time(pairs: Sequence[tuple[Result, Result]], allowed: float, level: float, speed: float) -> list[Change]:
    log_ratios = log_ratios_of(pairs) - np.log(speed)
    if log_ratios.size < 2:
        return []
    ends = (
        float(np.median([one.seconds for one, _ in pairs])),
        float(np.median([other.seconds for _, other in pairs])),
    )
    tested = signed_rank_test(log_ratios, allowed, level)
    return [_change(pairs, "time", ends, tested, worse=tested.estimate > 0)]


def _change(
    pairs: Sequence[tuple[Result, Result]],
    measure: str,
    ends: tuple[float, float],
    tested: TestedChange,
    *,
    worse: bool,
) -> Change:
    before, example = pairs[0]
    return Change(
        scenario=example.scenario,
        variant="" if example.attack is None else variant_name(example.game),
        defense=example.defense,
        parameters=example.parameters,
        base_defense=before.defense,
        base_parameters=before.parameters,
        attack=example.attack,
        attack_parameters=example.attack_parameters,
        measure=measure,
        base=ends[0],
        head=ends[1],
        change=tested.estimate,
        low=tested.low,
        high=tested.high,
        p=tested.p,
        smallest_p=tested.smallest_p,
        plays=len(pairs),
        worse=worse,
    )


def _corrected(changes: Sequence[Change], level: float) -> list[Change]:
    """Changes with Holm's correction of the tests that can reject; failures are counted, not tested."""
    judged = list(changes)
    measures = [change.measure for change in changes if change.measure not in COUNTED]
    for is_time, share in shared_level(measures, level).items():
        tested = [
            number
            for number, change in enumerate(changes)
            if change.measure not in COUNTED and (change.measure == "time") == is_time
        ]
        verdicts = corrected(
            [changes[number].p for number in tested], [changes[number].smallest_p for number in tested], share
        )
        for number, verdict in zip(tested, verdicts, strict=True):
            judged[number] = replace(changes[number], significant=bool(verdict), judged=verdict is not None)
    return judged
