"""One spelling of released cells: equal information counts as one value, in memory and in parts."""

import numpy as np
import pandas as pd
import pytest
from finished_tools import finished, setting_of, write_people

from metrics import CategoricalDomain, NumericDomain, read_cells, suda_scores
from scenarios.assessment.evaluation.posed_questions import evaluate
from scenarios.tables.parts.risk import risk_of_file
from scenarios.tables.reading import cell_spelling
from scenarios.tables.reading.cell_spelling import spellings, worded_cell
from scenarios.tables.released import read_released
from scenarios.tables.risk import risk_report

WORDS = CategoricalDomain(("no", "yes", "{E}", "[D,4]", "a|b"))
AGES = NumericDomain(0, 99, integer=True)


def said(report, kind):
    """What a report says of a kind."""
    return "".join(str(note) for note in report.notes if note.kind == kind)


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
        (AGES, ["*", "[0,99]", "[0,100)", "{[50,99]|[0,49]}"]),
        (CategoricalDomain(("f", "m")), ["*", "{f|m}", "{m|f}"]),
        (CategoricalDomain(("f",)), ["f", "{f}"]),
        (NumericDomain(0, 1), [".5", "0.50"]),
    ],
)
def test_cells_of_equal_meaning_have_one_text(domain, alike):
    assert len(set(spellings(alike, domain, stars=True))) == 1
    for cell in alike if domain is not None else ():
        before, after = (read_cells(pd.Series([one]), domain) for one in (cell, *spellings([cell], domain, stars=True)))
        assert (before.mass() == after.mass()).all()


def test_cells_of_other_meaning_stay_apart():
    cells = ["no", "{no|}", "{no|yes}", "*", r"\{E}", "E", "{no|a|b}", r"{no|a\|b}"]
    assert len(set(spellings(cells, WORDS))) == len(cells)
    # Without declared values, nothing is known to be all of them; one value is no suppression.
    assert "*" not in spellings(["{a|b}", "[0,9]"], None, stars=True)
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


@pytest.mark.thorough_beyond(1)
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
        assert risk_of_file(tmp_path / name, roles, memory=1 << 30)[0].measures == first.measures
    assert (tmp_path / "two.csv").read_bytes() == content


def both_risks(folder, rows, columns=""):
    """Risk of a table in memory and in parts, which must agree; rows of one quasi-identifier `x`."""
    path, roles = folder / "released.csv", folder / "roles.toml" if columns is not None else None
    pd.DataFrame({"x": rows}).to_csv(path, index=False)
    if roles is not None:
        roles.write_text(f'quasi_identifiers = ["x"]\n{columns}')
    report = risk_report(read_released(path, roles))
    assert risk_of_file(path, roles, memory=1 << 30)[0] == report
    return report


NUMBER, INTEGER = '[columns.x]\ntype = "number"\n', '[columns.x]\ntype = "number"\ninteger = true\n'
CATEGORY = '[columns.x]\ntype = "category"\n'
DATE = '[columns.x]\ntype = "date"\n'


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("columns", "cells", "classes"),
    [
        (INTEGER, ["25", "25.0", "+25", "2.5e1", "{25}", "[25,26)"], 1),
        (INTEGER, ["[-20,-11]", "[-20, -11]", "[-20,-10)", "{[-20,-15]|[-14,-11]}"], 1),
        (NUMBER + "decimals = 1\n", ["[1.5,2)", "[1.50, 2.0)", "[1.5,2]"], 2),
        (INTEGER, ["{3|1|2}", "{ 1 | 2 | 3 }", "[1,3]", "[1,4)"], 1),
        (None, ["25", "25.0", "[20,29]", "[20, 29]", "[20,30)"], 2),
        (None, ["0.5", ".50", "5e-1", "[0.5,1)", "[0.5, 1.0)"], 2),
        (None, ["01", "1", "1.0"], 3),
        (CATEGORY, ["01", "1", "1.0", "{01|1}", "{1|01}"], 4),
        (CATEGORY, ["{a|b|c}", "{c|a|b}", r"d\|e", "d|e", "{d}"], 3),
        (CATEGORY + 'categories = ["low", "mid", "high"]\n', ["{high|low}", "{low|high}", "low", "{low}"], 2),
        (DATE, ["[2020-01-01,2020-01-31]", "[2020-01-01, 2020-01-31]", "[2020-01-01,2020-02-01)"], 1),
        (None, ["[2020-01-01,2020-01-31]", "[2020-01-01, 2020-01-31]", "[a,b)", "[a , b)"], 2),
        (INTEGER, ["*", " *", "* ", "*"], 1),
        (CATEGORY + 'categories = ["a", "b"]\n', ["{b|a}", "{a|b}", "*"], 1),
        (INTEGER + "low = 0\nhigh = 9\n", ["[0,9]", "[0,10)", "*"], 1),
        (NUMBER + "low = 0.5\nhigh = 9\n", ["[0.5,9]", "[0.50, 9.0]", "*"], 1),
        (DATE + "low = 2020-01-01\nhigh = 2020-12-31\n", ["[2020-01-01,2020-12-31]", "*", "2020-05-05"], 1),
    ],
)
def test_classes_count_each_meaning_once(tmp_path, columns, cells, classes):
    assert both_risks(tmp_path, cells * 3, columns).classes == classes


