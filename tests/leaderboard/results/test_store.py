"""The store of results."""

import hashlib
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from leaderboard import Result, Store
from metrics import Score


def digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def trial(play: int, **changes: object) -> Result:
    result = Result(
        key=digest(play, sorted(changes.items(), key=str)),
        scenario="bank",
        game={"decoys": "hard"},
        defense="Mondrian",
        parameters={"k": 5, "columns": ["age", "job"], "scale": 0.1},
        guarantee="k=5",
        attack="NearestNeighbour",
        attack_parameters={"weights": None},
        play=play,
        scores={"reidentification": Score("reidentification", 0.1 + 0.2, 0.005, 100)},
        values={"hits": 0.1 + 0.2, "top3": None},
        seconds=0.25,
        created="2025-01-31T12:00:00+00:00",
    )
    return replace(result, **changes)  # type: ignore[arg-type]


def test_results_come_back_as_they_were_added(tmp_path: Path) -> None:
    rows = [
        trial(0),
        trial(1, status="error", reason="ValueError: naïve ☃ 'quoted'", values={}),
        trial(0, attack=None, attack_parameters={}, game={}, values={"marginals": 1.0}),
    ]
    with Store(tmp_path / "results.db") as store:
        store.add(rows[:2])
        store.add(rows[2:])
        store.add([])
    with Store(str(tmp_path / "results.db")) as store:
        assert store.results() == rows
        assert store.results("bank") == rows
        assert store.results("adult") == []


def test_a_result_whose_texts_were_read_is_stored_and_compares_like_any_other() -> None:
    read, unread = trial(0), trial(0)
    assert read.parameters_text == '{"columns":["age","job"],"k":5,"scale":0.1}'
    assert read.attack_parameters_text == '{"weights":null}'
    assert replace(read, parameters={"k": 1}).parameters_text == '{"k":1}'
    with Store(":memory:") as store:
        store.add([read])
        assert store.results() == [read] == [unread]


@pytest.mark.thorough
def test_known_tells_the_status_of_thousands_of_results(tmp_path: Path) -> None:
    rows = [trial(play, status="ok" if play % 2 else "timeout") for play in range(5000)]
    with Store(tmp_path / "results.db") as store:
        store.add(rows)
        store.add([trial(0, scenario="adult")])
        asked = [row.key for row in rows[:4000]] + [digest("unknown", i) for i in range(1000)]
        assert store.known(asked) == {row.key: row.status for row in rows[:4000]}
        assert store.known([]) == {}
        assert store.statuses("bank") == {row.key: row.status for row in rows}
        assert store.statuses("none") == {}


def test_a_row_of_the_same_key_is_replaced(tmp_path: Path) -> None:
    first, other = trial(0), trial(1)
    better = replace(first, status="ok", values={"hits": 0.5})
    with Store(tmp_path / "results.db") as store:
        store.add([replace(first, status="error"), other])
        store.add([better])
        assert store.statuses("bank") == {first.key: "ok", other.key: "ok"}
        assert store.results() == [other, better]
        # Within one addition the last of a key counts.
        store.add([replace(first, status="oom"), replace(first, status="timeout")])
        assert store.statuses("bank") == {first.key: "timeout", other.key: "ok"}


def test_the_newest_row_of_an_identity_counts(tmp_path: Path) -> None:
    old = trial(0, values={"hits": 0.9})
    new = replace(old, key=digest("newer code"), values={"hits": 0.2})
    release = trial(0, attack=None, attack_parameters={})
    newer_release = replace(release, key=digest("newer release"), guarantee="k=6")
    other_game = replace(old, key=digest("other game"), game={"decoys": "random"})
    with Store(tmp_path / "results.db") as store:
        store.add([old, other_game, release])
        store.add([new, newer_release])
        assert store.results() == [other_game, new, newer_release]
        # Added again, the old one is the newest.
        store.add([old])
        assert store.results() == [other_game, newer_release, old]


def test_the_order_of_parameters_does_not_make_another_identity(tmp_path: Path) -> None:
    one = trial(0, parameters={"a": 1, "b": 2})
    same = replace(one, key=digest("same"), parameters={"b": 2, "a": 1})
    with Store(tmp_path / "results.db") as store:
        store.add([one])
        store.add([same])
        assert [row.key for row in store.results()] == [same.key]


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_are_refused_and_nothing_is_stored(tmp_path: Path, number: float) -> None:
    with Store(tmp_path / "results.db") as store:
        with pytest.raises(ValueError, match=r"Mondrian against NearestNeighbour, play 1: values .* not finite"):
            store.add([trial(0), trial(1, values={"hits": number})])
        assert store.results() == []


@pytest.mark.thorough
def test_a_new_file_is_private(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        Store(tmp_path / "results.db").close()
        Store(f"sqlite:///{tmp_path}/by_url.db").close()
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "results.db").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "by_url.db").stat().st_mode) == 0o600


@pytest.mark.thorough
def test_what_was_added_survives_a_killed_process(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    code = f"""
        import os, signal
        from leaderboard import Result, Store
        store = Store({str(path)!r})
        for play in range(3):
            store.add([Result(key=str(play), scenario="bank", defense="Identity", play=play)])
        os.kill(os.getpid(), signal.SIGKILL)
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=False)
    assert ended.returncode == -signal.SIGKILL
    with Store(path) as store:
        assert [row.play for row in store.results()] == [0, 1, 2]


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,job\n41,admin\n" * 100)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"people\.csv: file is not a database") as raised:
        Store(path)
    assert "\n" not in str(raised.value)
    assert path.read_bytes() == before


@pytest.mark.thorough
def test_a_damaged_database_is_told_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    with Store(path) as store:
        store.add([trial(play) for play in range(200)])
    data = bytearray(path.read_bytes())
    data[3 * 4096 :] = b"\xff" * (len(data) - 3 * 4096)
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"results\.db: ") as raised, Store(path) as store:
        store.results()
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("CREATE TABLE moz_places (id INTEGER)", "is a database of something else"),
        ("CREATE TABLE tokumei_results (id INTEGER, key TEXT)", "holds results of another version"),
    ],
)
def test_a_database_of_another_schema_is_refused_and_left_alone(tmp_path: Path, statement: str, why: str) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()
    before = path.read_bytes()
    with pytest.raises(ValueError, match=rf"other\.db: {why}"):
        Store(path)
    assert path.read_bytes() == before


def test_places_that_cannot_be_opened_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"absent/results\.db: No such file or directory"):
        Store(tmp_path / "absent" / "results.db")
    with pytest.raises(ValueError, match=f"{tmp_path.name}: "):
        Store(tmp_path)
    with pytest.raises(ValueError, match="database URL cannot be used") as raised:
        Store("nosuch://user:secret@host/base")
    assert "secret" not in str(raised.value)


def test_a_database_in_memory_works() -> None:
    with Store("sqlite://") as store:
        store.add([trial(0)])
        assert store.results() == [trial(0)]


def test_a_connection_that_an_interrupt_left_behind_does_not_keep_the_file_in_pieces(tmp_path: Path) -> None:
    store = Store(tmp_path / "results.db")
    store.add([trial(0)])
    connection = store._engine.connect()
    connection.exec_driver_sql("BEGIN")
    connection.exec_driver_sql("SELECT * FROM tokumei_results").fetchone()
    cycle: list[object] = [connection]
    cycle.append(cycle)
    del connection, cycle
    store.close()
    assert not (tmp_path / "results.db-wal").exists()
