"""``tokumei compare`` and ``tokumei board --history``, from databases and from runs in one."""

import csv
import io
import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from comparison_tools import played
from run_tools import invoke

from leaderboard import Store, find_run, record_run, recorded_runs, results_of
from scenarios.running.runner import provenance, revision, revision_named


def filled(path, results, runs=()):
    with Store(path) as store:
        store.add(results)
        for number, keys in enumerate(runs):
            about = {"scenarios": ["bank"], "version": f"0.{number}", "revision": f"abc{number}ef0123"}
            record_run(store, f"2026-11-0{number + 1}T10:00:00+00:00", about, keys)
    return str(path)


def keyed(results, prefix):
    """The same results under keys of their own, as changed code has them."""
    return [replace(result, key=f"{prefix} {result.key}") for result in results]


@pytest.fixture
def two(tmp_path):
    base = filled(tmp_path / "base.db", played(0))
    head = filled(tmp_path / "head.db", played(1, weakened=0.2))
    return base, head


@pytest.mark.thorough
def test_a_worsening_fails_the_gate(two):
    done = invoke("compare", *two)
    assert done.exit_code == 1
    lines = [line for line in done.stdout.splitlines() if "✗" in line]
    assert len(lines) == 2
    assert all("Alpha" in line and "rows" in line for line in lines)
    assert "2 worse, 0 better" in done.stdout


@pytest.mark.thorough
def test_an_improvement_passes(two):
    done = invoke("compare", *reversed(two))
    assert done.exit_code == 0
    assert "0 worse, 2 better" in done.stdout


@pytest.mark.thorough
def test_nothing_changed_shows_nothing_unless_asked(two):
    done = invoke("compare", two[0], two[0])
    assert (done.exit_code, "Alpha" in done.stdout) == (0, False)
    done = invoke("compare", two[0], two[0], "--all", "--format", "csv")
    assert done.exit_code == 0
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert len(rows) == 20
    assert {row["alarm"] for row in rows} == {"false"}
    assert "20 measures" in done.stderr


@pytest.mark.thorough
def test_markdown_and_json(two):
    markdown = invoke("compare", *two, "--format", "markdown").stdout
    assert markdown.count("| ✗") == 2
    found = json.loads(invoke("compare", *two, "--format", "json").stdout)
    assert [(change["defense"], change["measure"]) for change in found] == [("Alpha", "reidentification")] * 2


@pytest.mark.thorough
def test_the_tolerance_lets_pass(two):
    assert invoke("compare", *two, "--tolerance", "0.5").exit_code == 0
    assert invoke("compare", *two, "--tolerance", "-1").exit_code == 2


@pytest.mark.thorough
def test_nothing_comparable_is_no_success(two, tmp_path):
    empty = filled(tmp_path / "empty.db", [])
    for base, head in ((empty, two[1]), (two[0], empty), (tmp_path / "absent.db", two[1])):
        assert invoke("compare", base, head).exit_code == 4
    strangers = filled(tmp_path / "other.db", played(0, defenses=("Omega",)))
    done = invoke("compare", two[0], strangers)
    assert (done.exit_code, "no defense in common" in done.stderr) == (4, True)
    assert not (tmp_path / "absent.db").exists()


@pytest.mark.thorough
def test_too_few_plays_are_no_success(tmp_path):
    base, head = (filled(tmp_path / f"{seed}.db", played(seed, plays=4)) for seed in (0, 1))
    done = invoke("compare", base, head)
    assert done.exit_code == 4
    assert "too few plays to judge rows, members, time, utility: 11 plays would do" in done.stdout
    base, head = (filled(tmp_path / f"{seed}.db", played(seed, plays=8)) for seed in (2, 3))
    done = invoke("compare", base, head)
    assert done.exit_code == 0
    assert "too few plays to judge time: 11 plays would do" in done.stdout


