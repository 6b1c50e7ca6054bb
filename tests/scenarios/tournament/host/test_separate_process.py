"""Functions in a process of their own: outcomes, errors and deaths come back."""

import os

import pytest

from scenarios.running.workers.isolation import Limits, SeparateProcess


def test_outcomes_errors_and_deaths_come_back():
    process = SeparateProcess(Limits(time=30.0))
    try:
        there = process.call(os.getpid)
        assert there != os.getpid()
        with pytest.raises(ValueError, match="invalid literal"):
            process.call(int, "8", base=7)
        assert process.call(os.getpid) == there
        with pytest.raises(RuntimeError, match="exit code 3"):
            process.call(os._exit, 3)
        assert process.call(os.getpid) not in (there, os.getpid())
    finally:
        process.close()
    with pytest.raises(RuntimeError, match="stopped"):
        process.call(os.getpid)
