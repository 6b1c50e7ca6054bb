"""What a release costs, in words."""

import numpy as np
import pandas as pd
import pytest

from defenses import Constant, IndependentMarginals, Microdata, MicrodataRelease, Mondrian
from metrics import CategoricalDomain, NumericDomain
from metrics.columns import unchanged_cells
from scenarios.assessment.choosing.column_costs import column_costs

AGE = NumericDomain(0, 99, integer=True)
INCOME = NumericDomain(0.0, 1000.0)
JOB = CategoricalDomain(("cook", "pilot", "nurse"))
FRAME = pd.DataFrame(
    {"age": [23, 45, 67, 31], "income": [1.5, 20.0, 300.0, 4.0], "job": ["cook", "pilot", "nurse", None]}
)


@pytest.fixture
def people():
    domains = {"age": AGE, "income": INCOME, "job": JOB}
    return Microdata(FRAME, quasi_identifiers=("age", "job"), domains=domains)


def cost(people, column, cells, origin=(0, 1, 2, 3)):
    frame = FRAME.assign(**{column: cells}) if len(cells) == len(FRAME) else pd.DataFrame({column: cells})
    return column_costs(people, MicrodataRelease(frame, list(origin)))[column]


@pytest.mark.parametrize(
    ("column", "cells", "words"),
    [
        ("age", [23, 45, 67, 31], "unchanged"),
        ("age", ["23", "45", "67", "31"], "unchanged"),
        ("age", [23, 45, 67, 34], "25 % changed, by 3 (median)"),
        ("age", ["[20,29]", "[40,49]", "[60,69]", "[30,39]"], "100 % ranges of 10 of the 100 values (median)"),
        ("age", ["[20,30)", "[40,50)", "[60,70)", "31"], "75 % ranges of 10 of the 100 values (median)"),
        ("age", ["*", "*", "67", "31"], "50 % suppressed"),
        ("income", ["[0,10)", "20", "300", "4"], "25 % ranges of 10 of 0 to 1000 (median)"),
        ("job", ["cook", "pilot", "nurse", None], "unchanged"),
        ("job", ["cook", "cook", "nurse", None], "25 % changed"),
        (
            "job",
            ["{cook|pilot}", "{cook|pilot}", "*", None],
            "25 % suppressed; 50 % sets of 2 of 3 categories (median)",
        ),
        ("job", ["cook", "pilot", "nurse", "nurse"], "25 % changed"),
    ],
)
def test_words(people, column, cells, words):
    assert cost(people, column, cells) == words


def test_a_small_share_is_not_called_nothing(people):
    many = people.with_frame(pd.concat([FRAME] * 300, ignore_index=True))
    cells = many.frame.assign(age=[24, *many.frame["age"][1:]])
    release = MicrodataRelease(cells, np.arange(len(cells)))
    assert column_costs(many, release)["age"] == "under 1 % changed, by 1 (median)"


def test_rows_are_compared_with_their_own_people(people):
    release = MicrodataRelease(FRAME.iloc[[2, 0]].reset_index(drop=True), [2, 0])
    assert set(column_costs(people, release).values()) == {"unchanged"}


def test_columns_that_are_gone_and_empty_tables(people):
    assert column_costs(people, MicrodataRelease(FRAME[["age"]], [0, 1, 2, 3]))["job"] == "left out"
    assert column_costs(people, MicrodataRelease(FRAME.iloc[:0], []))["age"] == "no row is released"


def test_invented_rows_are_compared_by_distribution(people):
    release = MicrodataRelease(FRAME, [-1] * 4)
    assert column_costs(people, release)["job"] == "distribution differs by under 1 %"
    other = MicrodataRelease(FRAME.assign(job=["cook"] * 4), [-1] * 4)
    assert column_costs(people, other)["job"] == "distribution differs by 75 %"


def test_cells_of_unknown_people_are_described(people):
    release = MicrodataRelease(FRAME.assign(age=["[20,29]", "[40,49]", "*", "*"]), [-1] * 4)
    words = column_costs(people, release)["age"]
    assert words.startswith("50 % suppressed; 50 % ranges of 10 of the 100 values (median); distribution differs by ")


@pytest.mark.parametrize("defense", [Mondrian(k=2), IndependentMarginals(), Constant()])
def test_every_kind_of_release_has_words(people, defense):
    costs = column_costs(people, defense.apply(people, np.random.default_rng(1)))
    assert set(costs) == {"age", "income", "job"}
    assert all(costs.values())


def test_generalized_cells_are_not_unchanged():
    cells = pd.Series(["23", "[20,30)", "*", None])
    assert unchanged_cells(pd.Series([23, 25, 26, np.nan]), cells, AGE).tolist() == [True, False, False, True]


def test_ranges_of_dates_count_days():
    days = NumericDomain(0, 364, integer=True)
    records = Microdata(pd.DataFrame({"born": [23, 45]}), quasi_identifiers=("born",), domains={"born": days})
    release = MicrodataRelease(pd.DataFrame({"born": ["[20,49]", "[20,49]"]}), np.arange(2))
    assert column_costs(records, release, {"born": "days"}) == {"born": "100 % ranges of 30 of the 365 days (median)"}


def test_ranges_of_times_are_days_and_hours():
    seconds = NumericDomain(0, 7 * 86_400 - 1, integer=True)
    records = Microdata(pd.DataFrame({"at": [0, 9000]}), quasi_identifiers=("at",), domains={"at": seconds})
    cells = pd.DataFrame({"at": ["[0,93599]", "[0,93599]"]})
    costs = column_costs(records, MicrodataRelease(cells, np.arange(2)), {"at": "seconds"})
    assert costs == {"at": "100 % ranges of 1 day 2 hours of 7 days (median)"}
    moved = column_costs(records, MicrodataRelease(pd.DataFrame({"at": [3600, 9000]}), np.arange(2)), {"at": "seconds"})
    assert moved == {"at": "50 % changed, by 1 hour (median)"}


def test_means_of_synthetic_numbers_are_compared(people):
    cells = people.frame.assign(age=[90, 91, 92, 95])
    release = MicrodataRelease(cells, np.full(len(cells), -1))
    assert column_costs(people, release)["age"] == "distribution differs by under 1 %; mean 41.5 before, 92 after"
    assert column_costs(people, release, {"age": "days"})["age"].endswith("mean 50.5 days later")
    assert "mean" not in column_costs(people, release)["job"]