@pytest.mark.parametrize(
    ("columns", "cells", "said"),
    [
        (INTEGER, ["25", "X", "[20,29]", "n.s.", "*", None], "x: 2 released cells of 6 hold no number"),
        (DATE, ["2020-01-05", "5 Jan", "[2020-01-01,2020-01-31]"], "x: 1 released cell of 3 holds no number"),
        (CATEGORY + 'categories = ["a", "b"]\n', ["a", "{b|a}", "a ", "hidden"], "x: 2 released cells of 4 name a"),
        (CATEGORY, ["a", "b", "hidden"], None),
        (None, ["a", "b", "hidden"], None),
    ],
)
def test_cells_outside_a_declared_column_are_said_to_count_as_values(tmp_path, columns, cells, said):
    both_risks(tmp_path, cells, columns)
    roles = None if columns is None else tmp_path / "roles.toml"
    notes = read_released(tmp_path / "released.csv", roles).notes
    assert notes == risk_of_file(tmp_path / "released.csv", roles, memory=1 << 30)[1][: len(notes)]
    unread = [str(note) for note in notes if note.kind == "unread cells"]
    assert [text[: len(said or "")] for text in unread] == ([] if said is None else [said])


@pytest.mark.thorough
def test_the_population_is_spelled_as_the_table(tmp_path):
    for name, cells in (("own", ["[20,29]", "25.0"]), ("all", ["[20,30)", "25"] * 2)):
        pd.DataFrame({"age": cells}).to_csv(tmp_path / f"{name}.csv", index=False)
    own = read_released(tmp_path / "own.csv", None)
    everybody = read_released(tmp_path / "all.csv", None, spelling=own.spelling)
    report = risk_report(own, population=everybody)
    large, _ = risk_of_file(tmp_path / "own.csv", population=tmp_path / "all.csv", memory=1 << 30)
    assert report == large
    assert {name: value for name, _, value in report.models}["journalist, highest"] == 0.5


def star_risks(folder, frame):
    frame.to_csv(folder / "released.csv", index=False)
    (folder / "roles.toml").write_text('quasi_identifiers = ["age", "zip"]\nsensitive = ["ill"]\n')
    report = risk_report(read_released(folder / "released.csv", folder / "roles.toml"))
    large, _ = risk_of_file(folder / "released.csv", folder / "roles.toml", memory=1 << 30)
    assert large == report
    return report, {name: value for name, _, value in report.measures}


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("suppressed", [1, 3])
def test_a_row_of_stars_is_in_no_class(tmp_path, suppressed):
    frame = pd.DataFrame({"age": list("aabb"), "zip": list("xxyy"), "ill": list("uvvw")})
    stars = pd.DataFrame({"age": "*", "zip": "*", "ill": ["u"] * suppressed})
    report, measures = star_risks(tmp_path, pd.concat([frame, stars]))
    assert (report.rows, report.classes, report.uniques, report.suppressed) == (4 + suppressed, 2, 0, suppressed)
    assert (measures["k"], measures["k, * as any value"], measures["l, distinct"]) == (2, 2 + suppressed, 2)
    assert report.columns == [("age", 0), ("zip", 0)]
    assert report.sets == []
    assert f"k = {suppressed}" in said(report, "stars")
    assert report.sizes["none, all cells *"] == suppressed


