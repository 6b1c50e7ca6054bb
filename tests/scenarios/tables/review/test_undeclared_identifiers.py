"""Without roles, columns that differ in every record are refused by name, with a command that works."""

from pathlib import Path

import pytest

from scenarios.tables.review.notes import refuse_undeclared_identifiers


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("people.csv", "people.csv: name differs in every record.* describe people.csv -o roles.toml proposes"),
        ("my people.csv", "my people.csv: name differs .* describe 'my people.csv' -o"),
        ("-", "standard input: name differs .* describe TABLE -o"),
    ],
)
def test_the_message_names_the_table_and_a_command(table, words):
    with pytest.raises(ValueError, match=words):
        refuse_undeclared_identifiers(table, None, ["name"], 21)
    with pytest.raises(ValueError, match="name, mail differ in every record"):
        refuse_undeclared_identifiers(table, None, ["name", "mail"], 21)


@pytest.mark.parametrize(
    ("roles", "columns", "rows"), [(Path("r.toml"), ["name"], 99), (None, [], 99), (None, ["a"], 20)]
)
def test_with_roles_without_such_columns_and_in_few_records_nothing_is_refused(roles, columns, rows):
    refuse_undeclared_identifiers("people.csv", roles, columns, rows)
