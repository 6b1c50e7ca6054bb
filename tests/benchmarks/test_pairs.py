"""The comparison of two commits finds a planted slowdown and raises few false alarms, on simulated times."""

import numpy as np
import pairs
import pytest
from scipy.stats import binom

JOBS = 100


def busy(rng, factor=1.0):
    """A run on a busy machine: every case within a tenth of its time, and every twelfth half as long again."""

    def run(commit):
        slow = np.where(rng.random(len(pairs.CASES)) < 1 / 12, 1.5, 1.0) * np.exp(rng.normal(0, 0.05, len(pairs.CASES)))
        found = dict(zip(pairs.CASES, slow, strict=True))
        found[pairs.CASES[3]] *= factor if commit == "after" else 1.0
        return found

    return run


def slower(rng, factor=1.0):
    medians = pairs.ratios(list(pairs.paired("before", "after", busy(rng, factor))))
    return {case for case, median in medians.items() if median >= pairs.LIMIT}


@pytest.mark.thorough
def test_equal_commits_raise_no_more_alarms_than_stated():
    rng = np.random.default_rng(0)
    single = [later[case] / earlier[case] for earlier, later in pairs.paired("a", "b", busy(rng)) for case in later]
    assert np.mean(np.array(single) >= pairs.LIMIT) < 0.12
    # Of 100 jobs, more alarm at the stated rate with probability below .002.
    alarms = sum(bool(slower(rng)) for _ in range(JOBS))
    assert alarms <= binom.isf(0.002, JOBS, pairs.FALSE_ALARM)


def test_the_stated_rate_is_that_of_pairs_of_which_every_tenth_is_far_apart():
    one = binom.sf(pairs.PAIRS // 2, pairs.PAIRS, 0.1)
    assert 1 - (1 - one) ** len(pairs.CASES) == pytest.approx(pairs.FALSE_ALARM, abs=0.001)


@pytest.mark.thorough
def test_a_slowdown_by_half_is_caught():
    rng = np.random.default_rng(1)
    # A job misses it with probability below .02: then four pairs of seven must be disturbed.
    assert sum(pairs.CASES[3] in slower(rng, 1.5) for _ in range(JOBS)) >= 93
    assert pairs.CASES[3] not in slower(rng, 0.5)


def test_a_case_that_one_commit_lacks_fails(monkeypatch, capsys):
    here = dict.fromkeys(pairs.CASES, 1.0)
    monkeypatch.setattr(pairs, "paired", lambda *of: [(here, {**here, pairs.CASES[0]: 1.4})] * pairs.PAIRS)
    assert pairs.main("a", "b") == 1
    assert f"{pairs.CASES[0]}: 1.40 SLOWER" in capsys.readouterr().out
    monkeypatch.setattr(pairs, "paired", lambda *of: [(here, here)] * pairs.PAIRS)
    assert pairs.main("a", "b") == 0
    monkeypatch.setattr(pairs, "paired", lambda *of: [(dict(list(here.items())[1:]), here)] * pairs.PAIRS)
    assert pairs.main("a", "b") == 1
    assert f"{pairs.CASES[0]}: not run on both commits" in capsys.readouterr().out
