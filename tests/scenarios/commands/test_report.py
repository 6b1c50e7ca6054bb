"""`tokumei report` on finished releases."""

import json
import re
from contextlib import chdir

import pandas as pd
import pytest
from finished_tools import few_attacks
from own_table_tools import ROLES, people
from run_tools import invoke

from leaderboard.pages.number_text import number


def named(rows, seed):
    return people(rows, seed).assign(name=[f"p{number}" for number in range(rows)])


def written(folder):
    named(240, 1).to_csv(folder / "people.csv", index=False)
    named(240, 2).to_csv(folder / "others.csv", index=False)
    (folder / "roles.toml").write_text('identifiers = ["name"]' + ROLES)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path)
    return tmp_path


@pytest.fixture
def quick(monkeypatch):
    """Reports on few attacks, for tests of what stands beside them."""
    few_attacks(monkeypatch)


@pytest.fixture(scope="module")
def whole_report(tmp_path_factory):
    """A folder with a release, and a report on it with every attack and profile; its exit code."""
    folder = tmp_path_factory.mktemp("report")
    written(folder)
    with chdir(folder):
        released("Mondrian", "-p", "k=8")
        profiles = [part for name in ("wp29", "japan", "health") for part in ("--profile", name)]
        done = report("--control", "others.csv", *profiles, "--defense", "Mondrian", "-p", "k=8", "--seed", "1")
    return folder, done.exit_code


def released(defense, *options):
    arguments = (
        "defend",
        defense,
        *options,
        "people.csv",
        "--roles",
        "roles.toml",
        "--seed",
        "1",
        "-o",
        "released.csv",
    )
    assert invoke(*arguments, "--force").exit_code == 0


def report(*options, output="report.html"):
    return invoke("report", "people.csv", "released.csv", "--roles", "roles.toml", *options, "-o", output)


def page(folder):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", (folder / "report.html").read_text().partition("<main>")[2]))


@pytest.mark.thorough
@pytest.mark.usefixtures("quick")
def test_a_release_of_everything_is_above_every_threshold(folder):
    released("Identity")
    done = report("--control", "others.csv", "--threshold", "0.33")
    assert done.exit_code == 1
    assert "The risk is above .33" in done.output
    text = page(folder)
    assert "Verdict" in text.split("Signature")[0]
    assert "Somebody stands alone" in text
    assert "Which row belongs to whom" in text


@pytest.mark.thorough
@pytest.mark.usefixtures("quick")
def test_a_release_of_constants_is_not_above(folder):
    released("Constant")
    done = report("--control", "others.csv", "--threshold", "0.5")
    assert "above" not in done.output
    assert done.exit_code in (0, 1)


@pytest.mark.thorough
def test_the_page_holds_profiles_guarantee_costs_and_commands(whole_report):
    folder, exit_code = whole_report
    assert exit_code == 1
    text = page(folder)
    for words in (
        "Three criteria",
        "匿名加工情報",
        "Usual thresholds",
        "Mondrian k=8 guarantees: k=8",
        "everybody looks like at least 7 others",
        "of the 100 values (median)",
        "tokumei rank people.csv released.csv --roles roles.toml --control others.csv --seed 1 --targets 500",
        "Roles and domains",
    ):
        assert words in text
    # No record is shown.
    assert "p17" not in text


@pytest.mark.thorough
def test_a_guarantee_that_the_release_does_not_keep_is_refused(folder):
    released("Mondrian", "-p", "k=8")
    done = report("--defense", "Mondrian", "-p", "k=50")
    assert done.exit_code == 2
    assert "Mondrian k=50 guarantees k = 50, but the release has k = " in done.output
    assert not (folder / "report.html").exists()