@pytest.mark.thorough
def test_what_is_no_database_is_bad_input(two, tmp_path):
    (tmp_path / "text.db").write_text("no database, but long enough to look like one" * 100)
    done = invoke("compare", two[0], tmp_path / "text.db")
    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1)


@pytest.mark.thorough
def test_runs_of_one_database_compare_by_number_and_revision(tmp_path):
    first, second = keyed(played(0), "one"), keyed(played(1, useless=0.3), "two")
    runs = ([result.key for result in first], [result.key for result in second])
    db = filled(tmp_path / "all.db", [*first, *second], runs)
    for base, head in (("1", "2"), ("abc0", "abc1ef"), ("abc0ef0123", "2")):
        done = invoke("compare", base, head, "--db", db)
        assert (done.exit_code, "utility" in done.stdout) == (1, True)
    assert invoke("compare", "1", "1", "--db", db).exit_code == 0
    done = invoke("compare", "1", "7", "--db", db)
    assert (done.exit_code, "no run '7'" in done.stderr) == (2, True)
    assert invoke("compare", "1", "2", "--db", tmp_path / "none.db").exit_code == 4


def test_a_database_remembers_its_runs(tmp_path):
    results = played(0, plays=2)
    keys = [result.key for result in results]
    with Store(tmp_path / "runs.db") as store:
        assert recorded_runs(store) == []
        store.add(results)
        runs = [record_run(store, "2026-11-01", {"revision": "abcdef"}, keys[:count]) for count in (3, 3, 5)]
        assert recorded_runs(store) == runs
        assert [run.number for run in runs] == [1, 2, 3]
        assert [len(results_of(store, run)) for run in runs] == [3, 3, 5]
        assert results_of(store, runs[0]) == results[:3]
        assert find_run(store, "abcd") == runs[2]
        # What was run on changed files counts only where nothing else did, or by its full name.
        changed = record_run(store, "2026-11-02", {"revision": "abcdef+"}, keys)
        assert find_run(store, "abcd") == runs[2]
        assert find_run(store, "abcdef+") == changed
        # A branch's name, which the repository resolves.
        assert find_run(store, "main", "abcdef") == runs[2]
        with pytest.raises(ValueError, match="no run 'main'"):
            find_run(store, "main", "fedcba")
        record_run(store, "2026-11-02", {"revision": "abcd99"}, [])
        with pytest.raises(ValueError, match="several revisions"):
            find_run(store, "abcd")


@pytest.mark.thorough
def test_history_shows_every_run(tmp_path):
    first, second = keyed(played(0), "one"), keyed(played(1, useless=0.3), "two")
    runs = ([result.key for result in first], [result.key for result in second])
    db = filled(tmp_path / "all.db", [*first, *second], runs)
    page = tmp_path / "history.html"
    done = invoke("board", "--history", "Alpha", "--db", db, "--html", page, "--format", "json")
    assert done.exit_code == 0
    (table,) = json.loads(done.stdout)
    utility = [row[table["columns"].index("utility")] for row in table["rows"]]
    assert utility[0] - utility[1] > 0.1
    assert [row[0] for row in table["rows"]] == [1, 2]
    assert "higher is better" in page.read_text()
    done = invoke("board", "--history", "Nobody", "--db", db)
    assert (done.exit_code, "there is no defense 'Nobody'; there are Alpha, Beta" in done.stderr) == (2, True)
    unrecorded = filled(tmp_path / "unrecorded.db", first)
    done = invoke("board", "--history", "Alpha", "--db", unrecorded)
    assert (done.exit_code, "no run at" in done.stderr) == (4, True)
    assert invoke("board", "--history", "Alpha", "--matrix", "--db", db).exit_code == 2


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("name", "shifts"),
    [
        ("mine:Nums shift=-1.5", [-1.5]),
        ("Nums shift=-1.5", [-1.5]),
        ("Nums  shift=-1.50", [-1.5]),
        ("mine:Nums", [-1.5, 2]),
        ("Nums", [-1.5, 2]),
    ],
)
def test_history_knows_the_names_that_boards_show(name, shifts, tmp_path):
    results = [
        replace(result, defense="mine:Nums", parameters={"shift": shift}, key=f"{shift} {result.key}")
        for shift in (-1.5, 2)
        for result in played(0, plays=3, defenses=("Nums",))
    ]
    db = filled(tmp_path / "own.db", results, [[result.key for result in results]])
    done = invoke("board", "--history", name, "--db", db, "--format", "json")
    assert done.exit_code == 0, done.output
    assert [table["title"] for table in json.loads(done.stdout)] == [f"mine:Nums shift={shift:g}" for shift in shifts]


