"""Data downtime by hand, with the numbers of a published example, and the runner's log of failures."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sql

from leaderboard import (
    FailureLog,
    Incident,
    Result,
    Store,
    downtime_cost_table,
    downtime_hours,
    downtime_table,
    hourly_cost,
    recorded_incidents,
)

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def after(hours):
    return NOON + timedelta(hours=hours)


def test_the_published_example():
    # Ours, theirs: 1,000 tables, an incident in one of 15, 4 + 9 hours; about 867 hours a year, 12,000 an hour, about
    # 10.4 million a year, and 2.08 million less with a fifth less downtime.
    hours = downtime_hours(1000 / 15, 4, 9)
    assert round(hours) == 867
    cost = hourly_cost([(2, 4000, 1 / 4), (10, 5000, 1 / 5)])
    assert cost == 12_000
    assert hours * cost == pytest.approx(10_400_000)
    assert 0.2 * hours * cost == pytest.approx(2_080_000)
    # One engineer at 4,000 for a quarter of the time is 1,000; ten analysts who rest are 50,000; and a loss of 100,000.
    assert hourly_cost([(1, 4000, 0.25)]) == 1000
    assert hourly_cost([(10, 5000, 1)], loss=100_000) == 150_000


def test_table_by_hand():
    incidents = [
        Incident("a", NOON, after(1), after(3)),
        Incident("a", NOON, after(3), after(4)),
        Incident("b", after(5), after(4), None),
    ]
    table = downtime_table(incidents, after(6))
    assert [list(row) for row in table.rows] == [
        ["a", 2, 0, 2.0, 1.0, 3.0, 1.5, 1.0, 2.0, 7.0],
        # Detected before it began, by another clock: 0 hours.
        ["b", 1, 1, 0.0, 0.0, 0.0, 2.0, 2.0, 2.0, 2.0],
        ["all", 3, 1, pytest.approx(4 / 3), 0.0, 3.0, pytest.approx(5 / 3), 1.0, 2.0, 9.0],
    ]
    empty = downtime_table([], NOON)
    assert [list(row) for row in empty.rows] == [["all", 0, 0, *[None] * 6, 0.0]]
    costs = downtime_cost_table(incidents, after(6), 10.0, reduction=0.2)
    assert [list(row) for row in costs.rows] == [["a", 70.0, 14.0], ["b", 20.0, 4.0], ["all", 90.0, 18.0]]


def test_incidents_of_equal_length_count_by_their_number():
    estimated = [Incident.lasting("failed test", 4, 9, 50), Incident.lasting("reported", 4, 9, 1000 / 15 - 50)]
    *_, total = downtime_table(estimated, NOON).rows
    assert list(total) == pytest.approx(["all", 1000 / 15, 0, 4, 4, 4, 9, 9, 9, 13_000 / 15])
    mixed = downtime_table([Incident.lasting("a", 1, 2, 3), Incident.lasting("a", 5, 2, 1)], NOON).rows[0]
    assert list(mixed) == ["a", 4, 0, 2.0, 1.0, 5.0, 2.0, 2.0, 2.0, 16.0]


def test_an_open_incident_that_is_over_grows_no_more():
    one = Incident("a", NOON, after(1), None, over=after(3))
    assert [one.repair(after(hours)) for hours in (2, 3, 100)] == [1.0, 2.0, 2.0]
    assert Incident("a", NOON, after(1), after(9), over=after(3)).repair(after(100)) == 8.0
    # Refused by a clock that was ahead.
    assert Incident("a", NOON, after(4), None, over=after(3)).repair(after(100)) == 0.0


def failed(play=0, status="error", created=NOON, seconds=1800.0):
    return Result(
        key=f"{play}".rjust(64, "0"),
        scenario="s",
        defense="D",
        play=play,
        status=status,
        reason="why",
        seconds=seconds,
        created=created.isoformat(),
    )


def test_failures_stay_in_the_log_until_the_same_trial_succeeds(tmp_path):
    with Store(tmp_path / "results.db") as store:
        log = FailureLog(store)
        log.record([replace(failed(1), status="ok"), replace(failed(2), status="skipped")])
        assert recorded_incidents(store) == []
        log.record([failed(1), failed(2, "timeout", after(1))])
        log.record([failed(1, created=after(2))])
    with Store(tmp_path / "results.db") as store:
        # Another process repairs one of both.
        FailureLog(store).record([replace(failed(1), status="ok", created=after(5).isoformat(), key="f" * 64)])
        first, second, third = recorded_incidents(store)
    assert first == Incident("failed trial (error)", after(-0.5), NOON, after(5))
    assert second == Incident("failed trial (timeout)", after(0.5), after(1), None)
    assert (third.found, third.repaired) == (after(2), after(5))


def test_the_log_holds_no_messages(tmp_path):
    path = tmp_path / "results.db"
    with Store(path) as store:
        FailureLog(store).record([replace(failed(1), reason="a secret value")])
    assert b"a secret value" not in path.read_bytes()


def test_a_damaged_log_is_named(tmp_path):
    with Store(tmp_path / "results.db") as store:
        FailureLog(store).record([failed(1)])
        with store.transaction() as connection:
            connection.execute(sql.text("UPDATE tokumei_failures SET found = 'once'"))
        with pytest.raises(ValueError, match="the log of failures is damaged"):
            recorded_incidents(store)