@pytest.mark.usefixtures("quick")
def test_a_guarantee_about_rows_is_checked_in_rows(folder):
    """Classes of five rows hold fewer people, but `defend` made them so."""
    table = pd.concat([named(240, 1)] * 2)
    table.to_csv("people.csv", index=False)
    (folder / "roles.toml").write_text('person = "name"\n' + ROLES)
    released("Mondrian", "-p", "k=8")
    done = report("--defense", "Mondrian", "-p", "k=8", "--targets", "60")
    assert "report written" in done.output
    assert "so a class may hold fewer than 8 people" in page(folder)
    assert "it was not made so" in report("--defense", "Mondrian", "-p", "k=50", "--targets", "60", "--force").output


@pytest.mark.thorough
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("guarantee", "words"),
    [
        (("l=3",), "Mondrian k=8 l=3 guarantees l = 3, but the release has l = 1: it was not made so"),
        (("l=2", "diversity=entropy"), "guarantees l = 2, but the release has l = 1: it was not made so"),
        (("t=0.01",), "Mondrian k=8 t=0.01 guarantees t = .01, but the release has t = ."),
    ],
)
def test_a_diversity_or_closeness_that_the_release_does_not_keep_is_refused(folder, guarantee, words):
    released("Mondrian", "-p", "k=8")
    frame = pd.read_csv("released.csv", dtype=str)
    # One class has one illness.
    quasi = ["age", "job"]
    one = (frame[quasi] == frame.loc[0, quasi]).all(axis=1)
    frame.loc[one, "illness"] = frame.loc[0, "illness"]
    frame.to_csv("released.csv", index=False)
    options = [part for parameter in ("k=8", *guarantee) for part in ("-p", parameter)]
    done = report("--defense", "Mondrian", *options, "--targets", "60")
    assert done.exit_code == 2
    assert words in done.output
    assert not (folder / "report.html").exists()


@pytest.mark.thorough
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("guarantee", "unchecked"),
    [
        (("l=2",), None),
        (("t=0.5",), None),
        (("l=1.5", "diversity=entropy"), "l."),
        (("t=0.5", "distance=ordered"), "t."),
    ],
)
def test_a_diversity_or_closeness_that_the_release_keeps_is_stated(folder, guarantee, unchecked):
    options = [part for parameter in ("k=8", *guarantee) for part in ("-p", parameter)]
    roles = (folder / "roles.toml").read_text()
    (folder / "roles.toml").write_text(roles.replace('"none"]', '"none"], ordered = true'))
    released("Mondrian", *options)
    done = report("--defense", "Mondrian", *options, "--targets", "60")
    assert done.exit_code in (0, 1)
    words = "not checked in the released table: "
    assert (words in done.output) == (unchecked is not None)
    assert unchecked is None or f"{words}{unchecked}" in done.output


@pytest.mark.thorough
@pytest.mark.usefixtures("quick")
def test_a_guarantee_that_no_table_can_show_is_called_declared(folder):
    released("PrivateMarginals", "-p", "epsilon=5")
    done = report("--defense", "PrivateMarginals", "-p", "epsilon=0.1", "--targets", "60")
    words = "As declared with --defense, not checked in the released table: epsilon"
    assert f"note: {words}" in done.output
    assert words in page(folder)
    released("Mondrian", "-p", "k=8")
    done = report("--defense", "Mondrian", "-p", "k=8", "--targets", "60", "--force")
    assert "not checked" not in done.output + page(folder)


@pytest.mark.thorough
@pytest.mark.usefixtures("quick")
def test_a_release_of_other_people_is_refused_or_warned_of(folder):
    released("Mondrian", "-p", "k=8")
    pd.read_csv("released.csv", dtype=str).iloc[:100].to_csv("released.csv", index=False)
    done = report("--targets", "60")
    assert "warning: The release has 100 rows, and the original table has 240. Is it a whole release" in done.output
    pd.concat([pd.read_csv(name) for name in ("people.csv", "others.csv")]).drop(columns="name").to_csv(
        "released.csv", index=False
    )
    done = report("--control", "others.csv", output="second.html")
    assert done.exit_code == 2
    assert "released.csv: 240 rows stem from no record of the original table, and the control people fit 240" in (
        done.output
    )


