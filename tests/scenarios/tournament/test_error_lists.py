"""A refused file comes with the whole list of its errors: row, column, and what would be right."""

import json

import pytest
from click.testing import CliRunner
from tournament_tools import HOUR, START

from metrics.domains import CategoricalDomain, NumericDomain
from scenarios.cli import cli
from scenarios.tournament.checking import all_errors
from scenarios.tournament.problems import MOST_SHOWN, InvalidFileError
from scenarios.tournament.sheets import Form, read_answers, read_sheet

FORM = Form(
    {
        "age": NumericDomain(18, 95, integer=True, cuts=(30, 60)),
        "height": NumericDomain(-2.0, 2.5, cuts=(0, 1)),
        "job": CategoricalDomain(("clerk", "cook|chef", "-none", "nurse")),
    },
    originals=100,
    decimals={"height": 2},
    with_missing=frozenset({"job"}),
)
HEADER = "age,height,job,original_row\n"


def errors(text, form=FORM):
    with pytest.raises(InvalidFileError) as error:
        read_sheet("kyoto.csv", text.encode() if isinstance(text, str) else text, form)
    return error.value


@pytest.mark.parametrize(
    ("column", "wrong", "right"),
    [
        ("age", "20-29", "[20,29]"),
        ("age", "20 – 29", "[20,29]"),
        ("age", "20～29", "[20,29]"),
        ("age", "20..29", "[20,29]"),
        ("age", "20 to 29", "[20,29]"),
        ("age", "(20,29)", "[20,29]"),
        ("age", "[20-29]", "[20,29]"),
        ("age", "29-20", "[20,29]"),
        ("age", "[29,20]", "[20,29]"),
        ("age", "[10,29]", "[18,29]"),
        ("age", "20s", "[20,29]"),
        ("age", "60+", "[60,95]"),
        ("age", ">=60", "[60,95]"),
        ("age", "60以上", "[60,95]"),
        ("age", "60歳以上", "[60,95]"),
        ("age", "60〜", "[60,95]"),
        ("age", "60から", "[60,95]"),
        ("age", "～30", "[18,30]"),
        ("age", "30歳まで", "[18,30]"),
        ("age", "30歳未満", "[18,30)"),
        ("age", "<30", "[18,30)"),
        ("age", "20代", "[20,29]"),
        ("age", "20歳", "20"),
        ("age", "20歳から29歳まで", "[20,29]"),
        ("age", "20ー29", "[20,29]"),
        ("age", "20−29", "[20,29]"),
        ("age", "［２０，２９］", "[20,29]"),
        ("age", "不明", "*"),
        ("age", "<=30", "[18,30]"),
        ("age", "20|30", "{20|30}"),
        ("age", "20.4", "20"),
        ("age", "17", "18"),
        ("age", "NA", "*"),
        ("age", "?", "*"),
        ("height", "1,5", "1.5"),
        ("height", "1.234", "1.23"),
        ("height", "1e-3", "0"),
        ("job", "Clerk", "clerk"),
        ("job", " clerk", "clerk"),
        ("job", "clrek", "clerk"),
        ("job", "clerk/nurse", "{clerk|nurse}"),
        ("job", "clerk, nurse", "{clerk|nurse}"),
        ("job", "clerk or nurse", "{clerk|nurse}"),
        ("job", "{clerk,nurse}", "{clerk|nurse}"),
        ("job", "Cook|Chef", r"cook\|chef"),
        ("job", "clerk、nurse", "{clerk|nurse}"),
        ("job", "clerkまたはnurse", "{clerk|nurse}"),
        ("job", "any", "*"),
    ],
)
def test_a_wrong_cell_comes_with_one_that_is_accepted(column, wrong, right):
    values = {"age": "20", "height": "1", "job": "clerk"}
    line = ",".join(f'"{cell}"' for cell in (values | {column: wrong}).values())
    (problem,) = errors(HEADER + line + ",0\n").problems
    assert (problem.row, problem.column, problem.suggestion) == (0, column, f"write {right}")
    mended = ",".join(f'"{cell}"' for cell in (values | {column: right}).values())
    assert len(read_sheet("kyoto.csv", (HEADER + mended + ",0\n").encode(), FORM).frame) == 1


@pytest.mark.parametrize(
    ("column", "wrong"),
    [
        ("age", "twenty"),
        ("age", "二十歳"),
        ("age", "歳"),
        ("age", "1e400"),
        ("age", "1e-999999999"),
        ("age", "9" * 300),
        ("job", "pilot"),
        ("age", "-"),
    ],
)
def test_nothing_is_made_up(column, wrong):
    values = {"age": "20", "height": "1", "job": "clerk", column: wrong}
    (problem,) = errors(HEADER + ",".join(values.values()) + ",0\n").problems
    assert problem.suggestion in (None, "write *")


def test_a_wrong_cell_is_shown_as_written_and_control_characters_are_escaped():
    (problem,) = errors(HEADER + "若い\u202e\x1b[31m,1,clerk,0\n").problems
    assert problem.problem.startswith(r"'若い\u202e\x1b[31m' is no number")


