import gzip
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from step_tools import steps

from defenses import GlobalRecoding, Identity, Mondrian, Pipeline, PrivateMarginals
from metrics.columns.cells import read_cells
from metrics.columns.domains import CategoricalDomain, NumericDomain
from scenarios.tables.dataset import load_table
from scenarios.tables.review.notes import hierarchy_notes
from scenarios.tables.review.summary import summary

CSV = """name;age;income;job;zip;grade;disease
Ann;34;1200.5;nurse;01234;1;flu
Bob;;900;cook;04711;2;?
Eve;51;1500;cook;;3;NA
Kim;27;;nurse;01234;2;"flu; mild"
"""
ROLES = """
identifiers = ["name"]
quasi_identifiers = ["age", "income", "job", "zip", "grade"]
sensitive = ["disease"]
separator = ";"

[dataset]
title = "Four people"

[columns.age]
type = "number"
integer = true
low = 0
high = 120
cuts = [30, 50]
hierarchy = { intervals = [[30, 60], []] }

[columns.income]
type = "number"
low = 0
high = 5000
integer = false

[columns.job]
type = "category"
categories = ["cook", "nurse", "pilot"]
hierarchy = { csv = "job.csv", separator = ";" }

[columns.grade]
type = "category"
categories = ["1", "2", "3", "4"]
ordered = true
"""
JOB = "cook;serves;*\nnurse;cares;*\npilot;serves;*\n"


def write(folder, table=CSV, roles=ROLES, job=JOB):
    (folder / "people.csv").write_bytes(table if isinstance(table, bytes) else table.encode())
    (folder / "roles.toml").write_text(roles)
    (folder / "job.csv").write_text(job)
    return folder / "people.csv", folder / "roles.toml"


def refusal(*arguments):
    # Every refusal is one line that starts with the path of a file; the callers check the rest.
    with pytest.raises(ValueError, match=rf"^{re.escape(str(Path(arguments[0]).parent))}[^\n]+\Z") as caught:
        load_table(*arguments)
    return str(caught.value)


def test_a_table_and_its_roles(tmp_path):
    dataset = load_table(*write(tmp_path))
    records = dataset.records
    assert dataset.name == "people"
    assert dataset.title == "Four people"
    assert records.identifiers == ("name",)
    assert records.sensitive == ("disease",)
    assert records.domains["age"] == NumericDomain(0, 120, True, (30, 50))
    assert records.domains["grade"] == CategoricalDomain(("1", "2", "3", "4"), ordered=True)
    assert "name" not in records.domains
    assert records.frame["age"].tolist()[0] == 34
    assert records.frame["age"].isna().tolist() == [False, True, False, False]
    assert records.frame["grade"].tolist() == ["1", "2", "3", "2"]
    assert records.frame["zip"].tolist() == ["01234", "04711", None, "01234"]
    assert records.frame["disease"].tolist() == ["flu", "?", "NA", "flu; mild"]
    assert records.hierarchies["job"].generalize(["cook"], 1).tolist() == ["{cook|pilot}"]
    assert records.hierarchies["age"].generalize([34], 1).tolist() == ["[30,59]"]
    assert set(records.hierarchies) == set(records.quasi_identifiers)


def test_what_is_inferred_is_said(tmp_path):
    dataset = load_table(*write(tmp_path))
    notes = "\n".join(map(str, dataset.notes))
    assert "income: no cuts declared: 10 bins of equal width" in notes
    assert "zip: 2 categories (not all plain numbers" in notes
    assert "disease: 4 categories, inferred from the data, hence not public" in notes
    assert "no hierarchy" not in notes
    [unused, pipeline, note] = [
        hierarchy_notes(dataset, PrivateMarginals()),
        hierarchy_notes(dataset, Pipeline(steps=[Identity(), GlobalRecoding(levels=1)])),
        hierarchy_notes(dataset),
    ]
    assert (unused, pipeline) == ([], note)
    assert str(note[0]).startswith(
        "income, zip, grade: no hierarchy declared, so GlobalRecoding and Incognito coarsen by "
    )
    assert dataset.inferred == ("zip", "disease")


