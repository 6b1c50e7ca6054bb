"""Findings: what counts as a risk, in which order, and what they say together."""

import pandas as pd
import pytest

from metrics import CategoricalDomain, NumericDomain
from scenarios.assessment.reporting.findings import (
    ABOVE,
    LITTLE,
    UNSURE,
    WITHIN,
    Finding,
    class_findings,
    identifier_findings,
    ordered,
    passes,
    verdict,
)

ILLNESS = {"illness": CategoricalDomain(("cold", "flu"))}
CELLS = pd.DataFrame(
    {
        "age": ["[20,39]"] * 10 + ["[40,59]"] * 10,
        "illness": ["flu"] * 10 + ["flu", "cold"] * 5,
        "ward": ["a", "b"] * 10,
    }
)


def finding(title="risk", value=0.5, low=None, high=None, status=WITHIN):
    return Finding(title, value, value if low is None else low, value if high is None else high, status, "", "")


def test_a_class_of_one_value_is_as_bad_as_a_class_of_one_person():
    crowd, values = class_findings(CELLS, ["age"], ILLNESS, 0.09, counts=True)
    assert (crowd.value, crowd.status) == (0.1, ABOVE)
    assert (values.value, values.status) == (1.0, ABOVE)
    assert values.meaning.startswith("50.0% of the people are in a class in which all have one value of illness")
    [lonely] = class_findings(CELLS.assign(age=range(20)), ["age"], {}, 0.09, counts=True)
    assert (lonely.value, lonely.status) == (1.0, ABOVE)
    assert [one.value for one in ordered([crowd, values])] == [1.0, 0.1]


def test_classes_of_changed_numbers_say_little():
    unique = CELLS.assign(age=range(20))
    [few] = class_findings(unique, ["age"], {}, 0.09, counts=True, holding=0.05)
    assert (few.status, few.meaning[:17]) == (LITTLE, "5.0% of the rows ")
    assert "exact matching does not apply" in few.meaning
    [many] = class_findings(unique, ["age"], {}, 0.09, counts=True, holding=0.5)
    assert (many.value, many.status) == (1.0, ABOVE)


def test_values_spread_as_in_the_table_are_no_risk():
    _, ward = class_findings(CELLS, ["age"], {"ward": CategoricalDomain(("a", "b"))}, 0.09, counts=True)
    assert (ward.value, ward.status) == (0.0, WITHIN)


def test_the_excess_is_that_over_the_whole_table():
    cells = CELLS.iloc[8:]
    # In the second class 5 of 10 have a cold; in the whole 5 of 12. In the first all have flu; in the whole 7 of 12.
    values = class_findings(cells, ["age"], ILLNESS, 0.09, counts=True)[1]
    assert values.value == 1.0
    only = cells.iloc[1:]
    mixed = class_findings(only.assign(age="*"), ["age"], ILLNESS, 0.09, counts=True)[1]
    assert mixed.value == 0.0


def test_a_constant_column_gives_nothing_away():
    constant = class_findings(CELLS.assign(illness="flu"), ["age"], ILLNESS, 0.09, counts=True)[1]
    assert constant.value == 0.0
    assert "that much surer" in constant.meaning


def test_missing_values_are_values_and_suppressed_cells_are_not():
    cells = CELLS.assign(illness=[None] * 10 + ["flu"] * 10)
    assert class_findings(cells, ["age"], ILLNESS, 0.09, counts=True)[1].value == 1.0
    hidden = class_findings(cells.assign(illness="*"), ["age"], ILLNESS, 0.09, counts=True)[1]
    assert (hidden.value, hidden.status) == (0.0, WITHIN)


def test_a_class_of_one_set_is_not_called_a_known_value():
    """As `Anatomy` releases: each cell leaves three illnesses."""
    illness = {"illness": CategoricalDomain(("flu", "cold", "gout", "rash", "none", "flux"))}
    cells = CELLS.assign(illness=["{flu|flux|gout}"] * 10 + ["{cold|none|rash}"] * 9 + ["*"])
    found = class_findings(cells, ["age"], illness, 0.09, counts=True)[1]
    q = 10 / 19 / 3
    assert found.value == pytest.approx((1 / 3 - q) / (1 - q))
    assert found.meaning == (
        "In the worst class a value of illness is that much surer than in the whole table. 20 of 20 cells leave "
        "several values: a set or an interval counts evenly for each, and * as the whole table."
    )


