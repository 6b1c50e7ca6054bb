"""Two sets of results compared: no alarm where nothing changed, alarm where something did."""

from dataclasses import replace

import numpy as np
import pytest
from comparison_tools import ATTACKS, DEFENSES, played

from leaderboard import Result, Tolerance, change_checks, compare, pace, plays_needed
from metrics import Score


def alarms(base, head, **options):
    return [change for change in compare(base, head, **options) if change.alarm]


def test_equal_results_have_nothing_to_tell():
    results = played(0)
    changes = compare(results, results)
    # Utility of each defense, two goals of each of its attacks; the time of one play tells nothing about two.
    assert len(changes) == len(DEFENSES) * (1 + 2 * len(ATTACKS))
    assert {(change.change, change.p, change.significant) for change in changes} == {(0.0, 1.0, False)}


@pytest.mark.thorough
def test_two_seeds_of_equal_methods_raise_no_alarm():
    # At the default level one pair of runs in a hundred may; of 25 pairs more than 2 do with probability .002.
    false = sum(bool(alarms(played(seed), played(1000 + seed))) for seed in range(25))
    assert false <= 2


@pytest.mark.thorough
def test_five_points_of_success_are_caught():
    caught = 0
    for seed in range(20):
        found = alarms(played(seed, plays=50), played(1000 + seed, plays=50, weakened=0.05))
        caught += any((change.defense, change.measure) == ("Alpha", "reidentification") for change in found)
    assert caught >= 19


@pytest.mark.thorough
def test_a_slower_mechanism_is_caught_and_no_other_blamed():
    for seed in range(20):
        found = alarms(played(seed), played(1000 + seed, slower=1.2))
        assert [(change.defense, change.measure) for change in found] == [("Alpha", "time")]
        assert found[0].change == pytest.approx(0.2, abs=0.08)
        assert found[0].low < 0.2 < found[0].high


def test_a_slower_machine_is_told_and_nobody_blamed():
    base, head = played(0), played(1, machine=1.5)
    assert pace(base, head) == pytest.approx(1.5, rel=0.05)
    assert not alarms(base, head)


def timed(releases, attacks, plays=20):
    """Results of three defenses and, unless there are none, of an attack on each, whose times have these factors."""
    results = played(3, plays=plays, defenses=DEFENSES[:3])
    factors = {None: releases, "Greedy": attacks}
    return [
        replace(one, seconds=one.seconds * factors[one.attack][DEFENSES.index(one.defense)], key=f"{one.key} again")
        for one in results
        if factors.get(one.attack)
    ]


@pytest.mark.thorough_beyond(4)
@pytest.mark.parametrize(
    ("releases", "attacks", "machine", "slower"),
    [
        ((3, 3, 1), (1, 1, 1), None, "Alpha Beta"),
        ((3, 3, 3), (1, 1, 1), None, "Alpha Beta Gamma"),
        ((1, 1, 1), (3, 3, 3), None, ""),
        ((1 / 3, 1 / 3, 1), (1, 1, 1), None, ""),
        ((3, 1, 1), (1, 1, 1), 1, "Alpha"),
        ((3, 3, 3), (3, 3, 3), 3, ""),
        ((9, 3, 3), (3, 3, 3), 3, "Alpha"),
        ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5), 0.5, ""),
        ((3, 3, 1), None, None, "Alpha Beta"),
        ((3, 1, 1), None, 1, "Alpha"),
        ((3, 3, 3), None, 3, ""),
    ],
)
def test_times_are_corrected_only_if_releases_and_attacks_agree(releases, attacks, machine, slower):
    same = (1, 1, 1)
    base, head = timed(same, attacks and same), timed(releases, attacks)
    head = [replace(one, key=f"{one.key} later") for one in head]
    found = pace(base, head)
    assert found == (None if machine is None else pytest.approx(machine))
    assert " ".join(change.defense for change in alarms(base, head)) == slower


