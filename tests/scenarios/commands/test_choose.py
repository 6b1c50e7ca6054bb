"""`tokumei choose` on a table of one's own."""

import json
import signal

import pytest
from own_table_tools import people, write_table
from run_tools import ended, invoke, read_until, start, tokumei_here

from leaderboard import Store
from scenarios.assessment.choosing import portfolio
from scenarios.tables.toml.scenario_file import scenario_tables

pytestmark = pytest.mark.waits

GOALS = ("--goal", "members")
FEW = {"Identity", "Mondrian", "RetentionReplacement", "PrivateMarginals", "Constant"}
"""Families that most tests play, of those of the portfolio."""
ATTACKS = {"AssignmentLinkage", "FellegiSunter", "LikelihoodMembership", "DensityRatioMembership"}
"""Attacks that they play: for rows and for members, one of the first rounds and one that the last rounds add."""


@pytest.fixture
def folder(tmp_path):
    write_table(tmp_path, 120)
    return tmp_path


@pytest.fixture
def few_settings(monkeypatch):
    """A portfolio of few families, and few plays that confirm a choice among them."""
    keep_families(monkeypatch, FEW)


@pytest.fixture
def two_families(monkeypatch):
    """The same of the original and one family, for tests that play to the end."""
    keep_families(monkeypatch, {"Identity", "Mondrian"})


def keep_families(monkeypatch, kept):
    monkeypatch.setattr("scenarios.assessment.choosing.choice.MOST_FRESH", 4)

    def few(path):
        tables = scenario_tables(path)
        return tables | {
            "defense": [every_other_value(one) for one in tables["defense"] if one["use"] in kept],
            "attack": [one for one in tables["attack"] if one["use"] in ATTACKS],
        }

    monkeypatch.setattr(portfolio, "scenario_tables", few)


def every_other_value(table):
    """A defense of the portfolio with every other value of each list of parameters."""
    return {name: value[::2] if isinstance(value, list) else value for name, value in table.items()}


def choose(folder, *options, check=None):
    arguments = ("choose", "people.csv", "--roles", "roles.toml", "--db", "c.db", *options)
    return tokumei_here(*arguments, cwd=folder, check=check)


def tables(done):
    return {table["title"]: table for table in json.loads(done.stdout)}


@pytest.mark.thorough
@pytest.mark.usefixtures("two_families")
def test_a_choice_ends_with_confirmed_settings_and_their_commands(folder):
    check_choice(folder)


@pytest.mark.long
def test_a_choice_among_the_whole_portfolio(folder):
    check_choice(folder)


def check_choice(folder):
    options = ("--max-advantage", "0.5", *GOALS, "--format", "json", "--html", "c.html", "-j", "2")
    done = choose(folder, *options, check=0)
    found = tables(done)
    best = found["Best settings within .5"]
    assert 1 <= len(best["rows"]) <= 3
    row = dict(zip(best["columns"], best["rows"][0], strict=True))
    assert row["meets"] == "in these plays"
    assert 0 <= row["advantage"] <= row["at most"] <= 0.5
    _, command, report = found["Release of the whole table, and report"]["rows"][0]
    assert command.startswith("tokumei defend ")
    assert "people.csv --roles roles.toml -o released-1.csv" in command
    release = tokumei_here(*command.split()[1:], cwd=folder, check=0)
    assert "records; guaranteed" in release.stderr
    check_report(report, folder)
    assert [row[0] for row in found["What each setting does to the columns of the whole table"]["rows"]] == [
        "age",
        "job",
        "illness",
    ]
    assert "Utility against risk" in (folder / "c.html").read_text()
    covered = found["What the guarantees cover"]
    assert covered["note"] == "Quasi-identifiers: age, job. Sensitive: illness."
    finalists = {row[0].split()[0] for row in best["rows"]}
    assert all(any(name in row[2] for row in covered["rows"]) for name in finalists)
    # The people who confirm are not those by whom the settings were chosen.
    with Store(folder / "c.db") as store:
        chosen, fresh = store.results("portfolio on people"), store.results("portfolio on people, confirmation")
    assert fresh
    assert not {result.key for result in chosen} & {result.key for result in fresh}
    utilities = {(one.defense, str(one.parameters), one.play): one.values for one in chosen if one.attack is None}
    for one in fresh:
        if one.attack is None and one.defense != "Identity":
            assert one.values != utilities.get((one.defense, str(one.parameters), one.play))
    # Stored results: the same command plays nothing, and says the same.
    again = choose(folder, *options, check=0)
    assert again.stdout == done.stdout


