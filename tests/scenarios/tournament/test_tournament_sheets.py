"""What teams hand in is read strictly: one line for what is wrong, never a traceback, and one form for every cell."""

import gzip
import os
import pickle
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from run_tools import PEAK_MEMORY, ROOT
from tournament_tools import opened

from metrics.columns.domains import CategoricalDomain, NumericDomain
from scenarios.tournament.rules.problems import InvalidFileError
from scenarios.tournament.rules.sheets import LARGEST, Form, read_answers, read_sheet, read_submission

FORM = Form(
    {
        "age": NumericDomain(18, 95, integer=True, cuts=(30, 60)),
        "height": NumericDomain(-2.0, 2.5, cuts=(0, 1)),
        "job": CategoricalDomain(("clerk", "cook|chef", "-none", "nurse")),
    },
    originals=3,
    decimals={"height": 2},
    with_missing=frozenset({"job"}),
)
# Files that the command itself may write besides the submission.
OWN_LOGS = {"log.jsonl.lock", "incidents.jsonl"}
HEADER = "age,height,job,original_row\n"


def read(text):
    return read_sheet("kyoto.csv", text.encode() if isinstance(text, str) else text, FORM)


def cell(column, text):
    """A cell as it would be published."""
    values = {"age": "20", "height": "1", "job": "clerk", column: text}
    line = ",".join(f'"{values[name]}"' for name in FORM.domains)
    return read(HEADER + line + ",0\n").frame[column][0]


@pytest.mark.parametrize(
    ("column", "written", "published"),
    [
        ("age", "035", "35"),
        ("age", "35.0", "35"),
        ("age", "3.5e1", "35"),
        ("age", "[20,29]", "[20,29]"),
        ("age", "[020,29.0]", "[20,29]"),
        ("age", "[90,96)", "[90,95]"),
        ("age", "{30|20|20}", "{20|30}"),
        ("age", "{[40,50]|20}", "{20|[40,50]}"),
        ("age", "[20,20]", "20"),
        ("height", "1.50", "1.5"),
        ("height", "-1.25", "-1.25"),
        ("height", "*", "*"),
        ("job", "{nurse|clerk}", "{clerk|nurse}"),
        ("job", r"cook\|chef", r"cook\|chef"),
        ("job", "-none", "-none"),
        ("job", "cook|chef", r"cook\|chef"),
        ("job", r"{clerk|cook\|chef|-none|nurse}", "*"),
    ],
)
def test_cells_are_published_in_one_form(column, written, published):
    assert cell(column, written) == published


def test_a_missing_value_is_one_where_originals_lack_some():
    assert cell("job", "") is None


@pytest.mark.parametrize(
    ("column", "written", "said"),
    [
        ("age", "", "is empty"),
        ("age", "nan", "is not finite"),
        ("age", "inf", "is not finite"),
        ("age", "20.5", "must be integers"),
        ("age", "[20.0001,29]", "must be integers"),
        ("age", "17", "outside the public range 18 to 95"),
        ("age", "96", "outside the public range"),
        ("age", "[10,20]", "outside the public range"),
        ("age", "1e400", "outside the public range"),
        ("age", "[30,20]", "empty interval"),
        ("age", "twenty", "is no number"),
        ("age", "=20", "formula"),
        ("age", "+", "formula"),
        ("age", "@SUM(A1)", "formula"),
        ("age", "{{20}}", "set within a set"),
        ("age", "{" * 900 + "20" + "}" * 900, "set within a set"),
        ("age", "[20,29", "is no number"),
        ("height", "1.234", "at most 2 digits"),
        ("height", "1e-3", "at most 2 digits"),
        ("job", "Clerk", "unknown category"),
        ("job", "=cmd|' /C calc'!A0", "formula"),
        ("job", "\tclerk", "formula"),
        ("job", " clerk", "unknown category"),
        ("job", "{}", "unknown category"),
        ("job", "x" * 3000, "longer than"),
    ],
)
def test_cells_that_break_a_rule_are_named(column, written, said):
    with pytest.raises(ValueError, match=said) as error:
        cell(column, written)
    assert f"kyoto.csv, row 0 (line 2), column '{column}'" in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (HEADER, "holds no row"),
        ("age,height,job\n20,1,clerk\n", "'original_row' is missing"),
        ("age,height,job,original_row,age\n20,1,clerk,0,1\n", "stands twice"),
        ("age,height,job,original_row,y\n20,1,clerk,0,1\n", "no column 'y'"),
        ("Age;Height;job;original_row\n20;1;clerk;0\n", "no column 'Age' .should it be 'age'"),
        (HEADER + "20,1,clerk\n", "row 0 .line 2.: has 3 fields"),
        (HEADER + "20,1,clerk,0\n" * 4, "more than 3 rows"),
        (HEADER + "20,1,clerk,0\n21,1,clerk,0\n", "row 1 .line 3., column 'original_row': 0 stands in row 0 .line 2."),
        (HEADER + "20,1,clerk,3\n", "no row number from 0 to 2"),
        (HEADER + "20,1,clerk,-1\n", "no row number"),
        (HEADER + "20,1,clerk,1.0\n", "no row number"),
        (HEADER + "20,1,clerk,²\n", "no row number"),
        (HEADER + '20,1,"clerk,0\n', "is no CSV"),
        (HEADER.encode() + b"20,1,cl\0erk,0\n", "line 2: holds a NUL"),
        (HEADER.encode() + b"20,1,cl\xe9rk,0\n", "line 2: is no UTF-8"),
        (HEADER.encode("utf-16"), "UTF-16"),
        (HEADER.encode("utf-16-be"), "NUL"),
        (gzip.compress(HEADER.encode(), mtime=0), "compressed"),
        (b"PK\x03\x04rest", "ZIP"),
        (pickle.dumps([1, 2]), "pickle"),
        (b"PAR1", "Parquet"),
    ],
)
def test_files_that_break_a_rule_are_named(content, said):
    with pytest.raises(ValueError, match=said) as error:
        read(content)
    assert str(error.value).startswith("kyoto.csv")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (HEADER + "20,1,clerk,3\n", "; lines count from 1, with the header; rows count from 0, below the header"),
        (HEADER.encode() + b"20,1,cl\xe9rk,0\n", "; lines count from 1, with the header"),
        (HEADER + '20,1,clerk,3\n20,1,"clerk,0\n', "; lines count from 1, with the header; rows count from 0"),
        ("", None),
    ],
)
def test_a_refusal_says_how_rows_and_lines_are_counted(content, said):
    with pytest.raises(InvalidFileError) as error:
        read(content)
    assert error.value.counting.startswith(said) if said else error.value.counting == ""


