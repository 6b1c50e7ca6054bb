"""What guarantees cover: one row for each statement, with the defenses that it holds for."""

from dataclasses import replace

import pytest

from leaderboard import StatedGuarantee, guarantee_tables, report_to_markdown, report_to_terminal, table_sections

ROLES = {"quasi_identifiers": ("age", "city", "job"), "sensitive": ("illness",), "left_out": ("note",)}
RELEASED = ("age", "city", "job", "illness")


def guarantee(defense="Mondrian", guarantee="k=5", statement="5-anonymity over age, city, job", roles=ROLES, **given):
    released = (*roles["quasi_identifiers"], *roles.get("sensitive", ()))
    return StatedGuarantee(
        scenario="mine",
        defense=defense,
        parameters=given,
        guarantee=guarantee,
        statement=statement,
        released=released,
        roles=roles,
    )


def rows(*guarantees):
    [table] = guarantee_tables(guarantees)["mine"]
    return table.rows


def test_defenses_with_one_statement_share_a_row():
    others = [guarantee("Microaggregation"), guarantee("Incognito")]
    text = "5-anonymity over the 3 quasi-identifiers"
    assert rows(guarantee(), *others) == [("k=5", text, "Incognito, Microaggregation, Mondrian")]


def test_settings_that_differ_in_numbers_share_a_row():
    strengths = [guarantee(guarantee=f"k={k}", statement=f"{k}-anonymity over age, city, job", k=k) for k in (2, 10)]
    noise = [
        guarantee("Noisy", f"ε={budget}", f"1 for the matrix and {budget} for age", epsilon=budget)
        for budget in (4, 20)
    ]
    assert rows(*strengths, *noise) == [
        ("k", "k-anonymity over the 3 quasi-identifiers", "Mondrian"),
        ("ε", "1 for the matrix and 4 to 20 for age", "Noisy"),
    ]


def test_numbers_in_column_names_never_become_a_range():
    roles = {"quasi_identifiers": ("Q 1", "Q 2", "Q 3")}
    own = [
        guarantee("Suppress", "none", f"5-anonymity over {name} only", roles, columns=[name]) for name in ("Q 1", "Q 2")
    ]
    assert [row[1:] for row in rows(*own)] == [
        ("5-anonymity over Q 1 only", "Suppress columns=Q 1"),
        ("5-anonymity over Q 2 only", "Suppress columns=Q 2"),
    ]


def test_a_reason_stands_without_its_mark_and_silence_comes_last():
    noise = guarantee("AdditiveNoise", "none", "none: the noise is scaled by the records")
    silent = guarantee("Shuffle", "none", "")
    unsaid = guarantee("Mine", "k=3", "")
    assert rows(silent, noise, unsaid, guarantee()) == [
        ("k=5", "5-anonymity over the 3 quasi-identifiers", "Mondrian"),
        ("k=3", "the defense does not say", "Mine"),
        ("none", "the noise is scaled by the records", "AdditiveNoise"),
        ("none", "the method gives no guarantee", "Shuffle"),
    ]
    assert guarantee_tables([silent]) == {}
    assert table_sections(guarantee_tables([silent])) == table_sections(guarantee_tables([])) == []


def test_a_guarantee_and_its_lack_never_share_a_row():
    assert [row[0] for row in rows(guarantee(k=5), guarantee(guarantee="none", k=4))] == ["k=5", "none"]


@pytest.mark.parametrize(
    ("columns", "left_out"),
    [
        (("age", "city", "job"), "job title"),
        (("age", "city", "job"), "marriage"),
        (("age", "city, job", "sex"), "note"),
        (("age", "city"), "note"),
    ],
)
def test_a_list_that_might_mean_other_columns_stays_as_it_is(columns, left_out):
    statement = f"5-anonymity over {', '.join(columns)}"
    roles = {"quasi_identifiers": columns, "left_out": (left_out,)}
    assert rows(guarantee(statement=statement, roles=roles))[0][1] == statement


def test_all_released_columns_are_not_called_quasi_identifiers():
    text = f"local, of the columns {', '.join(RELEASED)} together"
    assert rows(guarantee(statement=text))[0][1] == "local, of the 4 released columns together"


def test_a_family_in_several_rows_names_the_parameters_that_tell_them_apart():
    own = [
        guarantee(statement=f"5-anonymity, over {way}", k=k, way=way, seed=1) for way in ("age", "job") for k in (5, 6)
    ]
    assert [row[2] for row in rows(*own)] == ["Mondrian way=age", "Mondrian way=job"]
    default = [replace(one, parameters={"k": one.parameters["k"], "seed": 1}) for one in own[:2]]
    assert {row[2] for row in rows(*default, *own[2:])} == {"Mondrian (2 of 4 settings)", "Mondrian way=job"}


def test_columns_are_named_by_role_and_none_is_lacking():
    [table] = guarantee_tables([guarantee()])["mine"]
    assert table.note == "Quasi-identifiers: age, city, job. Sensitive: illness. Without a role, in no release: note."
    other = guarantee("Other", roles={**ROLES, "left_out": (), "unprotected": ("note",)})
    notes = [table.note for table in guarantee_tables([guarantee(), other])["mine"]]
    assert sorted("Unprotected: note." in note for note in notes) == [False, True]


def test_text_fits_the_terminal_and_escapes_markdown():
    statement = "5-anonymity over a|b, " + ", ".join(f"column_{index}" for index in range(60))
    sections = table_sections(guarantee_tables([guarantee(statement=statement)]))
    text = report_to_terminal(sections, width=100)
    assert max(map(len, text.splitlines())) <= 100
    assert r"a\|b" in report_to_markdown(sections)
