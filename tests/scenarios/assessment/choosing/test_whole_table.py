"""What a setting does to the whole table."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from defenses import Identity, Microdata, Mondrian, PrivateMarginals, RankSwapping
from metrics import CategoricalDomain, NumericDomain
from scenarios.assessment.choosing.choice_report import WholeTable
from scenarios.assessment.evaluation.evaluation_setting import EvaluationSetting
from scenarios.running.plan import NamedMethod
from scenarios.tables.dataset import Dataset

ROWS = 100


@pytest.fixture(scope="module")
def whole():
    """A table with amounts in a wide last bin, and one illness that half of the people have."""
    rng = np.random.default_rng(1)
    amounts = np.where(np.arange(ROWS) < 5, rng.uniform(0, 10, ROWS), rng.uniform(10, 30, ROWS)).round(2)
    illness = np.where(np.arange(ROWS) % 2 == 0, "flu", "none")
    records = Microdata(
        pd.DataFrame({"amount": amounts, "illness": illness}),
        quasi_identifiers=("amount",),
        sensitive=("illness",),
        domains={
            "amount": NumericDomain(0, 10_000, cuts=(10,)),
            "illness": CategoricalDomain(("flu", "none")),
        },
    )
    return WholeTable(EvaluationSetting(Dataset("made up", records, None, (), (), "0" * 64)), (), 0.2)


def entry(method, **parameters):
    return NamedMethod(type(method).__name__, method, parameters)


def test_classes_of_one_are_refused_and_larger_ones_are_not(whole):
    exact, grouped = entry(Identity()), entry(Mondrian(k=10), k=10)
    assert whole.refused(exact)
    assert whole.effect(exact).above(0.2) == {"Smallest class of people alike": 1.0}
    assert not whole.refused(grouped)
    assert 0 < whole.effect(grouped).classes["Smallest class of people alike"] <= 0.1
    assert 0 <= whole.effect(grouped).utility < whole.effect(exact).utility == 1


def test_exact_matching_does_not_apply_to_changed_numbers(whole):
    """Nobody is found by the exact amount where each amount stands in another row; attacks decide."""
    assert whole.effect(entry(RankSwapping(window=0.5), window=0.5)).classes == {}


def test_classes_of_rows_of_one_person_are_refused(whole):
    """Four rows of each of 25 people: classes of ten rows hold three people or so, which exceeds .2."""
    records = whole.setting.dataset.records
    who = np.argsort(np.argsort(records.frame["amount"].to_numpy())) // 4
    named = replace(records, frame=records.frame.assign(who=who), identifiers=("who",), person="who")
    people = WholeTable(EvaluationSetting(replace(whole.setting.dataset, records=named)), (), 0.2)
    grouped = entry(Mondrian(k=10), k=10)
    assert people.refused(grouped)
    assert people.effect(grouped).classes["Smallest class of people alike"] >= 1 / 4


def test_synthetic_rows_have_no_classes_and_hide_a_wide_last_bin(whole):
    effect = whole.effect(entry(PrivateMarginals(epsilon=50.0), epsilon=50))
    assert effect.classes == {}
    [warning] = map(str, effect.hidden)
    assert warning.startswith("amount: numbers differ inside the public bins")
    assert set(effect.costs) == {"amount", "illness"}
