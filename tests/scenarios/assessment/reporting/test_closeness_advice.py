"""The t that a report names keeps every class within the threshold."""

import numpy as np
import pandas as pd

from defenses import Microdata, Mondrian
from metrics import CategoricalDomain, NumericDomain
from scenarios.assessment.reporting.findings import ABOVE, WITHIN, class_findings
from scenarios.assessment.reporting.release_reading import closeness_advice

ILLNESSES = CategoricalDomain(("none", "flu", "cancer"))
THRESHOLD = 0.2


def people():
    """800 people whose illness depends on their age, so that classes of people alike say much about it."""
    rng = np.random.default_rng(4)
    age = rng.integers(20, 80, 800)
    odds = np.c_[90 - age, np.full(800, 25), age - 10]
    illness = [rng.choice(ILLNESSES.categories, p=row / row.sum()) for row in odds]
    return Microdata(
        pd.DataFrame({"age": age, "illness": illness}),
        quasi_identifiers=("age",),
        sensitive=("illness",),
        domains={"age": NumericDomain(20, 79, integer=True), "illness": ILLNESSES},
    )


def findings(records, defense):
    cells = defense.apply(records, np.random.default_rng(1)).frame
    return class_findings(cells, ["age"], {"illness": ILLNESSES}, THRESHOLD, counts=True)


def test_the_named_t_is_enough():
    records = people()
    found = findings(records, Mondrian(k=10))
    assert found[1].status == ABOVE
    [advice] = closeness_advice(records.frame, {"illness": ILLNESSES}, found, THRESHOLD)
    closeness = float(advice.rsplit("t=", 1)[1].removesuffix("`."))
    assert 0 < closeness < THRESHOLD
    kept = findings(records, Mondrian(k=10, t=closeness))
    assert kept[1].status == WITHIN
    assert [*closeness_advice(records.frame, {"illness": ILLNESSES}, kept, THRESHOLD)] == []


def test_a_t_beyond_the_threshold_is_not_enough():
    """So the named t does something: k alone does not keep these classes within."""
    assert findings(people(), Mondrian(k=10, t=0.3))[1].status == ABOVE


def test_of_numbers_it_says_that_ranges_come_first():
    """t-closeness counts each number as a value of its own, so that no small class is close to the table."""
    records = people()
    incomes = NumericDomain(0, 99_999, integer=True, cuts=(20_000, 50_000))
    illness = records.frame["illness"].map({"none": 10_000, "flu": 30_000, "cancer": 60_000})
    frame = records.frame[["age"]].assign(income=illness + np.arange(800))
    table = Microdata(frame, quasi_identifiers=("age",), sensitive=("income",), domains={"income": incomes})
    cells = Mondrian(k=10).apply(table, np.random.default_rng(1)).frame
    found = class_findings(cells, ["age"], {"income": incomes}, THRESHOLD, counts=True)
    [advice] = closeness_advice(frame, {"income": incomes}, found, THRESHOLD)
    assert advice.endswith("Before, write income in ranges: single numbers leave one class of all people.")
    released = Mondrian(k=10, t=0.2).apply(table, np.random.default_rng(1)).frame
    assert len(set(released["age"])) == 1


def test_values_that_look_like_sets_or_intervals_are_values():
    names = {"none": "flu", "flu": "{E}", "cancer": "[D,4]"}
    domain = CategoricalDomain(tuple(names.values()))
    records = people()
    frame = records.frame.assign(illness=records.frame["illness"].map(names))
    table = Microdata(frame, quasi_identifiers=("age",), sensitive=("illness",), domains={"illness": domain})
    cells = Mondrian(k=10).apply(table, np.random.default_rng(1)).frame
    found = class_findings(cells, ["age"], {"illness": domain}, THRESHOLD, counts=True)
    [advice] = closeness_advice(frame, {"illness": domain}, found, THRESHOLD)
    plain = closeness_advice(records.frame, {"illness": ILLNESSES}, findings(records, Mondrian(k=10)), THRESHOLD)
    assert [advice] == [*plain]
