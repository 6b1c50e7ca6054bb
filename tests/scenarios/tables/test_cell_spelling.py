"""One spelling of released cells: equal information counts as one value, in memory and in parts."""

import numpy as np
import pandas as pd
import pytest
from finished_tools import finished, setting_of, write_people

from metrics import CategoricalDomain, NumericDomain, read_cells
from scenarios.finished.release_evaluation import evaluate
from scenarios.large.risk import large_risk_report
from scenarios.tables import cell_spelling
from scenarios.tables.cell_spelling import spellings
from scenarios.tables.released import read_released
from scenarios.tables.risk import risk_report

WORDS = CategoricalDomain(("no", "yes", "{E}", "[D,4]", "a|b"))
AGES = NumericDomain(0, 99, integer=True)


@pytest.mark.parametrize(
    ("domain", "alike"),
    [
        (WORDS, ["yes", "{yes}", "{yes|yes}"]),
        (WORDS, ["{no|yes}", "{yes|no}"]),
        (WORDS, [r"\{E}", r"{\{E}}"]),
        (WORDS, [r"{no|\[D,4]}", "{[D,4]|no}"]),
        (WORDS, ["a|b", r"a\|b", r"{a\|b}"]),
        (WORDS, ["{no|}", "{|no}"]),
        (WORDS, ["*"]),
        (None, ["{b|a}", "{a|b}"]),
        (AGES, ["50", "50.0", "5e1", "{50}", "[50,51)"]),
        (AGES, ["[20,29]", "[20,30)", "{[25,29]|[20,24]}"]),
        (AGES, ["{7|5}", "{5|7.0}"]),
        (AGES, ["*"]),
        (NumericDomain(0, 1), [".5", "0.50"]),
    ],
)
def test_cells_of_equal_meaning_have_one_text(domain, alike):
    assert len(set(spellings(alike, domain))) == 1
    for cell in alike if domain is not None else ():
        before, after = (read_cells(pd.Series([one]), domain) for one in (cell, *spellings([cell], domain)))
        assert (before.mass() == after.mass()).all()


def test_cells_of_other_meaning_stay_apart():
    cells = ["no", "{no|}", "{no|yes}", "*", r"\{E}", "E", "{no|a|b}", r"{no|a\|b}"]
    assert len(set(spellings(cells, WORDS))) == len(cells)
    # A code with a leading zero is no number where nothing says that it is one.
    assert spellings(["007", "7", "7.0", "[1,2]"], None) == ["007", "7", "7.0", "[1,2]"]


def test_what_cannot_be_read_stays_and_spoils_no_other_cell(monkeypatch):
    assert spellings(["n/a", "{5|x}", "7.0", "{*|5}", "1e999", "7.5"], AGES) == [
        "n/a",
        "{5|x}",
        "7",
        "{*|5}",
        "1e999",
        "7.5",
    ]
    monkeypatch.setattr(cell_spelling, "_TOGETHER", 2)
    assert spellings(["{}", "{yes|no}", "{x|no}", "{no|yes}", "{yes}"], WORDS) == [
        "{}",
        "{no|yes}",
        "{no|x}",
        "{no|yes}",
        "yes",
    ]


@pytest.mark.parametrize(
    ("column", "plain", "other"),
    [
        ('type = "category"\ncategories = ["no", "yes"]', "yes", "{yes}"),
        ('type = "category"', "{no|yes}", "{yes|no}"),
        ('type = "number"\ninteger = true', "50", "50.0"),
        ('type = "date"', "2020-01-05", "{2020-01-05}"),
    ],
)
def test_risk_is_that_of_one_notation(tmp_path, column, plain, other):
    (tmp_path / "roles.toml").write_text(
        f'quasi_identifiers = ["ward"]\nsensitive = ["ill"]\n[columns.ill]\n{column}\n'
    )
    one = pd.DataFrame({"ward": ["a"] * 10 + ["b"] * 10, "ill": [plain] * 15 + [None] * 5})
    one.to_csv(tmp_path / "one.csv", index=False)
    two = one.assign(ill=[plain, other] * 7 + [plain] + [None] * 5)
    two.to_csv(tmp_path / "two.csv", index=False)
    content = (tmp_path / "two.csv").read_bytes()
    roles = tmp_path / "roles.toml"
    first = risk_report(read_released(tmp_path / "one.csv", roles))
    assert first.one_value == [("ill", 10)]
    assert risk_report(read_released(tmp_path / "two.csv", roles)) == first
    for name in ("one.csv", "two.csv"):
        assert large_risk_report(tmp_path / name, roles, memory=1 << 30)[0].measures == first.measures
    assert (tmp_path / "two.csv").read_bytes() == content


def test_a_release_is_evaluated_as_in_one_notation(tmp_path, monkeypatch):
    """`report` and `rank` read a release alike."""
    monkeypatch.setattr("scenarios.finished.release_evaluation.PosedQuestions.outcomes", lambda _: iter(()))
    write_people(tmp_path)
    setting = setting_of(tmp_path, control=False)
    cells = setting.records.frame[list(setting.columns)].assign(age="*", city="*", grade="*", illness="flu")
    other = np.where(np.arange(len(cells)) % 2, "{flu}", "flu")
    evaluations = [evaluate(setting, finished(setting, one)) for one in (cells, cells.assign(illness=other))]
    assert evaluations[0].l == evaluations[1].l == {"illness": 1}
    assert evaluations[0].risks == evaluations[1].risks