def test_all_errors_are_named_at_once_and_by_row():
    error = errors(
        "height,age,original_row,jobs\n1,20-29,0,clerk\n9,20,1,clerk\n1,20\n1,old,1,nurse\n1,20-29,100,clerk\n"
    )
    assert [(one.row, one.column) for one in error.problems] == [
        (None, None),
        (None, None),
        (0, "age"),
        (1, "height"),
        (2, None),
        (3, "age"),
        (3, "original_row"),
        (4, "original_row"),
    ]
    assert "should it be 'job'" in error.problems[0].problem
    assert error.problems[2].rows == (0, 4)
    assert str(error.problems[2]) == "row 0, column 'age': '20-29' is no number; write [20,29] (also in row 4)"
    assert str(error).endswith("(and 7 more problems)")
    assert error.as_json()["problems"][3] == {
        "row": 1,
        "column": "height",
        "problem": "'9' lies outside the public range -2 to 2.5",
        "suggestion": "write 2.5",
        "line": None,
        "rows": [1],
    }


def test_rows_count_from_0():
    rows = "".join(f"20,1,clerk,{row}\n" for row in range(1, 101))
    (problem,) = errors(HEADER + rows).problems
    assert (problem.row, problem.suggestion) == (
        99,
        "rows count from 0, below the header; subtract 1 from every original_row",
    )
    with pytest.raises(InvalidFileError, match="rows count from 0") as error:
        read_answers("a.csv", b"released_row,candidate_row\n3,1\n1,5.0\n0,7\n", 3, 6)
    assert [one.suggestion for one in error.value.problems] == [
        "rows count from 0, below the header",
        "write 5",
        None,
    ]


def test_many_errors_are_counted():
    rows = "".join(f"old{row},1,clerk,{row}\n" for row in range(80))
    error = errors(HEADER + rows)
    assert (len(error.problems), error.total) == (MOST_SHOWN, 80)
    assert error.lines[-1] == "and 30 more problems"


PLAIN = HEADER + "20,1,clerk,0\n30,1.5,nurse,1\n"


@pytest.mark.parametrize(
    "content",
    [
        PLAIN.replace(",", ";"),
        PLAIN.replace(",", "\t"),
        "\ufeff" + PLAIN.replace(",", ";").replace("\n", "\r\n"),
        "sep=;\r\n" + PLAIN.replace(",", ";"),
        PLAIN + "\n\n",
        PLAIN + ",,,\n" * 200,
        PLAIN.replace("\n", ",,\n"),
        PLAIN.replace("\n", "\r"),
        PLAIN.replace("20,", '"20",'),
        PLAIN[:-1],
    ],
    ids=["semicolons", "tabs", "Excel", "sep", "blank", "empty rows", "empty columns", "cr", "quotes", "no end"],
)
def test_files_of_spreadsheets_are_taken_as_what_they_are(content):
    plain, other = (read_sheet("a.csv", text.encode(), FORM) for text in (PLAIN, content))
    assert other.frame.equals(plain.frame)
    assert other.origin.tolist() == plain.origin.tolist()


def test_errors_of_a_tournament_are_listed_by_function_and_command(cup):
    tournament = cup.tournament
    wrong = cup.frame("kyoto").astype(object)
    wrong.loc[[2, 5], "age"] = "20-29"
    wrong.loc[7, "original_row"] = 30
    path = cup.file("kyoto", wrong)
    problems = all_errors(tournament, "kyoto", path.name, path.read_bytes())
    assert [(one.rows, one.column) for one in problems] == [((2, 5), "age"), ((7,), "original_row")]
    assert all_errors(tournament, "kyoto", path.name, cup.file("kyoto", cup.frame("kyoto"), "b.csv").read_bytes()) == []
    original = tournament.team_folder("kyoto") / "kyoto_original.csv"
    entries = tournament.log.entries()
    for command in (["check", path, "--original", original], ["submit", tournament.folder, "kyoto", path]):
        done = CliRunner().invoke(cli, ["tournament", *map(str, command)])
        assert done.exit_code == 2
        assert "row 2, column 'age': '20-29' is no number; write [20,29] (also in row 5)" in done.stderr
        assert "row 7, column 'original_row': '30' is no row number from 0 to 29; rows count from 0" in done.stderr
    done = CliRunner().invoke(cli, ["tournament", "check", str(path), "--original", str(original), "--format", "json"])
    assert (done.exit_code, json.loads(done.stdout)["total"]) == (2, 2)
    assert tournament.log.entries() == entries
    right = cup.file("kyoto", cup.frame("kyoto"), "right.csv")
    command = ["tournament", "submit", str(tournament.folder), "kyoto", str(path), str(right), "--format", "json"]
    done = CliRunner().invoke(cli, command)
    refused, accepted = json.loads(done.stdout)
    assert (done.exit_code, "1 of 2 files were refused" in done.stderr) == (2, True)
    assert (refused["accepted"], refused["total"], refused["problems"][0]["rows"]) == (False, 2, [2, 5])
    assert refused["problems"][0]["suggestion"] == "write [20,29]"
    assert (accepted["accepted"], accepted["receipt"]["log"]) == (True, tournament.log.entries()[-1].hash)
    cup.hand_in("kyoto", cup.frame("kyoto"), now=START + HOUR)
    cup.publish()
    (problem,) = all_errors(tournament, "osaka", "a.csv", b"released_row,candidate_row\n0,60\n", against="kyoto")
    assert (problem.row, problem.column) == (0, "candidate_row")