def test_spellings_decide_no_verdict():
    cells = CELLS.assign(illness=["flu", "{flu}"] * 5 + ["flu", "cold"] * 5)
    assert class_findings(cells, ["age"], ILLNESS, 0.09, counts=True)[1].value == 1.0


def test_classes_of_synthetic_rows_say_little():
    assert {one.status for one in class_findings(CELLS, ["age"], ILLNESS, 0.09, counts=False)} == {LITTLE}


def test_the_worst_comes_first():
    findings = [finding(value=0.9, status=LITTLE), finding(value=0.2, status=WITHIN), finding(value=0.1, status=ABOVE)]
    assert [one.status for one in ordered(findings)] == [ABOVE, WITHIN, LITTLE]


def test_numbers_are_compared_by_their_bins():
    salary = {"salary": NumericDomain(0, 100, cuts=(50,))}
    cells = CELLS.assign(salary=[50 + 0.01 * number for number in range(10)] + [10.0, 90.0] * 5)
    same = class_findings(cells.astype(str), ["age"], salary, 0.09, counts=True)[1]
    assert same.value == 1.0
    # The class has ten salaries in one bin: nobody knows the value.
    assert same.meaning == (
        "50.0% of the people are in a class in which all have one bin of salary: whoever finds the class knows the bin."
    )
    spread = class_findings(cells.astype(str).assign(age="*"), ["age"], salary, 0.09, counts=True)[1]
    assert spread.meaning == "In the worst class a bin of salary is that much surer than in the whole table."
    ranges = cells.astype(str).assign(salary=["[50,100]"] * 10 + ["[0,50)"] * 10)
    assert class_findings(ranges, ["age"], salary, 0.09, counts=True)[1].value == 1.0


def test_identifiers_under_other_names_are_found():
    identifiers = pd.DataFrame({"name": ["Ann", "Bob", "Eve"]})
    [found] = identifier_findings(pd.DataFrame({"full name": ["Ann", "Eve"], "group": ["x", "y"]}), identifiers)
    assert (found.title, found.status) == ("Identifier in column 'full name'", ABOVE)
    assert identifier_findings(pd.DataFrame(index=range(2)), identifiers) == []
    assert identifier_findings(pd.DataFrame({"empty": [None, None]}), identifiers) == []


@pytest.mark.parametrize(
    ("findings", "words"),
    [
        ([finding("Alone", 1.0, status=ABOVE), finding(status=UNSURE)], "The risk is above .09. Worst: alone, 1.00."),
        ([finding("A", 1.0, status=ABOVE), finding("B", 1.0, status=ABOVE)], "Worst: a, 1.00. Also above: b."),
        ([finding("Links", status=UNSURE), finding(status=WITHIN)], "not shown to be within .09: the interval is too"),
        ([finding(status=WITHIN)], "Measured risks are within .09; not measured: "),
        ([finding(status=LITTLE)], "No risk was measured, so nothing can be said."),
        ([], "No risk was measured, so nothing can be said."),
    ],
)
def test_the_verdict_is_that_of_the_worst(findings, words):
    says = verdict(findings, ["membership"], [], 0.09)
    assert words in says
    assert says.endswith("ot measured: membership.")


def test_the_verdict_says_how_much_of_the_three_risks_of_wp29_is_lacking():
    within = [finding(status=WITHIN)]
    assert verdict(within, [], [], 0.2) == "Every risk is within .2."
    says = verdict(within, ["singling out (too few trials to judge)", "linkability", "membership"], [], 0.2)
    lacking = "singling out (too few trials to judge), linkability, membership. That is 2 of the 3 risks of WP29: "
    assert says == f"Measured risks are within .2; not measured: {lacking}singling out, linkability, inference."


def test_columns_that_were_not_checked_spoil_the_verdict():
    findings = [finding(status=WITHIN)]
    assert passes(findings, [])
    assert not passes(findings, ["full name"])
    says = verdict(findings, [], ["full name"], 0.09)
    assert says == ("The release is not shown to be within .09. Not in the original table, and not checked: full name.")
    assert not passes([], [])
    assert not passes([finding(status=LITTLE)], [])


def test_a_sentence_keeps_the_capital_letters_of_columns():
    found = class_findings(
        CELLS.rename(columns={"illness": "Illness"}), ["age"], {"Illness": ILLNESS["illness"]}, 0.2, counts=True
    )
    says = verdict(ordered(found), [], [], 0.2)
    assert says == "The risk is above .2. Worst: class that says most about Illness, 1.00."
