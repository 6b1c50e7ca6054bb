"""Notes on released categories and numbers that no candidate, or no record, has."""

import numpy as np
import pandas as pd
import pytest
from finished_tools import few_attacks
from run_tools import invoke

from metrics import NumericDomain
from scenarios.tables.reading.cell_spelling import category_note, number_note

ALIKE = "only in blanks, case or Unicode form"
NO_HELP = "so the column does not help"


def note_of(cells, known):
    return [*map(str, category_note(pd.Series(cells, name="name", dtype=object), known, "candidate"))]


def test_known_categories_get_no_note():
    assert note_of(["a", "{a|b}", "*", None, r"\{x"], {"a", "b", "{x"}) == []


@pytest.mark.parametrize(
    "cell",
    ["Ann Lee ", " Ann Lee", "Ann  Lee", "AnnLee", "ANN LEE", "\u00a0Ann\u00a0Lee", "\uff21nn Lee", "{Ann Lee |Bob}"],
)
def test_other_spellings_are_counted(cell):
    (note,) = note_of([cell, cell, "Bob", "*"], {"Ann Lee", "Bob"})
    assert note == (
        f"name: 1 released category that no candidate has, in 2 of 4 rows; 1 of them differs from a known one {ALIKE}"
    )


def test_one_letter_in_two_unicode_forms_is_another_spelling():
    (note,) = note_of(["Andre\u0301", "b"], {"Andr\u00e9", "b"})
    assert ALIKE in note


def test_a_column_of_unknown_categories_alone_does_not_help():
    (note,) = note_of(["x", "{y|z}", "*"], {"a"})
    assert note == (
        "name: 3 released categories that no candidate has, in 2 of 3 rows; no candidate has any released category, "
        f"{NO_HELP}"
    )
    assert NO_HELP not in note_of(["x", "{y|a}"], {"a"})[0]


def test_numbers_outside_the_range_are_counted():
    values, domain = pd.Series([20.0, 60.0, np.nan]), NumericDomain(0, 1000)

    def of(*cells):
        return [*map(str, number_note(pd.Series(cells, name="age", dtype=object), domain, values, "candidate"))]

    assert of("20", "[55,65]", "*", None) == []
    assert of("20", "61", "[1,5]", "*") == ["age: 2 of 4 rows lie outside the range of the candidates' numbers"]
    assert of("240", "720", "*")[0].endswith(f"no row lies inside, {NO_HELP}")


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("roles", [True, False])
@pytest.mark.parametrize("attack", ["NearestNeighbour", "FellegiSunter", "BlockedLinkage"])
def test_attack_says_so_without_a_value(tmp_path, monkeypatch, attack, roles):
    monkeypatch.chdir(tmp_path)
    people = pd.DataFrame(
        {"name": ["Nils", "Quirk", "Zeal"] * 4, "age": range(20, 32), "town": ["u", "v", "w", "x"] * 3}
    )
    people.to_csv("people.csv", index=False)
    released = people.assign(name=people["name"] + " ", age=people["age"] * 12)
    released.to_csv("r.csv", index=False)
    (tmp_path / "roles.toml").write_text('quasi_identifiers = ["name", "age", "town"]\n')
    done = invoke("attack", attack, "-r", "r.csv", "-c", "people.csv", *(["--roles", "roles.toml"] if roles else []))
    assert done.exit_code == 0, done.output
    assert (
        f"note: name: 3 released categories that no candidate has, in 12 of 12 rows; 3 of them differ from a known one "
        f"{ALIKE}; no candidate has any released category, so the column helps only where texts are compared by "
        "spelling"
    ) in done.stderr
    assert "note: age: 12 of 12 rows lie outside the range" in done.stderr
    assert "note: town: 4 categories, inferred from the candidates" in done.stderr
    assert "no candidate has" not in done.stderr.split("note: town")[1]
    assert not any(value in done.stderr for value in ("Nils", "Quirk", "Zeal", "240"))


@pytest.mark.thorough
def test_attack_notes_a_declared_category_that_no_candidate_has(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people = pd.DataFrame({"job": ["a", "b"] * 6, "age": range(20, 32)})
    people.to_csv("people.csv", index=False)
    people.assign(job=["A"] * 12).to_csv("r.csv", index=False)
    (tmp_path / "roles.toml").write_text(
        'quasi_identifiers = ["job", "age"]\n[columns.job]\ntype = "category"\ncategories = ["a", "b", "A"]\n'
    )
    done = invoke("attack", "NearestNeighbour", "-r", "r.csv", "-c", "people.csv", "--roles", "roles.toml")
    assert "job: 1 released category that no candidate has, in 12 of 12 rows; 1 of them differs" in done.stderr


@pytest.mark.thorough
def test_rank_says_it_in_the_same_words(tmp_path, monkeypatch):
    few_attacks(monkeypatch)
    monkeypatch.chdir(tmp_path)
    people = pd.DataFrame({"job": ["a", "b"] * 30, "age": np.arange(60) % 7 + 20, "ill": ["x", "y", "z"] * 20})
    people.to_csv("people.csv", index=False)
    people.assign(job=people["job"].str.upper()).to_csv("r.csv", index=False)
    (tmp_path / "roles.toml").write_text('quasi_identifiers = ["job", "age"]\nsensitive = ["ill"]\n')
    done = invoke("rank", "people.csv", "r.csv", "--roles", "roles.toml", "--targets", 5, "-j", 1, "--db", "r.db")
    said = " ".join(done.output.split())
    assert (
        f"job: 2 released categories that no record has, in 60 of 60 rows; 2 of them differ from a known one {ALIKE}"
        in said
    )