@pytest.mark.thorough
def test_a_star_is_never_what_singles_somebody_out(tmp_path):
    # By its age alone, the third row is one of a kind; by its star nobody is.
    frame = pd.DataFrame({"age": ["a", "a", "b", "a"], "zip": ["x", "x", "*", "*"], "ill": list("uvuv")})
    report, measures = star_risks(tmp_path, frame)
    assert (report.columns, report.sets) == ([("age", 1), ("zip", 0)], [("age", 1)])
    assert (measures["k"], measures["k, * as any value"]) == (1, 1)
    _, measures = star_risks(tmp_path, frame.assign(age="a"))
    assert (measures["k"], measures["k, * as any value"]) == (2, 4)
    assert suda_scores(frame, ["age", "zip"]).tolist() == [0, 0, 1, 0]


@pytest.mark.thorough
def test_empty_cells_are_said_to_count_as_a_value(tmp_path):
    frame = pd.DataFrame({"age": list("aabb"), "zip": ["x", None, "y", "y"], "ill": list("uvvw")})
    report, _ = star_risks(tmp_path, frame)
    assert (report.uniques, report.gaps) == (2, ("zip",))
    assert said(report, "empty cell as a value").startswith("zip: an empty cell counts as a value of its own")
    report, _ = star_risks(tmp_path, frame.fillna("x"))
    assert (report.uniques, said(report, "empty cell as a value")) == (0, "")


def test_a_table_of_stars_is_one_class(tmp_path):
    report, measures = star_risks(tmp_path, pd.DataFrame({"age": ["*"] * 5, "zip": "*", "ill": list("uvuvu")}))
    assert (report.suppressed, report.classes, measures["k"], measures["k, * as any value"]) == (0, 1, 5, 5)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("columns", "noised"),
    [(INTEGER + "low = 0\nhigh = 90\n", True), (NUMBER + "decimals = 1\n", True), (None, True), (CATEGORY, False)],
)
def test_numbers_that_look_noised_are_no_matter_of_exact_matching(tmp_path, columns, noised):
    ages = np.random.default_rng(0).integers(18, 80, 200)
    noise = np.random.default_rng(1).laplace(0, 5, 200)
    report = both_risks(tmp_path, ages + noise, columns)
    assert ("Exact matching does not apply" in said(report, "noised")) == noised
    # Rounded noise shows only where it leaves the bounds.
    assert bool(both_risks(tmp_path, ages + noise.round(), INTEGER + "low = 30\nhigh = 60\n").noised)
    assert not both_risks(tmp_path, ages, INTEGER + "low = 0\nhigh = 90\n").noised
    # A defense cuts noise to declared bounds, where many numbers are equal then.
    cut = (ages + 30 * noise).clip(0, 90).round(5)
    assert np.isin(cut, [0, 90]).mean() > 0.5
    assert bool(both_risks(tmp_path, cut, NUMBER + "decimals = 5\nlow = 0\nhigh = 90\n").noised)


@pytest.mark.thorough
def test_a_release_is_evaluated_as_in_one_notation(tmp_path, monkeypatch):
    """`report` and `rank` read a release alike."""
    monkeypatch.setattr("scenarios.assessment.evaluation.posed_questions.PosedQuestions.outcomes", lambda _: iter(()))
    write_people(tmp_path)
    setting = setting_of(tmp_path, control=False)
    ages = setting.records.frame[list(setting.columns)].assign(city="*", grade="*", illness="flu")
    two = ages.assign(age=[f"{age}.0" if row % 2 else str(age) for row, age in enumerate(ages["age"])])
    assert evaluate(setting, finished(setting, ages)).k == evaluate(setting, finished(setting, two)).k
    cells = setting.records.frame[list(setting.columns)].assign(age="*", city="*", grade="*", illness="flu")
    other = np.where(np.arange(len(cells)) % 2, "{flu}", "flu")
    evaluations = [evaluate(setting, finished(setting, one)) for one in (cells, cells.assign(illness=other))]
    assert evaluations[0].l == evaluations[1].l == {"illness": 1}
    assert evaluations[0].risks == evaluations[1].risks


