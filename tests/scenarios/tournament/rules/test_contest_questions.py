"""Questions of a contest about a value within a tolerance, and about links of two files."""

import io

import numpy as np
import pandas as pd
import pytest
from tournament_tools import DAY, HOUR, START, opened, score

from scenarios.tournament.rules.checking import check_answers
from scenarios.tournament.rules.problems import InvalidFileError
from scenarios.tournament.rules.standings import outcome_of

ASKED = """
question = [
    { use = "RowQuestion" },
    { use = "AttributeQuestion", matched = true, strata = ["single"] },
    { use = "LinkQuestion" },
]
[strata.single]
column = "marital"
values = ["single"]
"""


def contest(folder, text=ASKED):
    folder.mkdir()
    (folder / "contest.toml").write_text(text)
    return folder / "contest.toml"


@pytest.fixture
def cup(tmp_path):
    """A cup with two tables of originals in the attack phase."""
    cup = opened(tmp_path / "cup", contest=contest(tmp_path / "rules"))
    for team in ("kyoto", "osaka"):
        cup.hand_in(team, cup.frame(team))
    cup.publish()
    return cup


def published(cup, name):
    return pd.read_csv(io.BytesIO(cup.tournament.published_files()[name]), keep_default_na=False)


def whole(cup):
    return pd.read_csv(cup.tournament.candidate_path("kyoto"), keep_default_na=False)


def hidden_column(cup):
    tournament = cup.tournament
    return tournament.settings.rules.hidden(tournament.records(tournament.candidate_path("kyoto")))


def second_rows(cup):
    """Row of each candidate in the second file, by the host's secret."""
    return np.argsort(cup.tournament.second_rng("kyoto").permutation(len(whole(cup))))


def answer(cup, table, team="osaka"):
    return cup.hand_in(team, table, now=START + DAY + HOUR, name=f"{team}_attack_kyoto.csv")


def found(cup, share=1.0, team="osaka"):
    return next(one for one in score(cup.tournament, share, 1) if (one.defense, one.attack) == ("kyoto", team))


@pytest.mark.usefixtures("one_baseline")
def test_candidate_files_lack_the_column_and_are_cut(cup):
    first, second, everything = published(cup, "kyoto_candidate.csv"), published(cup, "kyoto_second.csv"), whole(cup)
    (hidden,) = set(everything) - {*first, *second}
    assert hidden == cup.tournament.settings.rules.hidden(
        cup.tournament.records(cup.tournament.candidate_path("kyoto"))
    )
    assert not set(first) & set(second)
    assert first.equals(everything[list(first)])
    assert not second.equals(everything[list(second)])
    assert second.iloc[second_rows(cup)].reset_index(drop=True).equals(everything[list(second)])


@pytest.mark.usefixtures("one_baseline")
def test_right_values_and_links_are_scored_against_people_outside_the_table(cup):
    truth, everything = cup.truth("kyoto"), whole(cup)
    hidden = hidden_column(cup)
    table = pd.DataFrame(
        {
            "released_row": np.arange(30),
            "candidate_row": truth,
            "second_row": second_rows(cup)[truth],
            "value": everything[hidden].iloc[truth].to_numpy(),
        }
    )
    receipt = answer(cup, table)
    assert "30 values and 30 links" in " ".join(receipt.notes)
    scores = found(cup).scores
    assert set(scores) == {"reidentification", "attribute", "linkability", "values among single"}
    for goal in ("attribute", "linkability", "values among single"):
        assert (scores[goal].rate, scores[goal].chance) == (1, 0)
    single = (everything["marital"] == "single").to_numpy()[truth].sum()
    assert scores["values among single"].trials == single
    # A value of a candidate without a row, and one of somebody outside the table, who is the control.
    outside = np.setdiff1d(np.arange(60), truth)
    apart = pd.DataFrame(
        {
            "released_row": "",
            "candidate_row": [*truth[:15], *outside],
            "value": everything[hidden].iloc[[*truth[:15], *outside]].to_numpy(),
        }
    )
    answer(cup, apart)
    scores = found(cup).scores
    assert (scores["attribute"].rate, scores["attribute"].chance) == (0.5, 1)
    assert "linkability" not in scores
    assert outcome_of(found(cup)).advantage == 0


@pytest.mark.usefixtures("one_baseline")
def test_the_baselines_answer_from_what_is_published(cup):
    by_attack = {one.attack: one for one in score(cup.tournament, 1.0, 1) if one.defense == "kyoto"}
    values, links = (by_attack[f"baseline:{name}"] for name in ("MajorityInClass", "NearestRowLinkability"))
    assert set(values.scores) == {"attribute", "values among single"}
    assert values.scores["attribute"].advantage > 0.5
    assert links.scores["linkability"].advantage > 0.3
    # Before the close only rows count.
    public = [one for one in score(cup.tournament, 0.5, 1) if one.attack]
    assert {goal for one in public for goal in one.scores} == {"reidentification"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"value": "nobody"}, "column 'value': 'nobody'"),
        ({"second_row": "60"}, "column 'second_row': '60' is no row number from 0 to 59"),
        ({"candidate_row": ""}, "column 'candidate_row': '' is no row number"),
        ({"values": "no"}, "the columns are released_row, candidate_row, confidence, value, second_row"),
    ],
)
@pytest.mark.usefixtures("one_baseline")
def test_a_wrong_answer_is_named(cup, change, said):
    table = pd.DataFrame({"released_row": ["0"], "candidate_row": "1", "second_row": "2", **change})
    with pytest.raises(InvalidFileError, match=said):
        answer(cup, table)


@pytest.mark.usefixtures("one_baseline")
def test_check_takes_what_the_host_takes(cup):
    table = pd.DataFrame({"released_row": ["0", ""], "candidate_row": [1, 2], "second_row": [2, ""], "value": ""})
    path = cup.file("osaka", table, "osaka_attack_kyoto.csv")
    place = cup.tournament.public
    notes = check_answers(path, place / "kyoto_anonymized.csv", place / "kyoto_candidate.csv")
    assert notes == answer(cup, table).notes


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("question = [{ use = 'AttributeQuestion', tolerance = -1.0 }]", r"\[question.1\].*tolerance must be"),
        ("question = [{ use = 'LinkQuestion', parts = { first = ['age'] } }]", "parts must name the columns of first"),
        (
            "question = [{ use = 'LinkQuestion', parts = { first = ['age'], second = ['jobs'] } }]",
            r"\[question.1\]: parts: there is no released column 'jobs'",
        ),
        ("question = [{ use = 'LinkQuestion' }, { use = 'LinkQuestion' }]", "two questions are about 'links'"),
    ],
)
def test_questions_that_cannot_be_asked_are_refused(tmp_path, text, said):
    with pytest.raises(ValueError, match=said):
        opened(tmp_path / "cup", contest=contest(tmp_path / "rules", text))