def test_without_roles_every_column_is_a_quasi_identifier(tmp_path):
    dataset = load_table(write(tmp_path)[0])
    notes = "\n".join(map(str, dataset.notes))
    assert dataset.records.quasi_identifiers == ("name", "age", "income", "job", "zip", "grade", "disease")
    assert "no roles declared: every column is a quasi-identifier" in notes
    assert "age: integers 27 to 51, inferred from the data, hence not public" in notes
    assert "separated by a semicolon, inferred" in notes
    assert dataset.inferred == dataset.records.quasi_identifiers


def test_columns_left_without_a_role_are_said(tmp_path):
    some = load_table(*write(tmp_path, roles='quasi_identifiers = ["age"]'))
    assert any("no role declared" in note and "job" in note and "age" not in note for note in map(str, some.notes))
    rest = load_table(*write(tmp_path, roles='identifiers = ["name"]\nsensitive = ["disease"]'))
    assert rest.records.quasi_identifiers == ("age", "income", "job", "zip", "grade")
    assert "no quasi-identifiers declared: every other column is a quasi-identifier" in [*map(str, rest.notes)]


def test_columns_without_a_role_are_left_out_of_releases(tmp_path):
    some = load_table(*write(tmp_path, roles='quasi_identifiers = ["age"]\nunprotected = ["income"]'))
    assert some.records.released_columns == ("age", "income")
    assert set(some.left_out) == {"name", "job", "zip", "grade", "disease"}
    assert any(note.startswith("income: unprotected; released as they are") for note in map(str, some.notes))
    assert {row.column: row.role for row in summary(some)}["job"] == "left out"
    assert {row.column: row.role for row in summary(some)}["income"] == "unprotected"
    release = Mondrian(k=2).apply(some.records, np.random.default_rng(1))
    assert list(release.frame.columns) == ["age", "income"]


def test_an_unprotected_column_has_no_other_role(tmp_path):
    with pytest.raises(ValueError, match="column 'age' stands in two roles"):
        load_table(*write(tmp_path, roles='quasi_identifiers = ["age"]\nunprotected = ["age"]'))
    with pytest.raises(ValueError, match="key 'unprotected': there is no column 'wage'"):
        load_table(*write(tmp_path, roles='unprotected = ["wage"]'))