def test_provenance_says_where_a_run_ran(tmp_path):
    import subprocess

    about = provenance(["bank"], tmp_path)
    assert (about["scenarios"], about["revision"]) == (["bank"], "")
    assert {"numpy", "scikit-learn"} <= set(about["packages"])
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    (tmp_path / "file").write_text("one")
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"]):
        subprocess.run([*git, *command], check=True)
    clean = revision(tmp_path)
    assert len(clean) == 40
    (tmp_path / "file").write_text("two")
    assert revision(tmp_path) == clean + "+"
    assert revision_named(tmp_path, "HEAD") == clean
    assert {revision_named(tmp_path, name) for name in ("nobody", "", "--all", "../x")} == {""}


@pytest.mark.thorough
def test_a_page_a_latex_table_and_a_report_of_checks(two, tmp_path):
    page, checks = tmp_path / "changes.html", tmp_path / "changes.xml"
    done = invoke("compare", *two, "--html", page, "--junit", checks, "--annotate", "--format", "latex")
    assert done.exit_code == 1
    text = page.read_text(encoding="utf-8")
    assert "2 significant changes" in text
    assert "2 worse, 0 better" in text
    assert text.count("✗ worse") == 4
    root = ElementTree.parse(checks).getroot()
    assert (root.get("tests"), root.get("failures")) == ("24", "2")
    failures = root.findall("./testsuite/testcase/failure")
    assert all(".2" in failure.get("message") for failure in failures)
    assert done.stderr.count("::error title=bank%2C decoys=hard%3A Alpha against ") == 2
    assert done.stdout.count("\\toprule") == 1
    assert "worse, 0 better" not in done.stdout


def test_a_page_names_no_password_of_a_database():
    from leaderboard.results.store import without_password

    assert "secret" not in without_password("postgresql+psycopg://me:secret@host/board")
    assert without_password("main") == "main"


def setting(results, k):
    """Results of invented defenses, of which the first is Alpha with a size."""
    return [replace(one, parameters={"k": k} if one.defense == "Alpha" else {}) for one in keyed(results, f"{k}")]


@pytest.fixture
def sizes(tmp_path):
    """Two sizes of one defense; the smaller one is weaker."""
    base = filled(tmp_path / "k5.db", setting(played(0, defenses=("Alpha",)), 5))
    head = filled(tmp_path / "k2.db", setting(played(1, defenses=("Alpha",), weakened=0.2), 2))
    return base, head


@pytest.mark.thorough
def test_two_settings_of_a_defense_compare_as_a_pair(sizes):
    done = invoke("compare", *sizes, "--pair", "Alpha k=5", "Alpha k=2")
    assert done.exit_code == 1
    assert sum("✗" in line and "Alpha k=5 → Alpha k=2" in line for line in done.stdout.splitlines()) == 2
    assert "of 1 defense over" in done.stdout
    found = json.loads(invoke("compare", *sizes, "--pair", "Alpha", "Alpha", "--format", "json").stdout)
    assert {(one["base_parameters"]["k"], one["parameters"]["k"], one["alarm"]) for one in found} == {(5, 2, True)}
    done = invoke("compare", *reversed(sizes), "--pair", "Alpha k=2", "Alpha k=5")
    assert (done.exit_code, "0 worse, 2 better" in done.stdout) == (0, True)