def test_a_byte_order_mark_and_any_order_of_columns_are_fine():
    sheet = read(b"\xef\xbb\xbforiginal_row,job,age,height\r\n2,nurse,20,1\r\n,*,*,*\r\n")
    assert list(sheet.frame.columns) == list(FORM.domains)
    assert sheet.origin.tolist() == [2, -1]


ANSWERS = "released_row,candidate_row,confidence\n"


def test_answers_are_read():
    claims = read_answers("a.csv", (ANSWERS + "1,4,0.5\n0,2,1\n").encode(), 3, 5)
    assert (claims.target.tolist(), claims.answer.tolist(), claims.score.tolist()) == ([1, 0], [4, 2], [0.5, 1.0])
    bare = read_answers("a.csv", b"candidate_row,released_row\n4,1\n", 3, 5)
    assert (bare.target.tolist(), bare.answer.tolist(), bare.score.tolist()) == ([1], [4], [1.0])


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("0,1,0.5\n0,2,0.5\n", "row 1 .line 3., column 'released_row': 0 stands in row 0 .line 2."),
        ("3,1,0.5\n", "from 0 to 2"),
        ("0,5,0.5\n", "from 0 to 4"),
        ("0,1,1.5\n", "no number from 0 to 1"),
        ("0,1,nan\n", "no number from 0 to 1"),
        ("0,1,\n", "no number from 0 to 1"),
        ("0,1,sure\n", "no number from 0 to 1"),
        ("0,1\n", "has 2 fields"),
        ("0,0,1\n1,1,1\n2,2,1\n0,0,1\n", "more than 3 rows"),
        ("", "no row"),
    ],
)
def test_answers_that_break_a_rule_are_named(rows, said):
    with pytest.raises(ValueError, match=said):
        read_answers("a.csv", (ANSWERS + rows).encode(), 3, 5)


def test_only_ordinary_files_are_read(tmp_path):
    ordinary = tmp_path / "ordinary.csv"
    ordinary.write_text("x")
    assert read_submission(ordinary) == b"x"
    (tmp_path / "link.csv").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "folder.csv").mkdir()
    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        file.truncate(20 << 30)
    for name, said in (
        ("link.csv", "symbolic link"),
        ("pipe.csv", "no ordinary file"),
        ("folder.csv", "no ordinary file|folder|directory"),
        ("large.csv", f"larger than {LARGEST >> 20} MB"),
        ("absent.csv", "absent.csv: there is no such file"),
    ):
        with pytest.raises(ValueError, match=said):
            read_submission(tmp_path / name)


def refusal(reader, content):
    """What is said against a file; None where it is read."""
    try:
        reader(content)
    except ValueError as error:
        return str(error)
    return None


