"""The database of accounts: under load, damaged, or without room."""

import sqlite3
import threading
import time

import pytest

from scenarios.tournament.site import account_store
from scenarios.tournament.site.account_store import AccountStore


def test_many_threads_write(tmp_path, monkeypatch):
    """40 threads, as many as the server has, wait for one another for far longer than SQLite would."""
    monkeypatch.setattr(account_store, "_WAIT", 0.0)
    store, errors = AccountStore(tmp_path / "accounts.db"), []
    start = threading.Barrier(40)

    def write(number):
        start.wait()
        try:
            with store.transaction() as database:
                database.execute("INSERT INTO devices VALUES (?, ?, ?)", (b"key", f"team {number}", number))
                time.sleep(0.002)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=[number]) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    with store.reading() as database:
        assert database.execute("SELECT count(*) FROM devices").fetchone() == (40,)


def test_a_damaged_file_is_told_from_a_full_disk(tmp_path, monkeypatch):
    """Nobody is told to remove accounts because the disk is full."""
    path = tmp_path / "accounts.db"
    AccountStore(path)

    def full(_):
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(AccountStore, "_connection", full)
        with pytest.raises(ValueError, match=r"accounts.db: cannot be used \(database or disk is full\)$"):
            AccountStore(path)
    path.write_bytes(b"no database" * 100)
    with pytest.raises(ValueError, match=r"accounts.db: is damaged"):
        AccountStore(path)