def test_an_empty_column_that_is_left_out_needs_no_domain(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,\n2,\n")
    (tmp_path / "r.toml").write_text('quasi_identifiers = ["a"]\n')
    dataset = load_table(tmp_path / "t.csv", tmp_path / "r.toml")
    assert dataset.left_out == ("b",)
    assert dataset.records.released_columns == ("a",)


@pytest.mark.parametrize("level", [0, 1, 2])
def test_categories_that_look_like_numbers_stay_categories(tmp_path, level):
    records = load_table(*write(tmp_path)).records
    values = records.frame["grade"]
    hierarchy = records.hierarchies["grade"]
    assert hierarchy.height == 2
    released = pd.Series(hierarchy.generalize(values, level), name="grade")
    cells = read_cells(released, records.domains["grade"])
    assert cells.contains(values)[cells.codes, np.arange(4)].all()


def test_default_hierarchies_of_numbers_merge_bins_in_pairs(tmp_path):
    hierarchy = load_table(*write(tmp_path)).records.hierarchies["income"]
    assert [len(level) + 1 for level in hierarchy.levels] == [10, 5, 3, 2, 1]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators_are_found(tmp_path, separator):
    path = tmp_path / "t.csv"
    path.write_text(separator.join("ab") + "\n" + separator.join("12") + "\n")
    assert list(load_table(path).records.frame.columns) == ["a", "b"]


def test_a_separator_inside_text_is_not_taken(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("name;note\nAnn;a, b, c\nBob;d\n")
    assert load_table(path).records.frame["note"].tolist() == ["a, b, c", "d"]


def test_byte_order_mark_line_ends_quotes_and_blank_lines(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b'\xef\xbb\xbfa,b\r\n1,"two\r\nlines"\r\n\r\n2,"a ""b"""\r\n3,""\r\n')
    frame = load_table(path).records.frame
    assert frame["a"].tolist() == [1, 2, 3]
    assert frame["b"].tolist() == ["two\r\nlines", 'a "b"', None]


def test_types_of_numbers(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("whole,gap,fraction,text,account,nan\n 1,1,1e3,1,1234567890123456,nan\n-2,,-.5,x,1,7\n")
    frame = load_table(path).records.frame
    assert [str(dtype) for dtype in frame.dtypes] == ["int64", "float64", "float64", "object", "object", "float64"]
    assert frame["account"].tolist() == ["1234567890123456", "1"]
    assert frame["whole"].tolist() == [1, -2]
    assert np.isnan(frame["nan"][0])


def test_parquet_reads_like_csv(tmp_path):
    path, roles = write(tmp_path)
    read = {"dtype": {"zip": str, "grade": int}, "keep_default_na": False, "na_values": [""]}
    pd.read_csv(path, sep=";", **read).to_parquet(tmp_path / "people.parquet")
    from_csv, from_parquet = load_table(path, roles), load_table(tmp_path / "people.parquet", roles)
    pd.testing.assert_frame_equal(from_csv.records.frame, from_parquet.records.frame)
    assert from_csv.records.domains == from_parquet.records.domains
    assert from_csv.sha256 != from_parquet.sha256


def test_parquet_types(tmp_path):
    path = tmp_path / "t.parquet"
    frame = pd.DataFrame({"flag": [True, False], "kind": pd.Categorical(["a", "b"]), "x": [0.1, np.nan], "n": [1, 2]})
    frame.assign(day=pd.to_datetime(["2020-01-01", "2020-01-02"])).to_parquet(path)
    records = load_table(path).records
    assert records.frame["flag"].tolist() == ["true", "false"]
    assert records.frame["kind"].tolist() == ["a", "b"]
    assert records.frame["x"].tolist()[0] == 0.1
    assert records.frame["n"].dtype == np.int64
    assert load_table(path).written.write(records.frame)["day"].tolist() == ["2020-01-01", "2020-01-02"]
    pd.DataFrame({"list": [[1], [2]]}).to_parquet(path)
    assert "column 'list' holds list" in refusal(path)
    path.write_bytes(b"PAR1 and no more")
    assert "damaged or unsupported Parquet" in refusal(path)


def test_one_row_one_column_and_a_constant_column(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a\n5\n")
    records = load_table(path).records
    assert len(records) == 1
    assert records.domains["a"] == NumericDomain(5, 5, True, (), inferred=True)
    assert records.hierarchies["a"].generalize([5], 1).tolist() == ["*"]
    path.write_text("a,b\nx,1\nx,2\n")
    hierarchy = load_table(path).records.hierarchies["a"]
    assert hierarchy.generalize(["x"], hierarchy.height).tolist() == ["*"]


def test_the_sum_covers_everything_that_is_read(tmp_path):
    sums = {load_table(*write(tmp_path)).sha256, load_table(tmp_path / "people.csv").sha256}
    sums.add(load_table(*write(tmp_path, table=CSV.replace("34", "35"))).sha256)
    sums.add(load_table(*write(tmp_path, roles=ROLES + "# changed")).sha256)
    sums.add(load_table(*write(tmp_path, job=JOB.replace("cares", "helps"))).sha256)
    assert len(sums) == 5


def test_a_test_part(tmp_path):
    path, roles = write(tmp_path, roles=ROLES.replace("[dataset]", '[dataset]\ntest = "test.csv"'))
    header, first, *_ = CSV.splitlines()
    (tmp_path / "test.csv").write_text(f"{header}\n{first}\n")
    dataset = load_table(path, roles)
    assert dataset.test is not None
    assert len(dataset.test) == 1
    assert dataset.test.domains == dataset.records.domains
    (tmp_path / "test.csv").write_text(f"{header}\n{first.replace('34', '134')}\n")
    assert "test.csv: column 'age', row 1: the value lies outside 0 to 120" in refusal(path, roles)
    (tmp_path / "test.csv").write_text("age;name\n1;x\n")
    assert "the test part has columns age, name" in refusal(path, roles)


def test_summary_counts_and_shows_no_value(tmp_path):
    rows = {row.column: row for row in summary(load_table(*write(tmp_path)))}
    assert rows["age"] == ("age", "quasi-identifier", "number", "integers 0 to 120, 3 bins", 2, 1, 3)
    assert rows["job"][1:] == ("quasi-identifier", "category", "3 categories", 2, 0, 2)
    assert rows["name"][1:] == ("identifier", "text", "", 0, 0, 4)
    assert rows["disease"].domain == "4 categories, inferred"
    assert "nurse" not in str(rows)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (b"", "people.csv: is empty"),
        (b"\n \n", "people.csv: is empty"),
        (b"a,b", "people.csv: names columns but holds no record"),
        (b"a,b\n", "people.csv: names columns but holds no record"),
        (b"a,b\n1,caf\xe9\n", "people.csv: is not UTF-8 (invalid continuation byte at byte 9)"),
        (b"a,b\n1,2\n1,2,3\n", "people.csv, line 3: has 3 fields where the header has 2"),
        (b'a,b\n"1\n1",2\n\n1\n', "people.csv, line 5: has 1 field where the header has 2"),
        (b'a,b\n1,2\n1,"2\n3,4\n', "line 3: broken quotes: a quotation mark opens in this row and is never closed"),
        (b'a,b\n1,2\n1,"2\n3,"4"\n', "line 3: broken quotes: text follows a closing quotation mark"),
        (b'a,b\n1,2\n\n1,"2\n' + b"3,4\n" * 33_000, "line 4: a cell that begins in this row has more than 131,072"),
        (b'"a,b\n' + b"3,4\n" * 33_000, "line 1: a cell that begins in this row has more than 131,072 characters"),
        (b"a,b,a\n1,2,3\n", "people.csv: column 'a' stands twice"),
        (b",a\n,\n", "people.csv: column 'a' has no value in any row"),
        (b",\n,\n", "people.csv: has no column with a name or a value"),
        (b"a,b\n1,2\n,\n3,4\n,\n", "people.csv: 2 rows empty in every column, which would count as people: 2, 4"),
        (b"a,b\n1,\x002\n", "people.csv: holds a NUL byte at byte 6"),
        (b"a,b\n1,2\n2,-inf\n", "people.csv: column 'b', row 2: the value is infinite"),
        (b"a,b\n1,2\n2,1e999\n", "people.csv: column 'b', row 2: the value is beyond the largest number"),
        (b"a,b\n1,\n2,\n", "people.csv: column 'b' has no value in any row"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-3], "people.csv: the gzip compression is damaged"),
    ],
)
def test_bad_tables_are_refused(tmp_path, table, message):
    assert message in refusal(write(tmp_path, table=table)[0])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("identifiers", "identifers", "key 'identifers': unknown key; did you mean 'identifiers'?"),
        ("cuts =", "cutz =", "table [columns.age], key 'cutz': unknown key; did you mean 'cuts'?"),
        ("low = 0", 'low = "0"', "table [columns.age], key 'low': Input should be a valid number"),
        ("low = 0", "low = 500", "low (500) exceeds high (120)"),
        ("low = 0", "", "table [columns], key 'age': 'low' and 'high' come together"),
        ("high = 120", "high = inf", "must be finite"),
        ("cuts = [30, 50]", "cuts = [50, 30]", "cuts must ascend"),
        ('type = "number"', "", "table [columns.age], key 'type': is missing"),
        ('type = "number"', 'type = "time"', "table [columns], key 'age': "),
        ('type = "number"', 'type = "date"', "table [columns.age], key 'low': "),
        ('"pilot"]', '"cook"]', "category 'cook' appears twice"),
        ('type = "category"', 'type = "category"\nlow = 1', "table [columns.job], key 'low': unknown key"),
        ('separator = ";"\n\n', 'separator = ";;"\n\n', "key 'separator'"),
        ('["disease"]', '["disease", "age"]', "column 'age' stands in two roles"),
        ('["disease"]', '["illness"]', "key 'sensitive': there is no column 'illness' in"),
        ("[columns.grade]", "[columns.mark]", "table [columns.mark]: there is no column 'mark' in"),
        ("[columns.grade]", "[columns.grade", "is not valid TOML: "),
        ('{ csv = "job.csv", separator = ";" }', "{ }", "one of 'intervals', 'rows' and 'csv'"),
        ('{ csv = "job.csv", separator = ";" }', "{ intervals = [[]] }", "'intervals' are for numbers"),
        ('"job.csv"', '"jobs.csv"', "table [columns.job], key 'hierarchy': "),
        ("[[30, 60], []]", "[[30, 600], []]", "key 'hierarchy': the cuts of level 1 must ascend inside (0, 120]"),
        ('title = "Four people"', f'sha256 = "{"0" * 64}"', "damaged or changed"),
    ],
)
def test_bad_roles_are_refused(tmp_path, old, new, message):
    assert old in ROLES
    refused = refusal(*write(tmp_path, roles=ROLES.replace(old, new, 1)))
    assert message in refused
    assert str(tmp_path) in refused


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("34", "old", "column 'age', row 1: the value is no number"),
        ("51", "51.5", "column 'age', row 3: the value is not an integer"),
        ("51", "151", "column 'age', row 3: the value lies outside 0 to 120"),
        ("900;cook", "900;baker", "column 'job', row 2: the value is no declared category"),
        ("900;cook", "inf;cook", "column 'income', row 2: the value is infinite"),
    ],
)
def test_values_outside_their_domain_are_refused(tmp_path, old, new, message):
    assert f"people.csv: {message}" in refusal(*write(tmp_path, table=CSV.replace(old, new)))