field = st.one_of(
    st.sampled_from(["20", "[20,29]", "{20|30}", "*", "", "clerk", "{clerk|nurse}", "0", "1", "1e5", "\\", "[", "{|}"]),
    st.text(max_size=12),
    st.floats().map(str),
)
tables = st.lists(st.lists(field, min_size=4, max_size=4), max_size=4).map(
    lambda rows: (HEADER + "".join(",".join(row) + "\n" for row in rows)).encode("utf-8", "replace")
)


@pytest.mark.thorough
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    content=st.one_of(
        st.binary(max_size=300),
        tables,
        st.text(max_size=200).map(lambda text: HEADER.encode() + text.encode("utf-8", "replace")),
    )
)
def test_anything_is_read_or_refused_in_one_line(content):
    for reader in (read, lambda data: read_answers("kyoto.csv", data, 3, 5)):
        said = refusal(reader, content)
        assert said is None or (said.startswith("kyoto.csv") and said.isprintable())


@pytest.mark.thorough
@settings(max_examples=100, deadline=None)
@given(content=tables)
def test_what_is_published_reads_back_as_itself(content):
    try:
        sheet = read(content)
    except ValueError:
        return
    again = read(sheet.frame.assign(original_row=[*range(len(sheet.frame))]).to_csv(index=False).encode())
    assert again.frame.equals(sheet.frame)


CHILD = """
import resource, sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from scenarios.tournament.rules.folder import Tournament
from scenarios.tournament.rules.submitting import submit
sys.path.insert(0, sys.argv[4])
from step_tools import steps
from tournament_tools import START, HOUR
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[3]), resource.getrlimit(resource.RLIMIT_AS)[1]))
def hand_in():
    try:
        submit(Tournament(Path(sys.argv[1])), "kyoto", Path(sys.argv[2]), START + HOUR)
    except ValueError as error:
        print(error)
print(steps(hand_in), PEAK, file=sys.stderr)
""".replace("PEAK", PEAK_MEMORY)


@pytest.mark.thorough
@pytest.mark.long_for("nested", "one huge field", "quotes", "wide")
@pytest.mark.parametrize("kind", ["ten million rows", "one huge field", "nested", "quotes", "wide"])
def test_huge_files_are_answered_with_little_work(tmp_path, kind):
    """At most three lines of Python a byte, and 1 GB; at the limit of size, which is the worst that is read."""
    cup = opened(tmp_path / "cup", teams=("kyoto", "osaka"))
    header = ",".join(cup.frame("kyoto").columns) + "\n"
    content = {
        "ten million rows": header + "x\n" * 10_000_000,
        "one huge field": header + "a" * (LARGEST - 1000),
        "nested": header + "{" * (LARGEST - 1000),
        "quotes": header + '"' * (LARGEST - 1001),
        "wide": ",".join(map(str, range(500_000))) + "\n",
    }[kind]
    path = cup.file("kyoto", content)
    before = sorted(entry.name for entry in cup.tournament.folder.rglob("*"))
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(cup.tournament.folder), str(path), str(3 << 30), str(ROOT / "tests")],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.strip().splitlines()) == 1
    assert len(done.stdout) < 500
    lines, peak = map(int, done.stderr.split())
    assert lines < 3 * LARGEST
    assert peak < 1_000_000, "kilobytes"
    after = sorted(entry.name for entry in cup.tournament.folder.rglob("*") if entry.name not in OWN_LOGS)
    assert after == [name for name in before if name not in OWN_LOGS]


@pytest.mark.thorough_beyond(4)
@pytest.mark.parametrize("team", ["../kyoto", "/etc", "kyoto/../../x", "", "nobody", "kyoto\0", "KYOTO"])
def test_names_that_are_no_teams_write_nothing(tmp_path, team):
    from tournament_tools import HOUR, START

    from scenarios.tournament.rules.submitting import submit

    cup = opened(tmp_path / "cup", teams=("kyoto", "osaka"))
    path = cup.file("kyoto", cup.frame("kyoto"))
    with pytest.raises(ValueError, match="no team"):
        submit(cup.tournament, team, path, START + HOUR)
    assert not any(cup.tournament.submissions.iterdir())


@pytest.mark.thorough
def test_a_team_that_makes_its_folder_a_link_gets_no_report_elsewhere(tmp_path):
    from tournament_tools import score

    from scenarios.tournament.host.boards import Board, write_reports

    cup = opened(tmp_path / "cup", teams=("kyoto", "osaka"))
    cup.hand_in("kyoto", cup.frame("kyoto"))
    cup.publish()
    outside, place = tmp_path / "outside", cup.tournament.team_folder("osaka")
    outside.mkdir()
    place.rename(tmp_path / "moved")
    place.symlink_to(outside)
    (reason,) = write_reports(Board(cup.tournament.state(), score(cup.tournament, 1.0, 1)))
    assert reason.startswith("osaka has no report")
    assert "no folder of the tournament" in reason
    assert not any(outside.iterdir())
