"""A refused file comes with the whole list of its errors: row, column, and what would be right."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from tournament_tools import HOUR, START

from metrics.columns.domains import CategoricalDomain, NumericDomain
from scenarios.commands.cli import cli
from scenarios.tournament.rules.problems import MOST_SHOWN, InvalidFileError
from scenarios.tournament.rules.sheets import Form, read_answers, read_sheet
from scenarios.tournament.rules.submitting import accepted_outcome, attacked, named_owner, named_target, validated
from scenarios.tournament.site.jobs import file_name

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
PAY = NumericDomain(-8000, 20000, integer=True, cuts=(0, 1000))
FORM_OF_ALL = replace(FORM, domains={**FORM.domains, "pay": PAY})
HEADER_OF_ALL = "age,height,job,pay,original_row\n"


def refused(tournament, team, name, data, against=None):
    """Problems for which a file would be refused; none if it is valid."""
    try:
        target = attacked(tournament, team, name, against)
        validated(tournament, tournament.log.head().lasting, team, name, data, target)
    except InvalidFileError as error:
        return list(error.problems)
    return []


def line(cells):
    """A valid line of all columns but for these cells."""
    values = {"age": "20", "height": "1", "job": "clerk", "pay": "100", "original_row": "0"} | cells
    return ",".join(f'"{cell}"' for cell in values.values()) + "\n"


def errors(text, form=FORM):
    with pytest.raises(InvalidFileError) as error:
        read_sheet("kyoto.csv", text.encode() if isinstance(text, str) else text, form)
    return error.value


@pytest.mark.thorough_beyond(42)
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
        ("age", "(20,30]", "[21,30]"),
        ("age", "[20、29]", "[20,29]"),
        ("age", "20以上30未満", "[20,30)"),
        ("age", "20歳以上、30歳以下", "[20,30]"),
        ("age", "90代", "[90,95]"),
        ("age", "[20.4,29.6]", "[21,29]"),
        ("pay", "1,000", "1000"),
        ("pay", "12,345", "12345"),
        ("pay", "１，０００", "1000"),
        ("pay", "-1,234", "-1234"),
        ("pay", "1 000", "1000"),
        ("pay", "1000円", "1000"),
        ("pay", "1,000円", "1000"),
        ("pay", "1,000-2,000", "[1000,2000]"),
        ("pay", "1,000以上2,000未満", "[1000,2000)"),
        ("pay", "1,000以上", "[1000,20000]"),
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
    (problem,) = errors(HEADER_OF_ALL + line({column: wrong}), FORM_OF_ALL).problems
    assert (problem.row, problem.column, problem.suggestion) == (0, column, f"write {right}")
    assert len(read_sheet("kyoto.csv", (HEADER_OF_ALL + line({column: right})).encode(), FORM_OF_ALL).frame) == 1


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
        ("age", "17"),
        ("age", "200"),
        ("age", "1000円"),
        ("age", "1,000"),
        ("age", "20,4"),
        ("age", "[10,12]"),
        ("pay", "1,234,567"),
        ("pay", "[1,000]"),
        ("pay", "20,4"),
        ("height", "9"),
        ("height", "1.5cm"),
    ],
)
def test_nothing_is_made_up(column, wrong):
    (problem,) = errors(HEADER_OF_ALL + line({column: wrong}), FORM_OF_ALL).problems
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
    assert str(error.problems[2]) == "row 0 (line 2), column 'age': '20-29' is no number; write [20,29] (also in row 4)"
    assert str(error).endswith("(and 7 more problems)")
    assert error.as_json()["problems"][3] == {
        "row": 1,
        "column": "height",
        "problem": "'9' lies outside the public range -2 to 2.5",
        "suggestion": None,
        "line": 3,
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


def test_only_a_column_that_is_counted_from_1_is_to_be_counted_anew():
    answers = "released_row,candidate_row\n" + "".join(f"{row},{row + 1}\n" for row in range(4)) + "4,9\n"
    with pytest.raises(InvalidFileError) as error:
        read_answers("a.csv", answers.encode(), 5, 9)
    assert [one.suggestion for one in error.value.problems] == ["rows count from 0, below the header"]


@pytest.mark.parametrize(("wrong", "right"), [("1.5", None), ("93", None), ("93%", "write 0.93"), ("0,5", "write 0.5")])
def test_a_confidence_is_not_guessed(wrong, right):
    with pytest.raises(InvalidFileError) as error:
        read_answers("a.csv", f'released_row,candidate_row,confidence\n0,1,"{wrong}"\n'.encode(), 3, 6)
    assert [one.suggestion for one in error.value.problems] == [right]


def test_rows_that_repeat_are_named_though_there_are_too_many():
    rows = "".join(f"{row},1\n" for row in [*range(100), 0, 7])
    with pytest.raises(InvalidFileError) as error:
        read_answers("a.csv", ("released_row,candidate_row\n" + rows).encode(), 100, 200)
    assert [str(one) for one in error.value.problems] == [
        "file: has more than 100 rows",
        "row 100 (line 102), column 'released_row': 0 stands in row 0 (line 2) already; each "
        "released row may stand in one row",
        "row 101 (line 103), column 'released_row': 7 stands in row 7 (line 9) already; each "
        "released row may stand in one row",
    ]


def test_one_cause_in_many_rows_is_one_problem():
    rows = "".join(f"[20,29],1,clerk,{row}\n" for row in range(100))
    (problem,) = errors(HEADER + rows).problems
    assert problem.rows == tuple(range(100))
    assert str(problem).startswith(
        "row 0 (line 2): has 5 fields, the header has 4; put a cell that holds the separator into"
    )
    assert str(problem).endswith(" 18, 19 and 80 more)")


def test_row_numbers_with_a_decimal_point_are_one_problem():
    """Programs write them so once a cell of the column is empty; other mistakes beside them keep theirs."""
    rows = [f"40,1,cook\\|chef,{number}.0\n" for number in range(99)]
    with pytest.raises(InvalidFileError) as error:
        read_sheet("a.csv", (HEADER + "".join(rows)).encode(), FORM)
    (one,) = error.value.problems
    assert str(one).startswith(
        "row 0 (line 2), column 'original_row': '0.0' and 98 other cells are row numbers with a decimal point; "
        "write whole numbers, such as 0 for 0.0 (also in rows 1, 2,"
    )
    answers = "released_row,candidate_row\n0.0,7.\n1.0,8.00\n1.5,9\n2.0,4000.0\n"
    with pytest.raises(InvalidFileError) as error:
        read_answers("a.csv", answers.encode(), 5, 200)
    assert [(one.column, one.row, one.problem.partition(" ")[0]) for one in error.value.problems] == [
        ("released_row", 0, "'0.0'"),
        ("candidate_row", 0, "'7.'"),
        ("released_row", 2, "'1.5'"),
        ("candidate_row", 3, "'4000.0'"),
    ]


@pytest.mark.parametrize("mark", ["", " (1)", "(12)", " - Copy", " - Copy (2)", " - コピー", " copy"])
def test_a_second_copy_of_a_file_is_taken_as_the_first(mark):
    assert named_owner(f"kyoto_anonymized{mark}.csv") == "kyoto"
    assert named_target(f"kyoto_attack_osaka-2{mark}.csv") == "osaka-2"
    assert named_owner(f"kyoto{mark}.csv") == ""
    for name, attacking, expected in (
        (f"osaka_anonymized{mark}.csv", False, ("osaka_anonymized.csv", None)),
        (f"kyoto{mark}.csv", False, ("kyoto_anonymized.csv", None)),
        (f"kyoto_attack_osaka{mark}.csv", True, ("kyoto_attack_osaka.csv", None)),
    ):
        two = SimpleNamespace(settings=SimpleNamespace(teams=["kyoto", "osaka"]))
        assert file_name(two, "kyoto", name, "", attacking=attacking) == expected


@pytest.mark.parametrize("name", ["kyoto_anonymized (x).csv", "kyoto_anonymized (1)", "kyoto_anonymized (1).csv.csv"])
def test_other_endings_are_no_marks_of_copies(name):
    assert named_owner(name) == ""


def test_a_receipt_counts_the_rows_that_lack(cup):
    few = cup.hand_in("kyoto", cup.frame("kyoto").iloc[1:])
    assert few.notes == (f"{few.submission.rows} of {few.submission.rows + 1} rows",)
    assert accepted_outcome("a.csv", few)["message"] == f"accepted, {few.notes[0]}"
    assert cup.hand_in("kyoto", cup.frame("kyoto")).notes == ()


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


@pytest.mark.thorough
def test_errors_of_a_tournament_are_listed_by_function_and_command(cup):
    tournament = cup.tournament
    wrong = cup.frame("kyoto").astype(object)
    wrong.loc[[2, 5], "age"] = "20-29"
    wrong.loc[7, "original_row"] = 30
    path = cup.file("kyoto", wrong)
    problems = refused(tournament, "kyoto", path.name, path.read_bytes())
    assert [(one.rows, one.column) for one in problems] == [((2, 5), "age"), ((7,), "original_row")]
    assert refused(tournament, "kyoto", path.name, cup.file("kyoto", cup.frame("kyoto"), "b.csv").read_bytes()) == []
    original = tournament.team_folder("kyoto") / "kyoto_original.csv"
    entries = tournament.log.entries()
    for command in (["check", path, "--original", original], ["submit", tournament.folder, "kyoto", path]):
        done = CliRunner().invoke(cli, ["tournament", *map(str, command)])
        assert done.exit_code == 2
        assert "row 2 (line 4), column 'age': '20-29' is no number; write [20,29] (also in row 5)" in done.stderr
        assert (
            "row 7 (line 9), column 'original_row': '30' is no row number from 0 to 29; rows count from 0"
            in done.stderr
        )
        assert (
            "refused for 2 problems; lines count from 1, with the header; rows count from 0, below the header"
            in done.stderr
        )
    done = CliRunner().invoke(cli, ["tournament", "check", str(path), "--original", str(original), "--format", "json"])
    assert (done.exit_code, json.loads(done.stdout)["total"]) == (2, 2)
    assert tournament.log.entries() == entries
    right = cup.file("kyoto", cup.frame("kyoto"), "right.csv")
    command = ["tournament", "submit", str(tournament.folder), "kyoto", str(path), str(right), "--format", "json"]
    done = CliRunner().invoke(cli, command)
    first, accepted = json.loads(done.stdout)
    assert (done.exit_code, "1 of 2 files were refused" in done.stderr) == (2, True)
    assert (first["accepted"], first["total"], first["problems"][0]["rows"]) == (False, 2, [2, 5])
    assert first["problems"][0]["suggestion"] == "write [20,29]"
    assert (accepted["accepted"], accepted["receipt"]["log"]) == (True, tournament.log.entries()[-1].hash)
    cup.hand_in("kyoto", cup.frame("kyoto"), now=START + HOUR)
    cup.publish()
    (problem,) = refused(tournament, "osaka", "a.csv", b"released_row,candidate_row\n0,60\n", against="kyoto")
    assert (problem.row, problem.column) == (0, "candidate_row")