@pytest.mark.thorough
def test_what_is_paired_is_not_compared_with_its_like(tmp_path):
    results = [*setting(played(0), 5), *setting(played(1, defenses=("Alpha",)), 2)]
    db = filled(tmp_path / "both.db", results)
    changes = json.loads(
        invoke("compare", db, db, "--pair", "Alpha k=5", "Alpha k=2", "--all", "--format", "json").stdout
    )
    sides = {(one["base_defense"], *one["base_parameters"].values(), *one["parameters"].values()) for one in changes}
    assert sides == {("Alpha", 5, 2), ("Beta",), ("Gamma",), ("Delta",)}


@pytest.mark.thorough
def test_settings_that_differ_are_named_with_the_option_that_pairs_them(sizes):
    done = invoke("compare", *sizes)
    assert done.exit_code == 4
    assert "k5.db has Alpha k=5; " in done.stderr
    assert "k2.db has Alpha k=2. " in done.stderr
    assert "--pair 'Alpha k=5' 'Alpha k=2'" in done.stderr


def test_trials_that_the_head_skips_are_named(tmp_path):
    base = played(0, plays=3)
    missing = "the release discloses no channel"
    head = [
        replace(one, status="skipped", reason=missing, scores={}) if one.attack == "Greedy" and one.play else one
        for one in base
    ]
    sides = [filled(tmp_path / f"{name}.db", results) for name, results in (("base", base), ("head", head))]
    done = invoke("compare", *sides)
    assert "8 trials that ended in the base, skipped in the head and not compared: Greedy" in done.stdout
    assert "skipped" not in invoke("compare", *reversed(sides)).stdout


def test_too_few_plays_in_common_are_named_as_such(tmp_path):
    base, head = (filled(tmp_path / f"{seed}.db", played(seed, plays=1)) for seed in (0, 1))
    done = invoke("compare", base, head)
    assert (done.exit_code, "share fewer than two finished plays" in done.stderr) == (4, True)


@pytest.mark.thorough
def test_scenarios_that_differ_are_named(tmp_path):
    other = [replace(one, scenario="adult") for one in played(0)]
    base, head = filled(tmp_path / "a.db", played(0)), filled(tmp_path / "b.db", other)
    done = invoke("compare", base, head)
    assert done.exit_code == 4
    assert "the scenarios differ" in done.stderr
    assert "b.db has adult" in done.stderr


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([("Alpha k=7", "Alpha k=2")], "there is no defense 'Alpha k=7'; did you mean 'Alpha k=5'"),
        ([("Alpha k=5", "Beta")], "there is no defense 'Beta'; there are Alpha k=2"),
        ([("Alpha k=5", "Alpha k=2"), ("Alpha", "Alpha")], "'Alpha k=5' is in two pairs|'Alpha' is in two pairs"),
    ],
)
def test_a_pair_that_is_none_is_bad_input(sizes, pairs, message):
    done = invoke("compare", *sizes, *(part for pair in pairs for part in ("--pair", *pair)))
    assert done.exit_code == 2
    assert any(words in done.stderr for words in message.split("|"))


@pytest.mark.thorough
def test_a_pace_on_which_releases_and_attacks_disagree_is_not_called_the_machines(tmp_path):
    base = played(0, defenses=("Alpha", "Beta", "Gamma"))
    slow = [replace(one, seconds=3 * one.seconds) if one.attack is None else one for one in played(1)]
    head = [one for one in slow if one.defense != "Delta"]
    done = invoke("compare", filled(tmp_path / "base.db", base), filled(tmp_path / "head.db", keyed(head, "new")))
    assert done.exit_code == 1
    assert "3 worse" in done.stdout
    assert "everything took" not in done.stdout
    [said] = [line for line in done.stdout.splitlines() if line.startswith("releases took ")]
    assert said.endswith("they disagree about the machine's speed, so that times are not corrected for it")
