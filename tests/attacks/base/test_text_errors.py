"""Which columns are compared as text: those whose nearly equal texts tell something."""

import numpy as np
import pandas as pd
import pytest
from name_tools import mistyped_release, named_people, released_texts, with_errors, words

from attacks.base import gower_distance, shared_columns, shared_distance
from attacks.base.text_similarity import SPELLING
from scenarios.tables.seeds import generator


def errors(release, knowledge):
    return {column.name: column.errors for column in shared_columns(release, knowledge)}


def test_columns_with_typing_errors_are_found_and_others_are_not():
    rng = generator(1)
    people = named_people(300, rng)
    released = people.assign(surname=with_errors(people[["surname"]], 0.3, rng)["surname"])
    found = errors(*released_texts(released, people))
    assert [name for name, one in found.items() if one is not None] == ["surname"]


def test_a_dense_code_with_errors_is_found_by_the_other_columns():
    """Nearly every code of six digits resembles some other one of 800, whether it is wrong or not."""
    rng = generator(2)
    people = named_people(800, rng).assign(code=[f"a{code}" for code in rng.integers(100000, 104000, 800)])
    released = people.copy()
    wrong = rng.random(800) < 0.3
    released.loc[wrong, "code"] = [code[:4] + code[5] + code[4] + code[6:] for code in people.code[wrong]]
    found = errors(*released_texts(released, people))
    assert found["code"] is not None
    assert found["given"] is None


@pytest.mark.thorough
def test_texts_that_other_people_have_are_no_typing_errors():
    """In 20 releases of three columns with a third of all texts replaced by those of people who are no candidates.

    With the threshold of four standard deviations and a pair, some column passes by chance in less than 1 of 100.
    """
    for seed in range(20):
        rng = generator(seed)
        people = named_people(600, rng, names=300)
        released = people.iloc[:150].copy()
        for name in released:
            replaced = rng.random(150) < 0.3
            released.loc[replaced, name] = people[name].to_numpy()[rng.integers(0, 600, int(replaced.sum()))]
        assert not any(errors(*released_texts(released, people.iloc[:150])).values())


def test_one_column_alone_is_compared_as_text_if_unknown_texts_resemble_values_more_than_these_each_other():
    rng = generator(4)
    values = pd.DataFrame({"name": words(200, 5, rng)})
    released = with_errors(values, 0.5, rng)
    assert errors(*released_texts(released, values))["name"] is not None
    others = pd.DataFrame({"name": words(400, 5, rng)[200:]})
    assert errors(*released_texts(others, values))["name"] is None


def test_spelling_alone_needs_no_evidence():
    people = pd.DataFrame({"name": ["Null", "NA", "None", "nan"], "town": ["x", "y", "z", "x"]})
    release, knowledge = released_texts(pd.DataFrame({"name": people.name + " ", "town": ["X", "Y", "Z", "X"]}), people)
    found = errors(release, knowledge)
    assert {int(level) for one in found.values() for level in one.pairs.level} == {SPELLING}
    assert (shared_distance(release, knowledge).argmin(axis=1) == np.arange(4)).all()


def test_rarer_values_say_more():
    release, knowledge, _ = mistyped_release(400, generator(5), share=0.3)
    found = errors(release, knowledge)["surname"]
    near = found.pairs.level == found.pairs.level.max()
    assert np.corrcoef(np.log(found.ratio[near]), np.log(found.mass[near]))[0, 1] == pytest.approx(-1)
    assert found.ratio_table((int(found.pairs.cell.max()) + 1, found.share.size))[0] == pytest.approx(
        found.ratios_at(np.zeros(1, int), np.arange(found.share.size))
    )


@pytest.mark.parametrize(
    "texts",
    [
        ["", "", "", ""],
        ["a", "b", "c", "d"],
        ["same"] * 4,
        ["\U0001f600\U0001f601\U0001f602", "\U0001f600", "", "\U0001f602\U0001f601\U0001f603"],
        ["דוד כהן", "דוד לוי", "שרה כהן", "רות לוי"],
        ["12", "013", "2.50", "1e3x"],
        ["long " * 2000 + str(number) for number in range(4)],
        [None, "ann", None, "bob"],
    ],
)
def test_odd_texts_are_compared_without_error(texts):
    people = pd.DataFrame({"text": pd.Series(texts, dtype=object), "year": ["1", "2", "3", "4"]})
    released = people.assign(text=[text and text[::-1] + "z" for text in texts])
    release, knowledge = released_texts(released, people)
    distance = shared_distance(release, knowledge)
    assert (distance >= 0).all()
    assert (distance <= 1).all()
    assert (distance.argmin(axis=1) == np.arange(4)).all()


def test_some_rows_are_as_far_from_candidates_as_among_all_rows():
    release, knowledge, _ = mistyped_release(60, generator(6), share=0.4)
    columns, rows = shared_columns(release, knowledge), np.array([7, 3, 3, 40])
    assert any(column.errors is not None for column in columns)
    some = gower_distance([column.of_rows(rows) for column in columns])
    assert some == pytest.approx(gower_distance(columns)[rows], abs=1e-15)


def test_errors_in_every_name_are_found_beside_columns_that_tell_little():
    rng = generator(8)
    names = [words(30, 3, rng)[rng.integers(0, 30, 60)] for _ in range(2)]
    people = pd.DataFrame({"given": names[0], "surname": names[1], "town": rng.choice(["x", "y", "z"], 60)})
    released = people.assign(**with_errors(people[["given", "surname"]], 1.0, rng))
    found = errors(*released_texts(released, people))
    assert [name for name, one in found.items() if one is not None] == ["given", "surname"]


def test_codes_with_one_wrong_digit_are_nearer_than_other_codes():
    people = pd.DataFrame({"code": [f"0{number}" for number in generator(9).permutation(90000)[:40] + 10000]})
    released = people.assign(code=[code[:3] + str((int(code[3]) + 1) % 10) + code[4:] for code in people.code])
    distance = shared_distance(*released_texts(released, people))
    # One of the wrong codes is as near to another code, of which two digits were swapped.
    assert (np.diag(distance) == distance.min(axis=1)).all()
    assert np.diag(distance).max() < 0.6