@pytest.mark.thorough
@pytest.mark.usefixtures("quick")
def test_names_under_another_column_name_are_found(folder):
    released("Constant")
    release = pd.read_csv("released.csv", dtype=str)
    release.assign(**{"full name": pd.read_csv("people.csv")["name"]}).to_csv("released.csv", index=False)
    done = report("--threshold", "0.9", "--profile", "japan")
    assert done.exit_code == 1
    assert "Worst: identifier in column 'full name', 1.00" in done.output
    assert "Not in the original table, and not checked: full name." in done.output
    assert "in the clear: Identifier in column" in page(folder)


@pytest.mark.thorough
@pytest.mark.usefixtures("quick")
def test_what_must_be_known_comes_first(folder):
    released("Mondrian", "-p", "k=8")
    pd.read_csv("released.csv", dtype=str).drop(columns="job").to_csv("released.csv", index=False)
    roles = (folder / "roles.toml").read_text()
    (folder / "roles.toml").write_text('undecided = ["age"]\n' + roles)
    done = report("--profile", "wp29")
    assert "warning: Not in the release: job. Is it a release of this table?" in done.output
    assert "warning: Roles that nobody has decided yet: age." in done.output
    first = page(folder).split("Signature")[0]
    assert "Not in the release: job." in first
    assert "--threshold 0.09 --profile wp29 -o report.html" in page(folder)


@pytest.mark.thorough
@pytest.mark.usefixtures("quick")
def test_a_column_that_no_release_holds_has_no_domain_to_be_warned_of(folder):
    for name in ("people.csv", "others.csv"):
        pd.read_csv(folder / name).assign(note=f"says {name}").to_csv(folder / name, index=False)
    released("Constant")
    output = report("--targets", "20").output
    assert "report written to report.html" in output
    assert not [line for line in output.splitlines() if line.startswith("warning") and "note" in line]


@pytest.mark.thorough
@pytest.mark.usefixtures("quick")
def test_without_control_what_is_missing_is_said(folder):
    released("Mondrian", "-p", "k=8")
    done = report("--profile", "wp29")
    assert done.exit_code == 1
    assert "note: Membership and linkability need people who were not in the table (--control)" in done.stderr
    text = page(folder)
    assert re.search(r"compared with \.3\d, the most that chance isolates: rather understated", text)
    assert "needs control people (--control)" in text
    assert "without control people (--control), membership and linkability are not measured" in text


@pytest.mark.thorough
@pytest.mark.usefixtures("quick")
def test_what_synthetic_numbers_lost_or_gained_is_said_before_the_verdict(folder):
    table = pd.read_csv("people.csv")
    table.loc[::10, "job"] = None
    table["age"] = 20 + table.index % 20
    table.to_csv("people.csv", index=False)
    rows = pd.read_csv("others.csv").drop(columns="name")
    rows["age"] = (20 + rows.index % 20).where(rows.index % 20 > 0, 99)
    rows.to_csv("released.csv", index=False)
    done = report("--targets", "20")
    assert "warning: Missing values vanish: the release has none in job (24 of 240)" in done.stderr
    assert "warning: age: the standard deviation grows from" in done.stderr
    assert "lie beyond all original ones" in page(folder)


@pytest.mark.thorough
@pytest.mark.usefixtures("quick")
def test_synthetic_rows_are_not_judged_by_their_classes(folder):
    released("PrivateMarginals", "-p", "epsilon=5")
    report("--control", "others.csv")
    assert "says little" in page(folder)


@pytest.mark.thorough
@pytest.mark.usefixtures("quick")
def test_the_number_of_releases_widens_intervals_and_is_repeated(folder):
    released("Mondrian", "-p", "k=8")
    report("--control", "others.csv", "--targets", "60", "--releases", "20")
    text = page(folder)
    assert "--targets 60 --releases 20 --threshold 0.09" in text
    assert "Release 20 of those that are judged on these people" in text


