"""Interrupts wait for the end of a transaction, so that the database can be used after them."""

import random
import signal
import sys
import threading

import pytest

from leaderboard import Result, Store
from leaderboard.results import store as store_module
from leaderboard.results.store import interrupts_wait

pytestmark = pytest.mark.usefixtures("hears_interrupts")


def add_plays(store):
    store.add([], {"code": "{}"})
    for play in range(3):
        store.add([Result(key=f"{play:064}", scenario="bank", defense="Mondrian", play=play, values={"k": 0.5})])


class Moment:
    """A function for `sys.settrace` that interrupts once, at a line of a function or after a number of events."""

    def __init__(self, function="", event=-1):
        self.function, self.event, self.events, self.came = function, event, 0, False

    def __call__(self, frame, event, argument):
        self.events += 1
        if self.events == self.event or (event == "line" and frame.f_code.co_name == self.function):
            sys.settrace(None)
            self.came = True
            signal.raise_signal(signal.SIGINT)
            return None
        return self


def check_after(moment, path):
    """Interrupt a process that stores results; then read what it stored, close and open the database, and go on."""
    before = sys.gettrace()
    with Store(path) as store:
        sys.settrace(moment)
        try:
            add_plays(store)
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)
        assert {result.play for result in store.results()} <= {0, 1, 2}
    with Store(path) as store:
        add_plays(store)
        assert len(store.results()) == 3


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("function", ["_setup_dml_or_text_result", "_do_commit"])
def test_a_database_is_usable_after_an_interrupt_inside_a_statement_or_a_commit(function, tmp_path, monkeypatch):
    # Without waiting, these lines of SQLAlchemy leave a transaction open, or fail with an AssertionError.
    monkeypatch.setattr(store_module, "_PATIENCE", 0.2)
    moment = Moment(function)
    check_after(moment, tmp_path / "results.db")
    assert moment.came


@pytest.mark.long
def test_a_database_is_usable_after_an_interrupt_at_many_moments(tmp_path, monkeypatch):
    monkeypatch.setattr(store_module, "_PATIENCE", 0.2)
    whole, came = Moment(), 0
    check_after(whole, tmp_path / "whole.db")
    for event in random.Random(0).sample(range(1, whole.events), 1000):
        moment = Moment(event=event)
        check_after(moment, tmp_path / f"{event}.db")
        came += moment.came
    # SQLAlchemy keeps what it compiled, so that later runs are shorter.
    assert came > 800


def interrupted(times, done):
    """Interrupt a block that waits; list what was done after each interrupt."""
    with interrupts_wait():
        for time in range(times):
            signal.raise_signal(signal.SIGINT)
            done.append(time)


@pytest.mark.parametrize("times", [1, 2])
def test_one_interrupt_waits_and_a_second_is_heard_at_once(times):
    done = []
    with pytest.raises(KeyboardInterrupt):
        interrupted(times, done)
    assert done == [0]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_ignored_interrupt_stays_ignored_and_threads_change_nothing():
    def in_thread():
        with interrupts_wait():
            heard.append(signal.getsignal(signal.SIGINT))

    heard = []
    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
    assert heard == [signal.default_int_handler]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with interrupts_wait():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