def test_attacks_tell_the_pace_where_defenses_are_few():
    few = {"defenses": DEFENSES[:2]}
    assert pace(played(0, **few), played(1, **few, machine=1.5)) == pytest.approx(1.5, rel=0.05)
    assert not alarms(played(0, **few), played(1, **few, machine=1.5))
    found = alarms(played(0, **few), played(1, **few, machine=1.5, slower=1.2))
    assert [(change.defense, change.measure) for change in found] == [("Alpha", "time")]


def test_a_defense_alone_cannot_be_told_from_its_machine():
    alone = {"defenses": DEFENSES[:1]}
    base, busy, slow = (played(seed, **alone, slower=by) for seed, by in ((0, 1), (1, 1.3), (2, 2)))
    assert pace(base, busy) is None
    # So that more is let pass, unless the tolerance is given.
    assert not alarms(base, busy)
    assert [change.measure for change in alarms(base, slow)] == ["time"]
    assert [change.measure for change in alarms(base, busy, tolerance=Tolerance(time=0.05))] == ["time"]


def test_only_what_was_played_anew_is_timed():
    base = played(0)
    replayed = {result.key: result for result in played(1, machine=0.5)}
    # The machine was quick while three of four defenses were played anew; the fourth is known from the base.
    head = [result if result.defense == "Delta" else replayed[result.key] for result in base]
    assert pace(base, head) == pytest.approx(0.5, rel=0.05)
    times = [change for change in compare(base, head) if change.measure == "time"]
    assert {change.defense for change in times} == {"Alpha", "Beta", "Gamma"}
    assert not any(change.significant for change in times)


def test_lost_utility_is_caught_and_gained_utility_is_none_to_alarm():
    worse = compare(played(0), played(1, useless=0.2))
    (change,) = [change for change in worse if change.significant]
    assert (change.defense, change.measure, change.worse, change.attack) == ("Alpha", "utility", True, None)
    assert change.low < change.change < change.high < 0
    (change,) = [change for change in compare(played(1, useless=0.2), played(0)) if change.significant]
    assert not change.worse
    assert not change.alarm


def test_the_tolerance_is_what_must_be_exceeded():
    base, head = played(0, plays=50), played(1, plays=50, weakened=0.2, slower=1.5, useless=0.2)
    assert len(alarms(base, head)) == 4
    wide = Tolerance(utility=0.3, success=0.3, time=1.0)
    assert not alarms(base, head, tolerance=wide)
    assert len(alarms(base, head, tolerance=Tolerance(utility=0.05, success=0.05, time=0.2))) == 4


def test_a_new_failure_is_an_alarm():
    base = played(0)
    head = [
        replace(result, status="timeout", values={}, scores={})
        if (result.attack, result.play) == ("Greedy", 3)
        else result
        for result in base
    ]
    found = alarms(base, head)
    assert {(change.measure, change.base, change.head) for change in found} == {("failures", 0.0, 1.0)}
    assert len(found) == len(DEFENSES)
    assert not alarms(head, base)


@pytest.mark.parametrize("status", ["error", "timeout", "oom"])
def test_a_mended_play_does_not_make_up_for_one_that_now_fails(status):
    ended = [result for result in played(0, plays=12, defenses=("Alpha",)) if result.attack is None]
    base, head = (
        [replace(result, status=status, values={}) if result.play in failed else result for result in ended]
        for failed in ((2, 6), (2, 10))
    )
    found = {change.measure: change for change in compare(base, head) if change.significant}
    new, mended = found["failures"], found["mended failures"]
    assert (new.base, new.head, new.alarm) == (0, 1, True)
    assert (mended.base, mended.head, mended.alarm) == (1, 0, False)
    assert [check.failure for check in change_checks([new, mended])] == ["0 became 1 (+1)", ""]
    assert not [change for change in compare(base, base) if change.significant]


