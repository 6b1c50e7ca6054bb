"""Columns of names of people, by their name or their values."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from run_tools import invoke

from scenarios.tables.review.column_names import look_like_people
from scenarios.tables.review.suggestions import suggested_identifier

SURNAMES = ["Patel", "O'Neill", "Smith-Jones", "van Dijk", "Brown", "Chen"]
GIVEN = ["Ava", "Leo", "Kofi", "Emma", "Wei", "Zoltan", "Ngozi"]
OTHERS = {
    "city": ["New York", "San Francisco", "Santa Maria", "Los Angeles", "Salt Lake City", "Bad Homburg", "St. Louis"],
    "state": [f"{city}, {state}" for city in ("Paris", "Austin", "Salem") for state in ("Texas", "Ohio", "New York")],
    "company": ["Smith & Co", "Brown and Sons", "Deutsche Bank", "General Electric", "John Lewis", "Acme Ltd"],
    "job": ["Software Engineer", "Sales Manager", "Manager, Sales", "Head Nurse", "Truck Driver", "Data Analyst"],
    "illness": ["Asthma, Acute", "Heart Failure", "Type Two Diabetes", "Broken Arm", "Lyme Disease", "Down Syndrome"],
    "street": ["Victoria Street", "Station Road", "High Street", "Church Lane", "Albert Road", "Mill Lane"],
}


@pytest.mark.parametrize("form", ["{0}, {1}", "{1} {0}", "Dr. {1} {0}", "{0}, {1} J."])
def test_names_of_people_are_seen(form):
    assert look_like_people([form.format(*pair) for pair in product(SURNAMES, GIVEN)])


@pytest.mark.parametrize("name", OTHERS)
def test_other_names_are_not(name):
    assert not look_like_people(OTHERS[name])


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("name", ["Patient", "customer", "Employee", "contact person", "who"])
def test_people_who_repeat_are_identifiers_on_screen_and_never_released_unnoticed(tmp_path, name):
    rng = np.random.default_rng(0)
    people = [f"{surname}, {given}" for surname, given in product(SURNAMES, GIVEN)]
    table = pd.DataFrame(
        {name: rng.choice(people, 400), "age": rng.integers(20, 60, 400), "ill": rng.choice(["a", "b"], 400)}
    )
    table.to_csv(tmp_path / "people.csv", index=False)
    done = invoke("describe", tmp_path / "people.csv", "-o", tmp_path / "roles.toml")
    assert f"note: {name}: taken for an identifier, its values look like names of people" in done.output
    text = (tmp_path / "roles.toml").read_text()
    assert f'identifiers = [\n    "{name}",\n]' in text
    assert "Patel" not in text
    assert (tmp_path / "roles.toml").stat().st_mode & 0o077 == 0
    (tmp_path / "wrong.toml").write_text(f'quasi_identifiers = ["{name}", "age"]\nsensitive = ["ill"]\n')
    for command in (["validate"], ["defend", "Mondrian", "-p", "k=5"]):
        done = invoke(*command, tmp_path / "people.csv", "--roles", tmp_path / "wrong.toml")
        assert f"warning: {name}: no identifier by role, but its values look like names of people" in done.output


def test_a_column_called_after_a_person_numbers_people():
    numbers = pd.Series([f"X{number % 60}" for number in range(200)])
    assert suggested_identifier("Patient", numbers) is not None
    assert suggested_identifier("patient type", numbers) is None
    assert suggested_identifier("student", pd.Series(["yes", "no"] * 100)) is None


def test_ordinary_tables_have_no_names(adult, bank):
    for records in (adult, bank):
        for name, column in records.frame.items():
            assert column.dtype != object or not look_like_people(column.dropna().unique().tolist()), name