@pytest.mark.parametrize(
    ("job", "message"),
    [
        ("cook;serves;*\nnurse;cares;*\n", "lacks the declared category 'pilot'"),
        ("cook;serves;*\nnurse;cares\npilot;serves;*\n", "row 2 has 2 fields"),
        ("cook;serves;*\nnurse;cares;*\npilot;serves;x\n", "group 'serves' of level 1 is split"),
        ("", "at least one value"),
    ],
)
def test_bad_hierarchies_are_refused(tmp_path, job, message):
    refused = refusal(*write(tmp_path, job=job))
    assert "roles.toml, table [columns.job], key 'hierarchy': " in refused
    assert message in refused


def test_a_hierarchy_of_numbers_must_cover_the_numbers(tmp_path):
    roles = ROLES.replace("{ intervals = [[30, 60], []] }", '{ csv = "age.csv" }')
    (tmp_path / "age.csv").write_text("34,young,*\n27,young,*\n")
    assert "row 3: the value is not in its hierarchy" in refusal(*write(tmp_path, roles=roles))
    (tmp_path / "age.csv").write_text("34,young,*\n27,young,*\n51,old,*\n")
    hierarchy = load_table(*write(tmp_path, roles=roles)).records.hierarchies["age"]
    assert hierarchy.generalize([34, 51], 1).tolist() == ["[27,34]", "51"]