def check_report(command, folder):
    """The command reports on the release, given a control group."""
    words = command.split()
    people(60, seed=2).to_csv(folder / "others.csv", index=False)
    done = tokumei_here(*words[1:], cwd=folder)
    assert done.exit_code in (0, 1), done.stderr
    assert words[words.index("--defense") + 1] in (folder / "report-1.html").read_text()


@pytest.mark.thorough
@pytest.mark.usefixtures("few_settings")
def test_only_real_rows_are_chosen_if_they_are_asked_for(folder):
    options = ("--only", "real-rows", "--max-advantage", "0.001", *GOALS, "--budget", "1s", "-j", "2")
    done = choose(folder, *options, check=1)
    assert "none of real-rows meets the bound .001; the nearest " in done.stderr
    assert "PrivateMarginals" not in done.stdout + done.stderr


@pytest.mark.thorough
@pytest.mark.usefixtures("two_families")
def test_only_the_named_goal_counts_and_commands_stay_in_one_line(folder):
    long_name = folder / ("a table with a long name " * 3 + ".csv")
    (folder / "people.csv").rename(long_name)
    arguments = ("choose", long_name.name, "--roles", "roles.toml", "--db", "c.db", "--max-advantage", "0.9")
    done = tokumei_here(*arguments, "--goal", "rows", "--budget", "1s", "-j", "2", cwd=folder)
    assert done.exit_code in (0, 1), done.stderr
    assert "membership" not in done.stdout
    [command] = [line for line in done.stdout.splitlines() if line.startswith("tokumei defend")][:1]
    assert "--roles roles.toml -o released-1.csv" in command
    [report] = [line for line in done.stdout.splitlines() if line.startswith("tokumei report")][:1]
    assert " --control others.csv " in report
    assert " --threshold 0.9 --defense " in report


@pytest.mark.thorough
@pytest.mark.usefixtures("few_settings")
def test_none_meets_an_impossible_bound(folder):
    done = choose(folder, "--max-advantage", "0.001", *GOALS, "--budget", "1s", "-j", "2", check=1)
    assert "none meets the bound .001" in done.stderr


@pytest.mark.thorough
def test_an_interrupted_choice_goes_on(folder):
    arguments = ("choose", "people.csv", "--roles", "roles.toml", "--db", "c.db", "--max-advantage", "0.5", *GOALS)
    # One kind of settings is enough for a first round that is interrupted after its end.
    arguments += ("--people", "20", "--only", "grouping")
    process = start(*arguments, "-j", "1", cwd=folder)
    read_until(process, "round 2")
    process.send_signal(signal.SIGINT)
    ended(process, code=128 + signal.SIGINT)
    again = start(*arguments, "-j", "1", cwd=folder)
    line = next(line for line in again.stderr if "results done" in line)
    again.send_signal(signal.SIGINT)
    ended(again, code=128 + signal.SIGINT)
    assert "; 0 of " not in line


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--max-advantage", "0"), "must lie between 0 and 1"),
        (("--max-advantage", "nan"), "must lie between 0 and 1"),
        (("--max-advantage", "0.1", "--budget", "soon"), "must be a duration such as 90s, 10m or 1.5h"),
        (("--max-advantage", "0.1", "--budget", "0m"), "must be a duration"),
        (("--max-advantage", "0.1", "--goal", "fame"), "'fame' is not one of"),
        (("--max-advantage", "0.1", "--only", "rounding"), "'rounding' is not one of 'recoding', 'grouping', "),
        (("--max-advantage", "0.1", "--keep", "salary"), "salary"),
        (("--max-advantage", "0.1", "--people", "3"), "--people must be from 20 to 60"),
        ((), "Missing option '--max-advantage'"),
    ],
)
def test_bad_input(folder, options, message):
    done = invoke("choose", folder / "people.csv", "--roles", folder / "roles.toml", *options)
    assert done.exit_code == 2
    assert message in done.output


@pytest.mark.thorough
def test_a_table_of_too_many_categories_is_refused_before_any_play(folder, monkeypatch):
    monkeypatch.setattr("scenarios.assessment.evaluation.evaluation_setting.MOST_BINS", 5)
    done = invoke("choose", folder / "people.csv", "--roles", folder / "roles.toml", "--max-advantage", "0.1")
    assert done.exit_code == 2
    assert "at most 5 can be compared: column " in done.output
    assert "round 1" not in done.output


def test_a_table_that_is_not_there(tmp_path):
    done = invoke("choose", tmp_path / "no.csv", "--max-advantage", "0.1")
    assert done.exit_code == 2
    assert "no.csv" in done.output