@pytest.mark.thorough
def test_a_missing_sensitive_value_is_said_to_be_a_second_one(tmp_path):
    frame = pd.DataFrame({"age": list("aabb"), "zip": list("xxyy"), "ill": ["flu", None, "flu", "hiv"]})
    report, measures = star_risks(tmp_path, frame)
    assert measures["l, distinct"] == 2
    assert said(report, "unknown as a value").startswith("ill: an empty cell counts as a value of its own in l")
    report, _ = star_risks(tmp_path, frame.fillna("hiv"))
    assert said(report, "unknown as a value") == ""


SIXTIES = [
    "[60,69]",
    "60-69",
    "60 – 69",
    "60 to 69",
    "60..69",
    "６０～６９",
    "[60, 70[",
    "]59, 69]",
    "(59.999, 69.0]",
    "6*",
    "60代",
    "60_69",
    "60-69 years",
    "between 60 and 69",
    "60<=x<70",
]


@pytest.mark.parametrize(
    ("domain", "texts", "cell"),
    [
        (AGES, SIXTIES, "[60,69]"),
        (AGES, ["60+", ">=60", "≥60", ">59", "60 and over", "60歳以上"], "[60,99]"),
        (AGES, ["<=19", "<20", "under 20", "20歳未満"], "[0,19]"),
        (NumericDomain(0, 99999, integer=True), ["10,000-19,999", "10,000 to 19,999", "10000–19999"], "[10000,19999]"),
        (NumericDomain(0, 1), ["0.5-0.7", "[0.5;0.7]"], "[0.5,0.7]"),
    ],
)
def test_intervals_of_other_programs_are_read(domain, texts, cell):
    assert {*spellings([worded_cell(text, domain) for text in texts], domain)} == {cell}


@pytest.mark.parametrize("mark", [",", ":", ";", "、"])
@pytest.mark.parametrize("separator", ",;")
def test_pairs_are_intervals_where_all_cells_are_such(tmp_path, mark, separator):
    def released(texts):
        lines = [f'"{text}"{separator}a\n' for text in texts]
        (tmp_path / "r.csv").write_text("".join([f"x{separator}y\n", *lines]))
        (tmp_path / "r.toml").write_text(INTEGER)
        return read_released(tmp_path / "r.csv", tmp_path / "r.toml").frame["x"].tolist()

    pairs = [f"{low}{mark}{low + 9}" for low in (20, 60, 70)]
    assert released([*pairs, "*"]) == ["[20,29]", "[60,69]", "[70,79]", "*"]
    # Beside another number, a pair may be one number.
    assert "[60,69]" not in released([*pairs, "65"])


def test_an_underscore_makes_no_number():
    assert spellings(["6_5"], AGES) == ["6_5"]
    with pytest.raises(ValueError, match="is no number"):
        read_cells(pd.Series(["6_5"], dtype=object), AGES)


def test_what_need_be_no_interval_stays():
    for text in ("60,69", "60:69", "-60", "60--69", "2020-2021", "1-2-3", "[20,4]", "old", "*", "{6|7}"):
        assert worded_cell(text, AGES) == text
    codes = CategoricalDomain(("A*", "AB", "8101", "8102", "90"))
    for text, cell in (("81**", r"{8101|8102}"), ("8*", "8*"), ("A*", "A*"), ("****", "****"), ("90", "90")):
        assert worded_cell(text, codes) == cell


def test_risk_counts_intervals_of_other_programs_as_one(tmp_path):
    assert both_risks(tmp_path, [*SIXTIES, "old"], INTEGER).classes == 2
    table = read_released(tmp_path / "released.csv", tmp_path / "roles.toml")
    assert said(table, "other spellings").startswith(
        f"x: {len(SIXTIES) - 1} released cells of {len(SIXTIES) + 1} in other spellings"
    )
    assert said(table, "unread cells").startswith(f"x: 1 released cell of {len(SIXTIES) + 1} holds no number")
    assert both_risks(tmp_path, SIXTIES, INTEGER).classes == 1


def test_attacks_on_a_release_draw_by_what_it_says(tmp_path):
    """Seeds depend on no spelling of cells, order of columns or empty cell that is suppressed."""
    write_people(tmp_path)
    setting = setting_of(tmp_path, control=False)
    cells = setting.records.frame[["age", "grade"]]
    stars, gaps = (cells.assign(age=cells["age"].where(cells["age"] < 60, cell)) for cell in ("*", None))
    one = finished(setting, stars).content
    assert finished(setting, gaps).content == finished(setting, stars[["grade", "age"]]).content == one
    assert finished(setting, cells).content != one