def test_paths_that_are_no_files(tmp_path):
    path, roles = write(tmp_path)
    assert refusal(tmp_path / "none.csv") == f"{tmp_path / 'none.csv'}: there is no such file"
    assert refusal(path, tmp_path / "none.toml") == f"{tmp_path / 'none.toml'}: there is no such file"
    assert refusal(tmp_path) == f"{tmp_path}: is a folder, not a file"
    roles.write_bytes(b"\xff")
    assert "roles.toml: is not UTF-8" in refusal(path, roles)


@pytest.mark.thorough
def test_a_table_is_read_without_a_walk_over_its_records(tmp_path):
    """Four times the records of the same texts run the same Python, but for a hundredth."""
    rng, counts = np.random.default_rng(1), []
    for rows in (2000, 8000):
        frame = pd.DataFrame({f"number{place}": rng.integers(0, 100, rows) for place in range(8)})
        for place in range(8):
            frame[f"text{place}"] = rng.choice(["a", "b, c", 'd "e"', "f"], rows)
        frame.to_csv(tmp_path / "t.csv", index=False)
        pd.testing.assert_frame_equal(load_table(tmp_path / "t.csv").records.frame, frame)
        counts.append(steps(load_table, tmp_path / "t.csv"))
    assert counts[1] < 1.01 * counts[0]


@pytest.mark.parametrize("text", ["<!DOCTYPE html>\n<html></html>", "\n<html><body>a;b</body></html>\nx"])
def test_a_web_page_is_refused_as_one(tmp_path, text):
    (tmp_path / "people.csv").write_text(text)
    with pytest.raises(ValueError, match=r"people.csv: is a web page \(HTML\) and no table"):
        load_table(tmp_path / "people.csv")