def test_a_change_that_only_reaches_the_tolerance_is_no_alarm():
    # Ten rows more in a hundred in every play: means of such shares are rounded differently on both sides.
    rng = np.random.default_rng(0)
    for name in ("success", "utility"):
        for _ in range(40):
            rates = rng.integers(10, 80, 14)
            base, head = (shares(name, (rates + more) / 100) for more in ((10, 0) if name == "utility" else (0, 10)))
            assert not alarms(base, head, tolerance=Tolerance(**{name: 0.1}))
            assert alarms(base, head, tolerance=Tolerance(**{name: 0.0999}))


def shares(name, rates):
    """Plays with these success rates of one attack, or with this utility of their releases."""
    common = {"scenario": "bank", "defense": "Alpha"}
    if name == "utility":
        return [Result(key=f"{p}", play=p, values={"marginals": float(r)}, **common) for p, r in enumerate(rates)]
    scores = [{"reidentification": Score("reidentification", float(rate), 0.005, 100)} for rate in rates]
    return [Result(key=f"{p}", play=p, attack="Greedy", scores=s, **common) for p, s in enumerate(scores)]


def test_plays_that_did_not_measure_a_goal_are_not_counted():
    base, head = shares("success", [0.1] * 14), shares("success", [0.9] * 14)
    head = [replace(result, scores={}) if result.play > 2 else result for result in head]
    [change] = compare(base, head)
    assert (change.plays, change.smallest_p) == (3, 2 * 4.0**-3)


def test_only_what_both_have_played_compares():
    assert compare([], played(0)) == []
    assert compare(played(0, defenses=("Alpha",)), played(0, defenses=("Beta",))) == []
    changes = compare(played(0, plays=5), played(1, plays=8))
    assert {change.plays for change in changes} == {5}
    # A single play shows no spread.
    assert compare(played(0, plays=1), played(1, plays=1)) == []


def test_few_plays_cannot_be_sure():
    # Two plays of equal methods move by one and the same amount with probability at most 1/8.
    base = played(0, plays=2)
    success = Score("reidentification", 0.99, 0.005, 100)
    head = [
        replace(result, scores={**result.scores, success.goal: success} if result.scores else {}) for result in base
    ]
    assert min(change.p for change in compare(base, head)) == 0.125
    assert not any(change.judged for change in compare(base, head))
    assert plays_needed(compare(base, head)) == 6


@pytest.mark.parametrize("level", [0, 1, -0.1, float("nan")])
def test_levels_out_of_range_are_refused(level):
    with pytest.raises(ValueError, match="level"):
        compare([], [], level=level)


@pytest.mark.parametrize(
    "tolerance", [Tolerance(utility=-1), Tolerance(time=float("inf")), Tolerance(success=float("nan"))]
)
def test_tolerances_out_of_range_are_refused(tolerance):
    with pytest.raises(ValueError, match="tolerance"):
        compare([], [], tolerance=tolerance)


@pytest.mark.parametrize("plays", [8, 11])
def test_a_broken_defense_is_caught_with_few_plays(plays):
    changes = compare(played(0, plays=plays), played(1, plays=plays, weakened=0.45))
    assert {(change.defense, change.measure) for change in changes if change.alarm} == {("Alpha", "reidentification")}
    # Time cannot alarm with 8 plays, and is not held against the other measures.
    assert {change.measure for change in changes if not change.judged} == ({"time"} if plays == 8 else set())
    assert plays_needed(changes) == (11 if plays == 8 else None)


@pytest.mark.thorough
@pytest.mark.long_beyond(1)
@pytest.mark.parametrize("plays", [5, 8])
def test_few_plays_raise_few_false_alarms(plays):
    # At a level of .05, more than 8 alarms in 60 pairs of runs have probability .004.
    false = sum(
        bool(alarms(played(seed, plays=plays), played(1000 + seed, plays=plays), level=0.05)) for seed in range(60)
    )
    assert false <= 8
