"""The page of audits lists every mechanism that claims an epsilon, and what its audit catches.

An audit of a correct mechanism raises a false alarm in at most 0.1 % of seeds. Seeds are fixed; other seeds may
change an answer near the limit of its power.
"""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from scenarios.checks.audits.audit import audit, one_run_audit, twice_the_epsilon
from scenarios.checks.audits.canaries import canaries
from scenarios.checks.audits.names import mechanisms
from scenarios.checks.audits.subjects import subject
from scenarios.checks.audits.tables import table
from scenarios.running.methods.invented_people import example
from scenarios.running.methods.methods import exported

PAGE = Path(__file__).parents[4] / "docs/site/en/operate/audits.md"
EPSILONS = (0.1, 1.0, 8.0)
SMALL = {"d": 4, "m": 32, "k": 4, "letters": "ab", "length": 2, "horizon": 4, "delta": 1e-5}
LARGE = {"d": 16, "m": 64, "k": 4, "letters": "abcd", "length": 2, "horizon": 64, "delta": 1e-5, "sensitivity": 3}


def listed(heading):
    """Answers by method and epsilon, of the table below a heading."""
    lines = PAGE.read_text(encoding="utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0].splitlines()
    rows = [re.split(r" *\| *", line.strip("| ")) for line in lines if line.startswith("| `")]
    return {name.strip("`"): dict(zip(EPSILONS, answers, strict=True)) for name, _, *answers in rows}


def half_the_noise_is_caught(mechanism, subject_of, run):
    examined = subject_of(mechanism)
    assert run(examined, rng=np.random.default_rng(0)).holds
    broken = replace(subject_of(twice_the_epsilon(mechanism)), epsilon=examined.epsilon)
    return not run(broken, rng=np.random.default_rng(0)).holds


def test_the_page_lists_every_mechanism():
    assert sorted(listed("Mechanisms")) == sorted(mechanisms())


def test_the_page_names_every_defense_that_claims_an_epsilon():
    text = PAGE.read_text(encoding="utf-8")
    claiming = []
    for name, method in exported("defenses").items():
        try:
            claims = example(method).guarantee(table(0)).epsilon is not None
        except ValueError:  # they need other columns
            claims = "epsilon" in method.parameter_names()
        if claims:
            claiming.append(name)
    assert len(claiming) > 10
    assert [name for name in claiming if f"`{name}`" not in text] == []


def test_every_cell_of_the_page_is_an_answer():
    for row in (*listed("Mechanisms").values(), *listed("Defenses").values()):
        assert set(row.values()) <= {"yes", "no", "yes, no", "no, yes"}


def at_epsilons(names):
    return [(name, epsilon) for name in sorted(names) for epsilon in EPSILONS]


@pytest.mark.long
@pytest.mark.parametrize(("name", "epsilon"), at_epsilons(listed("Mechanisms")))
def test_audits_catch_half_the_noise_of_mechanisms_as_the_page_says(name, epsilon):
    found = []
    for size in (SMALL, LARGE):
        method = mechanisms()[name]
        known = {key: value for key, value in size.items() if key in method.parameter_names()}
        found.append(half_the_noise_is_caught(method(epsilon=epsilon, **known), subject, audit))
    words = ["yes" if caught else "no" for caught in found]
    assert ", ".join(dict.fromkeys(words)) == listed("Mechanisms")[name][epsilon]


@pytest.mark.long
@pytest.mark.parametrize(("name", "epsilon"), at_epsilons(listed("Defenses")))
def test_audits_catch_half_the_noise_of_defenses_as_the_page_says(name, epsilon):
    defense = example(exported("defenses")[name]).set_params(epsilon=epsilon)
    caught = half_the_noise_is_caught(defense, canaries, one_run_audit)
    assert listed("Defenses")[name][epsilon] == ("yes" if caught else "no")