def test_the_utility_is_that_of_the_command_that_the_report_names(whole_report, monkeypatch):
    folder, _ = whole_report
    monkeypatch.chdir(folder)
    text = page(folder)
    [command] = re.findall(r"tokumei (utility people\.csv .*? --seed 1)", text)
    assert "--held-out others.csv" in command
    measured = json.loads(invoke(*command.split(), "--format", "json").stdout)
    assert f" utility {number(measured['utility'], 3)} mean of the parts" in text


@pytest.mark.thorough
def test_the_record_of_each_row_lets_links_be_measured(folder, monkeypatch):
    released("Mondrian", "-p", "k=8", "--truth", "truth.csv")
    done = report("--control", "others.csv", "--truth", "truth.csv", "--seed", "1")
    assert " Not measured: singling out (too few trials to judge). That is 1 of the 3 risks of WP29: " in done.output
    text = page(folder)
    assert "the record of 240 of 240 rows was given by --truth" in text
    assert "--control others.csv --truth truth.csv --seed 1" in text
    few_attacks(monkeypatch)
    done = report("--control", "others.csv", "--force")
    assert "linkage of rows (needs --truth; the smallest class" in done.output
    truth = pd.read_csv("truth.csv")
    truth.iloc[:-1].to_csv("short.csv", index=False)
    done = report("--truth", "short.csv", "--force")
    assert (done.exit_code, "short.csv: is about 239 released rows, of which there are 240" in done.output) == (2, True)
    truth.assign(record=-1).to_csv("none.csv", index=False)
    assert "linkage of rows (needs --truth" in report("--truth", "none.csv", "--force").output


def test_a_truth_file_that_does_not_belong_to_the_rows_is_refused(folder):
    released("Identity", "--truth", "truth.csv")
    pd.read_csv("released.csv").sort_values("age").to_csv("released.csv", index=False)
    done = report("--truth", "truth.csv")
    assert done.exit_code == 2
    assert "truth.csv: does not tell the records of the released rows" in done.output


@pytest.mark.thorough
@pytest.mark.usefixtures("quick")
def test_linkage_by_a_truth_file_that_is_false_in_part_is_not_measured(folder):
    released("Mondrian", "-p", "k=8", "--truth", "truth.csv")
    truth = pd.read_csv("truth.csv")
    truth.loc[:119, "record"] = truth.loc[:119, "record"].to_numpy()[::-1]
    truth.to_csv("half.csv", index=False)
    done = report("--truth", "half.csv", "--targets", "60", "--threshold", "0.9")
    unreliable = re.search(
        r"warning: half\.csv: about (\d+)% of the given records fit their rows no better", done.output
    )
    assert 25 <= int(unreliable[1]) <= 75
    assert "linkage of rows (many given records fit no better than random ones)" in done.output
    assert "Either the file is wrong, or the release keeps little of these rows" in page(folder)


@pytest.mark.thorough
@pytest.mark.usefixtures("quick")
def test_tables_give_the_seed_and_a_chosen_one_is_said_to_be_chosen(folder):
    released("Mondrian", "-p", "k=8")
    assert "--seed" not in report("--targets", "60").output
    text = page(folder)
    seed = re.search(
        r"Seed (\d+), given by the content of the tables\. A report with another seed or other roles is another try",
        text,
    )[1]
    assert f"--seed {seed} --targets 60 --format csv" in text
    assert "--roles roles.toml --targets 60 --threshold" in text
    # Other bytes of the same tables are no other try.
    for name in ("people.csv", "released.csv"):
        cells = pd.read_csv(name, dtype=str, keep_default_na=False)
        cells[cells.columns[::-1]].to_csv(name, index=False, lineterminator="\r\n")
    report("--targets", "60", "--force")
    assert f"Seed {seed}, given" in page(folder)
    done = report("--seed", "7", "--targets", "60", "--force")
    assert "note: Seed 7, chosen with --seed. A report with another seed or other roles is another try" in done.output
    assert "Seed 7, chosen with --seed" in page(folder)
    assert "--roles roles.toml --seed 7 --targets" in page(folder)


