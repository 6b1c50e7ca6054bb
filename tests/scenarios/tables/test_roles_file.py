"""Which columns block which guarantees, and the roles file that declares what was read from the data."""

import re
import tomllib

import pytest
from click.testing import CliRunner

from defenses import PrivateMarginals
from scenarios.assessment.evaluation.blocked_guarantees import blocked_guarantees
from scenarios.commands.cli import cli
from scenarios.tables.dataset import load_table
from scenarios.tables.roles_file import reviewable_roles

ROLES = """
identifiers = ["name"]
quasi_identifiers = ["age", "job"]
sensitive = ["illness"]
[columns.age]
type = "number"
low = 0
high = 120
[columns.job]
type = "category"
hierarchy = { csv = "jobs.csv" }
[columns.illness]
type = "category"
categories = ["none", "flu"]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rows = [f"person {number},{20 + number},{'cook' if number % 3 else 'a|b'},{'flu' if number % 2 else 'none'}"
            for number in range(30)]  # fmt: skip
    (tmp_path / "people.csv").write_text("name,age,job,illness\n" + "\n".join(rows) + "\n")
    (tmp_path / "roles.toml").write_text(ROLES)
    (tmp_path / "jobs.csv").write_text("cook,any\na|b,any\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*arguments, code=0):
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result.output


def test_validate_names_the_columns_that_block_guarantees(folder):
    output = call("validate", "people.csv", "--roles", "roles.toml")
    (note,) = [line for line in output.splitlines() if "domains read from the records" in line]
    assert note.startswith("note: domains read from the records: job; ")
    # The note is short; the function names all.
    assert re.search(r"; \w+ and \d+ other defenses guarantee nothing on them; declare them$", note)
    (all_named,) = [
        note
        for note in blocked_guarantees(load_table("people.csv", "roles.toml").records)
        if note.startswith("domains read")
    ]
    for name in ("RetentionReplacement", "PrivateMarginals", "OptimalRetentionFromNoisyHistogram"):
        assert name in all_named
    assert "LocalReports" not in all_named + note
    assert "missing values" not in output


def test_missing_values_block_guarantees_of_pram_only(folder):
    text = (folder / "people.csv").read_text().replace("person 3,23,", "person 3,,")
    (folder / "people.csv").write_text(text)
    notes = blocked_guarantees(load_table("people.csv", "roles.toml").records)
    (note,) = [note for note in notes if note.startswith("missing values")]
    assert note.startswith("missing values: age; ")
    assert "RetentionReplacement" in note
    assert "PrivateMarginals" not in note


def test_a_declared_table_blocks_nothing(folder):
    call("validate", "people.csv", "--roles", "roles.toml", "--write-roles", "reviewed.toml")
    assert blocked_guarantees(load_table("people.csv", "reviewed.toml").records) == []


def test_the_written_roles_declare_what_was_read_and_keep_what_was_declared(folder):
    before = load_table("people.csv", "roles.toml")
    (folder / "deep").mkdir()
    call("validate", "people.csv", "--roles", "roles.toml", "--write-roles", "deep/reviewed.toml")
    after = load_table("people.csv", "deep/reviewed.toml")
    assert before.inferred == ("job",)
    assert after.inferred == ()
    assert after.records.not_public(after.records.released_columns) == ()
    for name in ("identifiers", "quasi_identifiers", "sensitive"):
        assert getattr(before.records, name) == getattr(after.records, name)
    assert after.records.domains["job"].categories == before.records.domains["job"].categories
    assert after.records.domains["age"] == before.records.domains["age"]
    assert after.records.hierarchies["job"].height == before.records.hierarchies["job"].height
    text = (folder / "deep" / "reviewed.toml").read_text()
    assert text.count("# Read from the data: review") == 1
    assert text.index("review this domain") < text.index("[columns.job]")
    assert PrivateMarginals().guarantee(after.records).epsilon == 1.0


def test_declared_whole_numbers_are_written_without_a_fraction(folder):
    bounds = "low = 0.5\nhigh = 120.0\ncuts = [30, 60.0]\nhierarchy = { intervals = [[30, 60.5], []] }"
    (folder / "roles.toml").write_text(ROLES.replace("low = 0\nhigh = 120", bounds))
    call("describe", "people.csv", "--roles", "roles.toml", "-o", "new.toml")
    columns = tomllib.loads((folder / "new.toml").read_text())["columns"]
    shown = {"type": "number", "low": 0.5, "high": 120, "cuts": [30, 60], "hierarchy": {"intervals": [[30, 60.5], []]}}
    assert repr(columns["age"]) == repr(shown)


def test_without_a_roles_file_everything_is_to_be_reviewed(folder):
    dataset = load_table("people.csv")
    text = reviewable_roles(dataset, None, folder / "new.toml")
    assert text.count("# Read from the data: review") == 4
    assert "It differs in every record: is it an identifier?" in text
    (folder / "new.toml").write_text(text)
    again = load_table("people.csv", "new.toml")
    assert again.inferred == ()
    assert again.records.quasi_identifiers == dataset.records.quasi_identifiers


def test_a_roles_file_is_not_overwritten_unless_told(folder):
    arguments = ("validate", "people.csv", "--roles", "roles.toml", "--write-roles")
    call(*arguments, "reviewed.toml")
    (folder / "reviewed.toml").write_text("mine")
    assert "--force" in call(*arguments, "reviewed.toml", code=2)
    assert (folder / "reviewed.toml").read_text() == "mine"
    call(*arguments, "reviewed.toml", "--force")
    assert "is an input" in call(*arguments, "roles.toml", "--force", code=2)


def test_defend_says_why_it_guarantees_nothing(folder):
    arguments = ("defend", "RetentionReplacement", "-p", "epsilon=0.01", "people.csv", "--roles", "roles.toml")
    assert "guaranteed: none: the domain of job is read from the records; declare it" in call(*arguments)
    refusal = call("defend", "PrivateMarginals", "people.csv", "--roles", "roles.toml", code=2)
    assert "the domain of column 'job' is read from the records; declare it" in refusal


def test_defend_says_what_its_guarantee_covers(folder):
    arguments = ("defend", "Mondrian", "-p", "k=2", "people.csv", "--roles", "roles.toml")
    assert "guaranteed: k=2; 2-anonymity over " in call(*arguments)
    assert "guaranteed: none: the method gives no guarantee" in call("defend", "Identity", *arguments[4:])
