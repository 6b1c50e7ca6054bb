"""``tokumei describe``: suggested roles with reasons, undecided columns, and no value of identifiers and free text."""

import tomllib

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from step_tools import steps

from defenses import GlobalRecoding
from metrics.columns.domains import CategoricalDomain, NumericDomain
from scenarios.commands.cli import cli
from scenarios.tables.dataset import load_table, with_columns
from scenarios.tables.note import grouped
from scenarios.tables.review import suggestions as uniqueness
from scenarios.tables.review.description import describe_table
from scenarios.tables.review.notes import identifier_warnings, without_domains
from scenarios.tables.roles import read_roles


def call(*arguments, code=0):
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng, n = np.random.default_rng(0), 300
    pd.DataFrame(
        {
            "name": [f"Secret{number} Person" for number in range(n)],
            "row": np.arange(1, n + 1),
            "age": rng.integers(18, 90, n),
            "zip": [f"{number:05d}" for number in rng.integers(0, 60, n)],
            "remark": [f"the hidden story of somebody {number}" if number % 2 else None for number in range(n)],
            "void": None,
            "constant": "same",
            "height": rng.normal(170, 10, n),
            "年収": rng.integers(100, 999, n),
            "diagnosis": rng.choice(["flu", "none"], n),
        }
    ).to_csv(tmp_path / "people.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_roles_are_suggested_with_reasons_and_guesses_are_undecided(folder):
    result = call("describe", "people.csv", "-o", "roles.toml")
    text = (folder / "roles.toml").read_text()
    roles = tomllib.loads(text)
    assert roles["identifiers"] == ["name", "row", "remark", "void"]
    assert roles["quasi_identifiers"] == ["age", "zip", "constant", "height"]
    assert roles["sensitive"] == ["年収", "diagnosis"]
    assert roles["undecided"] == ["remark", "void", "height", "年収", "diagnosis"]
    assert set(roles["columns"]) == {"age", "zip", "constant", "height", "年収", "diagnosis"}
    flat = " ".join(line.removeprefix("#").strip() for line in text.splitlines())
    for words in (
        "name: identifier: text that differs in every record; never released category; 0 of 300 missing",
        "row: identifier: it counts the rows; never released",
        "remark: identifier?: free text, 100 % of its values distinct; never released category; 150 of 300 missing",
        "void: identifier?: it has no value in any row",
        "constant: quasi-identifier: constant, so it tells no record from another",
        "年収: sensitive?: by its name",
    ):
        assert words in flat
    assert "Secret" not in text + result.output
    assert "story" not in text + result.output
    assert "undecided: remark, void, height, 年収, diagnosis" in result.stderr
    assert not result.stdout
    assert max(map(len, text.splitlines())) <= 120


@pytest.mark.thorough
def test_the_file_loads_and_declares_everything(folder):
    call("describe", "people.csv", "-o", "roles.toml")
    dataset = load_table("people.csv", "roles.toml")
    assert dataset.inferred == ()
    assert dataset.undecided == ("remark", "void", "height", "年収", "diagnosis")
    assert with_columns(dataset, ["age", "height"]).undecided == ("height",)
    undecided = "warning: roles that nobody has decided yet: remark, void, height, 年収, diagnosis"
    assert undecided in call("validate", "people.csv", "--roles", "roles.toml").stdout.splitlines()
    defended = call("defend", "Mondrian", "people.csv", "--roles", "roles.toml")
    warnings = [line for line in defended.stderr.splitlines() if line.startswith("warning: ")]
    rounded = "warning: height: some numbers have more digits after the point than 'decimals' (14); releases round them"
    assert warnings == [rounded, undecided]
    text = (folder / "roles.toml").read_text()
    start, end = text.index("undecided = ["), text.index("]", text.index("undecided = ["))
    (folder / "roles.toml").write_text(text[:start] + text[end + 1 :])
    assert "nobody has decided" not in call("validate", "people.csv", "--roles", "roles.toml").stdout


def test_shares_of_unique_records_by_hand(folder):
    (folder / "t.csv").write_text("a,b,c,d\nx,1,u,w\nx,1,v,w\ny,1,u,w\ny,2,u,w\n")
    text = describe_table(folder / "t.csv", None, folder / "r.toml").text
    flat = " ".join(line.removeprefix("#").strip() for line in text.splitlines())
    # The minimal sets that single rows out: {a, c} row 1, {c} row 2, {a, b} row 3, {b} row 4.
    assert "a: quasi-identifier: 0 % of records are unique by it alone, 50 % by it and at most 2 others; " in flat
    assert "b: quasi-identifier: 25 % of records are unique by it alone, 50 % by it and at most 2 others; " in flat
    assert flat.count("; without it 50 % are unique by all others") == 3
    assert "All quasi-identifiers together make 100 % of the records unique." in flat


@pytest.mark.thorough
def test_standard_output_overwriting_and_refusals(folder):
    result = call("describe", "people.csv")
    assert tomllib.loads(result.stdout)["identifiers"][0] == "name"
    (folder / "roles.toml").write_text("mine")
    assert "--force" in call("describe", "people.csv", "-o", "roles.toml", code=2).output
    assert (folder / "roles.toml").read_text() == "mine"
    call("describe", "people.csv", "-o", "roles.toml", "--force")
    assert "is an input" in call("describe", "people.csv", "-o", "people.csv", "--force", code=2).output
    assert "no such file" in call("describe", "none.csv", code=2).output


def test_what_is_declared_is_kept_and_the_rest_is_undecided(folder):
    (folder / "roles.toml").write_text(
        'quasi_identifiers = ["zip"]\nidentifiers = ["height"]\nundecided = ["zip"]\n'
        '[columns.age]\ntype = "number"\nlow = 0\nhigh = 120\n'
    )
    (folder / "deep").mkdir()
    call("describe", "people.csv", "--roles", "roles.toml", "-o", "deep/new.toml")
    new = tomllib.loads((folder / "deep" / "new.toml").read_text())
    assert new["identifiers"] == ["height", "name", "row", "remark", "void"]
    assert new["columns"]["age"] == {"type": "number", "low": 0, "high": 120}
    assert new["undecided"] == ["name", "row", "age", "zip", "remark", "void", "constant", "年収", "diagnosis"]
    (folder / "bad.toml").write_text('undecided = ["nobody"]\n')
    output = call("describe", "people.csv", "--roles", "bad.toml", code=2).output
    assert "bad.toml, key 'undecided': there is no column 'nobody' in people.csv" in output


@pytest.mark.parametrize(
    ("values", "role"),
    [
        (range(10_000, 10_400), "identifier"),
        (np.random.default_rng(0).permutation(400), "identifier"),
        (np.random.default_rng(0).permutation(10**6)[:400], "quasi-identifier"),
        (np.random.default_rng(0).normal(size=400), "quasi-identifier"),
        ([f"{number}@example.org" for number in np.arange(400) // 2], "identifier"),
        ([f"{number:012d}" for number in range(400)], "identifier"),
        (["word"] * 400, "quasi-identifier"),
        ([f"word {number % 100}" for number in range(400)], "quasi-identifier"),
        ([f"a long category of a few, the {number % 5}" for number in range(400)], "quasi-identifier"),
        ([f"長い文章が書いてある{number}" for number in np.arange(400) // 2 * 2], "identifier"),
    ],
)
def test_values_that_identify(tmp_path, values, role):
    pd.DataFrame({"column": values, "other": ["x", "y"] * 200}).to_csv(tmp_path / "t.csv", index=False)
    described = describe_table(tmp_path / "t.csv", None, tmp_path / "r.toml").roles
    assert ("column" in described.identifiers) == (role == "identifier")


def test_words_of_german_exports_hint_at_roles(tmp_path):
    rng = np.random.default_rng(0)
    pd.DataFrame(
        {
            "Personal-Nr.": 100_000 + np.arange(400) // 2,
            "Nachname": rng.choice([f"Huber{number}" for number in range(90)], 400),
            "Bemerkung": rng.choice([f"Gespräch mit Frau Huber{number}" for number in range(90)], 400),
            "Amt": rng.choice(["Bäder", "IT"], 400),
            "Gehalt (€)": rng.normal(3000, 500, 400).round(2),
            "Diagnose": rng.choice(["Grippe", "Asthma"], 400),
            "geboren": pd.date_range("1960-01-01", periods=400, freq="31D").strftime("%d.%m.%Y"),
            "Ort": "Köln",
        }
    ).to_csv(tmp_path / "t.csv", index=False)
    description = describe_table(tmp_path / "t.csv", None, tmp_path / "r.toml")
    assert description.roles.identifiers == ["Personal-Nr.", "Nachname", "Bemerkung"]
    assert description.roles.sensitive == ["Gehalt (€)", "Diagnose"]
    assert description.roles.undecided == ["Personal-Nr.", "Nachname", "Bemerkung", "Gehalt (€)", "Diagnose", "geboren"]
    assert "if nobody else knows this date, it is" in " ".join(description.text.replace("#", "").split())
    assert "Gespräch" not in description.text


def test_numbers_of_people_that_seldom_repeat_are_rows_exported_twice(tmp_path):
    numbers = [*range(5000, 5400), *range(5000, 5010)]
    pd.DataFrame({"Patient ID": numbers, "x": np.arange(410) % 7}).to_csv(tmp_path / "t.csv", index=False)
    text = " ".join(describe_table(tmp_path / "t.csv", None, tmp_path / "r.toml").text.replace("#", "").split())
    assert "Patient ID: identifier?: by its name; 10 of its 410 values repeat another: rows exported twice" in text


@pytest.mark.parametrize("name", ["PatientNo", "customer_number", "Versichertennummer", "被保険者番号"])
def test_the_person_is_the_number_that_repeats_and_not_the_free_text(tmp_path, name):
    frame = pd.DataFrame({"Remark": [f"came again, see letter {row}" for row in range(60)], name: range(60), "age": 50})
    frame[name] = [f"P{row % 30:05}" for row in range(60)]
    frame.to_csv(tmp_path / "t.csv", index=False)
    roles = describe_table(tmp_path / "t.csv", None, tmp_path / "r.toml").roles
    assert (roles.person, roles.identifiers) == (name, ["Remark", name])
    assert name in roles.undecided


@pytest.mark.parametrize("form", ["{}", "P-{}"])
def test_numbers_of_few_people_that_repeat_are_recognized(tmp_path, form):
    numbers = [form.format(500 + row % 14) for row in range(20)]
    regions = [form.format(500 + row % 4) for row in range(20)]
    pd.DataFrame({"Patient ID": numbers, "region id": regions}).to_csv(tmp_path / "t.csv", index=False)
    description = describe_table(tmp_path / "t.csv", None, tmp_path / "r.toml")
    assert description.roles.identifiers == ["Patient ID"]
    assert "Patient ID" in description.roles.undecided
    text = " ".join(description.text.replace("#", "").split())
    assert "as where a person has many rows; named as `person`" in text
    assert description.roles.person == "Patient ID"


@pytest.mark.thorough
def test_a_table_without_a_sensitive_column_is_noted(folder):
    words = "no column was recognized as sensitive"
    assert words not in call("describe", "people.csv").stderr
    pd.read_csv("people.csv")[["age", "zip", "height"]].to_csv("plain.csv", index=False)
    assert words in call("describe", "plain.csv", "-o", "plain.toml").stderr
    assert words in call("describe", "plain.csv", "--memory", "1GB", "-o", "large.toml").stderr


def test_a_table_without_a_sensitive_column_is_warned_of(folder):
    (folder / "roles.toml").write_text('identifiers = ["name"]\nquasi_identifiers = ["age"]\n')
    warning = "warning: no sensitive column is declared: attacks on sensitive values are not measured"
    assert warning in call("validate", "people.csv", "--roles", "roles.toml").stdout
    (folder / "roles.toml").write_text(
        'identifiers = ["name"]\nquasi_identifiers = ["age"]\nsensitive = ["diagnosis"]\n'
    )
    assert warning not in call("validate", "people.csv", "--roles", "roles.toml").stdout


def test_comments_say_that_sensitive_values_are_exact_and_how_bounds_of_dates_are_written(tmp_path):
    days = pd.date_range("1950-01-13", periods=40, freq="29D")
    born, visit = days.strftime("%d/%m/%Y"), days.strftime("%Y-%m-%d")
    pd.DataFrame({"born": born, "visit": visit, "diagnosis": ["flu", "cold"] * 20}).to_csv(tmp_path / "a.csv")
    text = describe_table(tmp_path / "a.csv", None, tmp_path).text
    comment = "#   Read from the data: review this domain. Bounds are year-month-day, or in its format.\n"
    assert text.count(comment) == text.count(f"{comment}[columns.born]") == 1
    assert "# diagnosis: sensitive?: by its name; defenses that group release its values exactly\n" in text
    # The comment is right: bounds in the column's format mean the same.
    own = text.replace('low = "1950-01-01"', 'low = "01/01/1950"', 1)
    assert own != text
    domains = []
    for number, content in enumerate((text, own)):
        (tmp_path / f"{number}.toml").write_text(content)
        domains.append(load_table(tmp_path / "a.csv", tmp_path / f"{number}.toml").records.domains["born"])
    assert domains[0] == domains[1]


@pytest.mark.parametrize("name", ["postcode", "Home ZIP", "郵便番号"])
def test_postcodes_without_leading_zeros_are_said_to_be_numbers(tmp_path, name):
    table = tmp_path / "a.csv"
    pd.DataFrame({name: [10115, 20095, 80331] * 20, "size": range(60)}).to_csv(table, index=False)
    text = describe_table(table, None, tmp_path).text
    assert text.count("#   Postcodes are read as numbers here") == 1
    # The advice is right: as categories, only those of the table are there.
    head, _, rest = text.partition(f'[columns."{name}"]' if name != "postcode" else "[columns.postcode]")
    title, after = text[len(head) : -len(rest)], rest[rest.index("\n#") :]
    (tmp_path / "roles.toml").write_text(f'{head}{title}\ntype = "category"\n{after}', encoding="utf-8")
    assert load_table(table, tmp_path / "roles.toml").records.domains[name].categories == ("10115", "20095", "80331")


def test_a_release_of_likely_identifiers_is_warned_of(folder):
    """Without roles e-mail addresses go out. Some are missing, so the column does not differ in every row."""
    frame = pd.read_csv("people.csv")[["age", "zip"]]
    frame["contact"] = [f"{number}@example.org" if number % 9 else None for number in range(len(frame))]
    frame.to_csv("mails.csv", index=False)
    warned = "warning: contact: no identifier by role, but e-mail addresses"
    assert warned in call("defend", "Identity", "mails.csv", "-o", "clear.csv").stderr
    (folder / "mails.toml").write_text('identifiers = ["contact"]')
    assert warned not in call("defend", "Identity", "mails.csv", "--roles", "mails.toml").stderr


@pytest.mark.parametrize("rows", ["", "a\n", "1\n2\n", "x\nx\n"])
def test_tiny_tables(tmp_path, rows):
    path = tmp_path / "t.csv"
    path.write_text("column\n" + rows)
    if not rows:
        with pytest.raises(ValueError, match="holds no record"):
            describe_table(path, None, tmp_path / "r.toml")
        return
    (tmp_path / "r.toml").write_text(describe_table(path, None, tmp_path / "r.toml").text)
    assert len(load_table(path, tmp_path / "r.toml").records) == rows.count("\n")


def test_names_of_columns_cannot_leave_their_comment(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"a\nb = 1","x\x1b[31m"\nu,1\nu,2\nv,1\n')
    (tmp_path / "r.toml").write_text(describe_table(path, None, tmp_path / "r.toml").text)
    assert "\x1b" not in (tmp_path / "r.toml").read_text()
    assert load_table(path, tmp_path / "r.toml").inferred == ()


def test_names_that_repeat_are_for_a_person_to_decide(tmp_path):
    rng = np.random.default_rng(0)
    names = [f"Family{number}" for number in rng.integers(0, 600, 1000)]
    pd.DataFrame({"who": names, "sex": rng.choice(["m", "f"], 1000), "x": 1}).to_csv(tmp_path / "t.csv", index=False)
    description = describe_table(tmp_path / "t.csv", None, tmp_path / "r.toml")
    assert description.roles.undecided == ["who"]
    assert "if it names people" in description.text


@pytest.mark.thorough
def test_notes_are_grouped_and_likely_identifiers_are_warned_of(folder):
    pd.read_csv("people.csv").drop(columns="void").to_csv("full.csv", index=False)
    dataset = load_table("full.csv")
    notes = [*map(str, grouped(without_domains(dataset.notes)))]
    inferred = [note for note in notes if "hence not public" in note]
    assert inferred == [
        "inferred from the data, hence not public: name, row, age, zip, remark, constant, height, 年収, diagnosis"
    ]
    assert [*map(str, identifier_warnings(dataset, dataset.records.frame))] == [
        "name: no identifier by role, but text that differs in every record",
        "row: no identifier by role, but it counts the rows",
        "remark: no identifier by role, but free text, 100 % of its values distinct",
    ]
    output = call("validate", "full.csv").stdout
    assert output.count("hence not public") == 1
    assert "warning: row: no identifier by role" in output
    call("describe", "full.csv", "-o", "roles.toml")
    described = load_table("full.csv", "roles.toml")
    assert identifier_warnings(described, described.records.frame) == []


def write_large_table(folder, rows, *, names):
    """Numbers and texts that repeat, and perhaps a name that does not."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"number{place}": rng.integers(0, 50 + place, rows) for place in range(10)})
    for place in range(9):
        frame[f"text{place}"] = rng.choice(["a", "b", "c"], rows)
    if names:
        frame["name"] = [f"person {row}" for row in range(rows)]
    frame.to_csv(folder / "t.csv", index=False)
    return folder / "t.csv", None, folder / "r.toml"


@pytest.mark.thorough
def test_a_large_table_is_described(tmp_path):
    described = describe_table(*write_large_table(tmp_path, 21_000, names=True))
    assert described.roles.identifiers == ["name"]
    assert "# Shares of unique records are those of a sample of 20000 of 21000 records.\n" in described.text
    domains = load_table(tmp_path / "t.csv").records.domains
    assert isinstance(domains["text0"], CategoricalDomain)
    assert isinstance(domains["number0"], NumericDomain)


@pytest.mark.thorough
@pytest.mark.parametrize(("names", "most"), [(False, 1), (True, 10)])
def test_a_description_walks_over_texts_and_not_over_records(tmp_path, monkeypatch, names, most):
    """The Python that runs for each further record: none where texts repeat, few lines for each name."""
    monkeypatch.setattr(uniqueness, "MOST_ROWS", 1000)
    few, many = (steps(describe_table, *write_large_table(tmp_path, rows, names=names)) for rows in (2000, 8000))
    assert many - few < most * 6000


def test_names_that_many_people_share_and_repeated_numbers_of_people_are_guessed_to_be_identifiers(folder):
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "Surname": [f"Hidden{chr(65 + number)}" for number in rng.integers(0, 25, 500)],
            "Patient ID": [f"P{number}" for number in range(500)],
            "diagnosis": rng.choice(["flu", "none"], 500),
        }
    )
    pd.concat([table, table[:3]]).to_csv("twice.csv", index=False)
    call("describe", "twice.csv", "-o", "twice.toml")
    text = (folder / "twice.toml").read_text()
    roles = tomllib.loads(text)
    assert roles["identifiers"] == ["Surname", "Patient ID"]
    assert "Surname" in roles["undecided"]
    assert "Patient ID" in roles["undecided"]
    assert "Hidden" not in text
    flat = " ".join(line.removeprefix("#").strip() for line in text.splitlines())
    assert "3 of its 503 values repeat another: rows exported twice, or people with many rows" in flat


def test_categories_that_differ_in_case_or_spaces_are_noted_without_their_values(folder):
    rows = ["job,sex,fever", *["cook,F,1"] * 20, *["Cook ,f,1.0", "driver,M,2"] * 20]
    (folder / "jobs.csv").write_text("\n".join(rows))
    output = call("describe", "jobs.csv", "-o", "jobs.toml").output
    assert "job: 1 category differs from another one only in case or spaces around it; if they mean the same" in output
    assert "sex: 1 category differs" in output
    assert "fever: 1" not in output
    assert "driver" not in output
    assert "differ" not in call("describe", "people.csv", "-o", "people.toml").output


def test_numbers_of_people_are_found_by_their_names(tmp_path):
    """60 people with two or three rows each; ages, and birthdays that all differ, are no numbers of people."""
    person = np.arange(150) * 7 % 60
    pd.DataFrame(
        {
            "Name": [f"Anna {'ABCDEFGH'[n // 8]}{'abcdefgh'[n % 8]}en" for n in person],
            "Kennung": [f"P{n:05d}" for n in person],
            "Folge": person + 100,
            "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(person * 100, unit="D"),
            "points": person * 997,
            "ward": [f"W{n % 30}" for n in person],
            "age": person % 40,
        }
    ).to_csv(tmp_path / "t.csv", index=False)
    described = describe_table(tmp_path / "t.csv", None, tmp_path / "r.toml")
    assert described.roles.identifiers == ["Name", "Kennung", "Folge"]
    text = " ".join(described.text.replace("#", "").split())
    assert "Kennung: identifier?: each value belongs to one value of 'Name', and the other way round" in text


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("parts", [(), ("--memory", "1GB")])
def test_one_row_is_too_few_to_tell_roles(tmp_path, parts):
    (tmp_path / "t.csv").write_text("name,age\nAnna Berg,30\n")
    done = call("describe", tmp_path / "t.csv", "-o", tmp_path / "r.toml", *parts)
    assert done.stderr.startswith("note: the table has 1 row, too few to tell roles, bounds and categories")
    assert "undecided: name, age; their roles are guesses" in done.stderr
    assert "t.csv: 1 record, 2 columns: valid" in call("validate", tmp_path / "t.csv", *parts).stdout


def test_bounds_are_rounded_outwards_and_codes_and_dates_have_levels_to_coarsen(tmp_path):
    """Other people of the same population stay inside, and no one needs another tool for quarters or two digits."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "PostalCode": [f"0{area}{street:02}" for area, street in rng.integers(1, 4, (400, 2))],
            "Height": rng.normal(170, 9, 400).round(1),
            "Cost": rng.gamma(4, 100, 400).round(2),
            "Satisfied": rng.integers(1, 6, 400),
            "Admitted": pd.Timestamp("2019-01-05 06:00") + pd.to_timedelta(rng.integers(0, 10**6, 400), unit="min"),
        }
    )
    frame["Admitted"] = frame["Admitted"].dt.strftime("%Y%m%d %H:%M")
    frame[:300].to_csv(tmp_path / "a.csv", index=False)
    frame[300:].to_csv(tmp_path / "others.csv", index=False)
    (tmp_path / "roles.toml").write_text(describe_table(tmp_path / "a.csv", None, tmp_path).text)
    columns = read_roles(tmp_path / "roles.toml").columns
    assert (columns["Satisfied"].low, columns["Satisfied"].high) == (1, 5)
    assert columns["Cost"].low == 0
    assert columns["Height"].low % 2 == columns["Height"].high % 2 == 0
    assert columns["Height"].low < frame["Height"][:300].min() < frame["Height"][:300].max() < columns["Height"].high
    assert (columns["Admitted"].format, columns["Admitted"].low) == ("%Y%m%d %H:%M", "2019-01-01T00:00:00")
    load_table(str(tmp_path / "others.csv"), tmp_path / "roles.toml")
    recoded = GlobalRecoding(levels={"PostalCode": 1, "Admitted": 2})
    dataset = load_table(str(tmp_path / "a.csv"), tmp_path / "roles.toml")
    written = dataset.written.write(recoded.apply(dataset.records, rng).frame)
    assert written["PostalCode"].str.fullmatch(r"0[1-3]0\*").all()
    assert written["Admitted"].str.fullmatch(r"20\d\d-Q[1-4]").all()