def test_intervals_agree_in_all_parts_of_the_report(whole_report):
    folder, _ = whole_report
    text = page(folder)
    number_of, interval = r"-?(?:\d*\.\d\d)", r"\[(-?\d*\.\d\d), (-?\d*\.\d\d)\]"
    finding = re.search(rf"Sensitive value of each person \(attribute inference\) {number_of} {interval}", text)
    criterion = re.search(rf"can a value be deduced from others\? {number_of} {interval}", text)
    assert finding.groups() == criterion.groups()
    attacks = re.findall(
        rf"\(illness\)[^\[]*? {number_of} {interval}", text.partition("All attacks")[2].partition("Notes")[0]
    )
    assert max(high for _, high in attacks) == finding[2]


def test_attacks_by_the_same_classes_are_one_row(whole_report):
    folder, _ = whole_report
    attacks = page(folder).partition("All attacks")[2].partition("Notes")[0].replace(" ", "")
    for name in ("MajorityInClass", "Homogeneity", "DeFinetti"):
        assert attacks.count(name) == 1
    assert attacks.count(";noworse:") == 1


@pytest.mark.thorough
@pytest.mark.usefixtures("quick")
def test_the_same_files_give_the_same_report(folder):
    released("Mondrian", "-p", "k=8")
    report("--control", "others.csv", "--targets", "60")
    first = (folder / "report.html").read_text()
    report("--control", "others.csv", "--targets", "60", "--force")
    assert (folder / "report.html").read_text() == first


@pytest.mark.thorough_beyond(7)
@pytest.mark.parametrize(
    ("options", "output", "message"),
    [
        ((), "report.docx", "a report is an .html or a .pdf file"),
        ((), "people.csv", "a report is an .html or a .pdf file"),
        (("--threshold", "0"), "report.html", "must lie between 0 and 1"),
        (("--threshold", "nan"), "report.html", "must lie between 0 and 1"),
        (("--releases", "0"), "report.html", "0 is not in the range x>=1"),
        (("--targets", "0"), "report.html", "0 is not in the range x>=1"),
        (("-p", "k=3"), "report.html", "-p gives parameters of --defense; name it"),
        (("--defense", "Mondrain"), "report.html", "Mondrian"),
        (("--profile", "gdpr"), "report.html", "'gdpr' is not one of"),
        (("--control", "people.csv"), "report.html", "holds the people of the original table"),
        (("--control", "no.csv"), "report.html", "no.csv"),
    ],
)
def test_bad_input(folder, options, output, message):
    released("Identity")
    done = report(*options, output=output)
    assert done.exit_code == 2
    assert message in done.output
    assert not (folder / "report.html").exists()


def test_nothing_is_overwritten(folder):
    released("Identity")
    (folder / "report.html").write_text("mine")
    assert "--force replaces it" in report().output
    assert (folder / "report.html").read_text() == "mine"


@pytest.mark.usefixtures("quick")
def test_a_pdf_is_written_or_its_extra_is_named(folder):
    released("Mondrian", "-p", "k=8")
    done = report(output="report.pdf")
    try:
        import weasyprint  # noqa: F401
    except (ImportError, OSError):
        assert done.exit_code == 2
        assert "needs the extra `pdf`" in done.output
    else:
        assert (folder / "report.pdf").read_bytes().startswith(b"%PDF")


def test_a_folder_is_no_report(folder):
    released("Identity")
    (folder / "report.html").mkdir()
    assert "report.html is a folder; name a file" in report("--force").output
