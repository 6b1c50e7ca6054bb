"""``tokumei defend`` on tables that are read in parts: outputs, bad input, interruption."""

import gzip
import inspect
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar, get_args

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from large_tools import IN_PARTS, ROLES, people
from run_tools import COMMAND, environment, fork_or_start, invoke

import defenses
from defenses.base.blocks import CountedCells, ReleasePlan
from defenses.base.channel import Channel
from defenses.base.defense import BlockwiseDefense, Needs
from defenses.recoding.pseudonymization import is_pseudonym
from scenarios.commands.cli import cli
from scenarios.running.methods.methods import exported
from scenarios.tables.parts import combinations
from scenarios.tables.parts.large_release import large_release
from scenarios.tables.parts.records import LargeRecords, large_records

SLOW = """
import sys, time
from scenarios.tables.parts.files import bucket_file
bucket = bucket_file.BucketFile.permuted
def permuted(self):
    for number, rows in enumerate(bucket(self)):
        yield rows
        if number == 1:
            print("writing", flush=True)
            time.sleep(600)
bucket_file.BucketFile.permuted = permuted
from scenarios.tables.parts.files import shuffled_output
shuffled_output.BUCKET = 1000
from scenarios.commands.cli import cli
cli(sys.argv[1:])
"""
LIMITED = """
import resource, sys
from scenarios.commands.cli import cli
most = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
cli(sys.argv[1:])
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder of tables and roles, of which each test has a copy."""
    folder = tmp_path_factory.mktemp("files")
    frame = people(3000)
    (folder / "roles.toml").write_text(ROLES)
    (folder / "parts").mkdir()
    frame.to_csv(folder / "people.csv", index=False)
    frame[:2000].to_parquet(folder / "parts" / "part-0.parquet")
    frame[2000:].to_parquet(folder / "parts" / "part-1.parquet")
    (folder / "temporary").mkdir()
    return folder


@pytest.fixture
def folder(files, tmp_path, monkeypatch):
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("defenses.base.blocks.BLOCK", 512)
    monkeypatch.setattr("scenarios.tables.parts.files.shuffled_output.BUCKET", 1000)
    return tmp_path


def call(*arguments, code=0):
    result = CliRunner().invoke(cli, ["defend", *map(str, arguments), "--roles", "roles.toml"])
    assert result.exit_code == code, result.output
    return result


def started(folder, program, *arguments):
    """Start a program that uses the command line, as a process in the folder."""
    (folder / "program.py").write_text(program)
    return fork_or_start(
        [sys.executable, "-m", "program", *map(str, arguments)],
        cwd=folder,
        env={**environment(), "TMPDIR": str(folder / "temporary")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def nothing_is_left(folder):
    given = {"people.csv", "parts", "roles.toml", "temporary", "program.py", "__pycache__"}
    left = {path.name for path in folder.iterdir()} - given
    return not left and not list((folder / "temporary").iterdir())


@pytest.mark.thorough
def test_one_seed_gives_the_same_bytes_for_any_memory_and_format(folder):
    noise = ("AdditiveNoise", "-p", "scale={age=0.3, wage=0.1}", "--seed", 7)
    texts = [call(*noise, "parts", "--memory", memory).stdout for memory in ("600MB", "3 GB")]
    assert texts[0] == texts[1] == call(*noise, "parts").stdout
    call(*noise, "parts", "-o", "out.csv.gz", "--truth", "who.csv", "--channel", "channel.toml")
    assert gzip.decompress((folder / "out.csv.gz").read_bytes()).decode() == texts[0]
    assert stat.S_IMODE(os.stat("who.csv").st_mode) == 0o600
    assert stat.S_IMODE(os.stat("out.csv.gz").st_mode) == 0o666 & ~_umask()
    assert Channel.from_toml((folder / "channel.toml").read_text()).columns == {"age", "wage"}
    assert call(*noise[:-2], "parts").stdout != texts[0]
    origin = pd.read_csv("who.csv")["record"]
    released = pd.read_csv("out.csv.gz", keep_default_na=False, dtype=str)
    original = people(3000)
    assert (released["source"] == original["source"].astype(str).to_numpy()[origin]).all()
    assert not list((folder / "temporary").iterdir())


def _umask():
    umask = os.umask(0)
    os.umask(umask)
    return umask


@pytest.mark.thorough
def test_notes_and_guarantee_are_those_in_memory(folder):
    arguments = ("RetentionReplacement", "-p", "epsilon=2", "people.csv", "-o", "out.csv", "--force")
    assert call(*arguments).stderr == call(*arguments, "--memory", "1GB").stderr


@pytest.mark.thorough_beyond(6)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("Identity", "people.csv", "--memory", "12"), "write a number with a unit"),
        (("Identity", "people.csv", "--memory", "12MB"), "too little"),
        (("Identity", "people.csv", "--memory", "eight GB"), "write a number with a unit"),
        (("Identity", "empty"), "without Parquet files"),
        (("Identity", "nowhere"), "nowhere"),
        (("Identity", "-", "--memory", "1GB"), "name a file"),
        (("Identity", "parts", "-o", "parts/released.parquet"), "become a part"),
        (("Identity", "other"), "lacks the column 'age'"),
        (("Identity", "types"), "holds"),
        (("Identity", "people.csv", "--blocks", "500"), "not read in parts"),
        (("Identity", "parts", "--blocks", "500"), "leave the option out"),
        (("Identity", "parts", "--jobs", "2"), "only --blocks uses worker processes"),
        (("Microaggregation", "parts"), "--blocks 10000"),
        (("Microaggregation", "parts", "--blocks", "20"), "at least 100 rows"),
        (("Microaggregation", "-p", "k=200", "parts", "--blocks", "150"), "--blocks may be larger"),
        (("GlobalRecoding", "-p", "levels={nothing=1}", "parts"), "nothing"),
        (("Shuffle", "parts", "--truth", "-"), "--truth is secret"),
        (("RecordSwapping", "-p", 'columns=["age"]', "parts", "--channel", "c.toml", "--blocks", "300"), "has none"),
    ],
)
def test_bad_input_is_one_line(folder, arguments, words):
    (folder / "empty").mkdir()
    for name in ("other", "types"):
        (folder / name).mkdir()
        (folder / name / "0.parquet").write_bytes((folder / "parts" / "part-0.parquet").read_bytes())
    second = pd.read_parquet(folder / "parts" / "part-1.parquet")
    second.drop(columns="age").to_parquet(folder / "other" / "1.parquet")
    second.assign(age=second["age"].astype(str)).to_parquet(folder / "types" / "1.parquet")
    before = sorted(folder.iterdir())
    errors = call(*arguments, code=2).stderr.splitlines()
    assert words in errors[-1], errors
    assert len([line for line in errors if not line.startswith("note")]) == 1
    assert sorted(folder.iterdir()) == before
    assert not list((folder / "temporary").iterdir())


@pytest.mark.thorough
def test_a_file_that_changes_while_it_is_read_is_refused(folder, monkeypatch):
    from scenarios.tables.parts.files.bucket_file import BucketFile

    add = BucketFile.add

    def changing(self, block):
        if block.number == 2:
            (folder / "people.csv").touch()
        add(self, block)

    monkeypatch.setattr(BucketFile, "add", changing)
    result = call("Identity", "people.csv", "--memory", "1GB", "-o", "out.csv", "--truth", "who.csv", code=2)
    assert "was changed while it was read" in result.stderr
    assert nothing_is_left(folder)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    "full",
    [
        "scenarios.tables.parts.files.bucket_file.BucketFile.add",
        "scenarios.tables.parts.files.shuffled_output.text_bytes",
    ],
)
def test_a_full_disk_leaves_nothing(folder, monkeypatch, full):
    calls = []

    def write(*arguments):
        calls.append(arguments)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(full, write)
    result = call("Identity", "parts", "-o", "out.csv", "--truth", "who.csv", "--channel", "c.toml", code=2)
    assert result.stderr.splitlines()[-1].startswith("Error: a disk is full")
    assert calls
    assert nothing_is_left(folder)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("full", "words"),
    [
        (".", r"Error: .*: the disk is full; .*write to another disk"),
        ("temporary", "Error: the disk of temporary files is full; .*TMPDIR"),
    ],
)
def test_the_full_disk_is_named(folder, monkeypatch, full, words):
    def write(*_):
        raise OSError(28, "No space left on device")

    def usage(path):
        free = 0 if Path(path).resolve() == (folder / full).resolve() else 1 << 40
        return SimpleNamespace(free=free)

    monkeypatch.setattr("scenarios.tables.parts.files.shuffled_output.text_bytes", write)
    monkeypatch.setattr("scenarios.tables.parts.files.output_files.shutil.disk_usage", usage)
    monkeypatch.setattr("tempfile.tempdir", str(folder / "temporary"))
    result = call("Identity", "parts", "-o", "out.csv", code=2)
    assert re.fullmatch(words + ".*; nothing was written", result.stderr.splitlines()[-1])
    assert nothing_is_left(folder)


@pytest.mark.thorough
@pytest.mark.parametrize("most", [30_000, 100_000])
def test_a_limit_on_the_size_of_files_leaves_nothing(folder, most):
    # The rows take about 130,000 bytes as codes, and 160,000 as text.
    arguments = ("defend", "Identity", "parts", "--roles", "roles.toml", "-o", "out.csv", "--truth", "who.csv")
    process = started(folder, LIMITED, most, *arguments)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 2, errors
    assert "nothing was written" in errors.splitlines()[-1]
    assert "Traceback" not in errors
    assert nothing_is_left(folder)


@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_process_leaves_nothing(folder, number):
    arguments = ("defend", "Identity", "parts", "--roles", "roles.toml", "-o", "out.csv", "--truth", "who.csv")
    process = started(folder, SLOW, *arguments)
    for line in process.stdout:
        if line.startswith("writing"):
            break
    else:
        pytest.fail("nothing was written")
    assert list((folder / "temporary").iterdir())
    process.send_signal(number)
    # The processes that remove the folders hold the output too, so that it ends when they have done so.
    process.communicate(timeout=60)
    assert process.returncode != 0
    assert nothing_is_left(folder)


ARGUMENTS = {
    "ReportedTable": {"columns": ["age"]},
    "OptimalRetentionWithPrior": {"prior": {"code_1": [1, 1, 1, 1]}, "epsilon": 1.0, "columns": ["code_1"]},
    "Pipeline": {"steps": [defenses.Identity()]},
    "RecordSwapping": {"columns": ["age"]},
    "StratifiedSampling": {"by": "age"},
}


@pytest.mark.thorough
def test_every_exported_defense_of_tables_is_released_or_says_that_it_needs_all_rows(folder):
    released, others = set(), set()
    with large_records(folder / "parts", folder / "roles.toml") as records:
        for name, method in exported("defenses").items():
            if not issubclass(method, defenses.MicrodataDefense) or inspect.isabstract(method):
                continue
            defense = method(**ARGUMENTS[name]) if name in ARGUMENTS else method.example()
            try:
                assert large_release(defense, records, np.random.SeedSequence(1)).names
                released.add(name)
            except ValueError as error:
                others |= set() if "needs all rows" in str(error) else {name}
    assert released == IN_PARTS
    assert not others


class CountedColumn(CountedCells):
    """Distinct values of a column that note when their counts are read."""

    seen: ClassVar = []

    def __getattribute__(self, name):
        if name == "counts":
            self.seen.append(name)
        return super().__getattribute__(name)


def learned_by_fit(defense, records, monkeypatch):
    """What a defense learns of records before it releases a row, by what its plan asks."""
    seen = []
    column = LargeRecords.column
    with monkeypatch.context() as patch:
        patch.setattr(CountedColumn, "seen", seen)
        patch.setattr(LargeRecords, "column", lambda *given: CountedColumn(*vars(column(*given)).values()))
        for name in ("number_at", "deviation"):
            ask = getattr(LargeRecords, name)
            patch.setattr(LargeRecords, name, lambda *given, _ask=ask: seen.append(1) or _ask(*given))
        plan = defense.fit(records, np.random.default_rng(1))
    if not seen:
        return "rows"
    return "histograms" if type(plan).blocks is ReleasePlan.blocks else "permutation"


def learned(defense, records, monkeypatch):
    """What a defense learns of records in parts before it releases a row."""
    if isinstance(defense, BlockwiseDefense):
        return learned_by_fit(defense, records, monkeypatch)
    counted = []
    count = combinations.counted_table
    with monkeypatch.context() as patch:
        patch.setattr(combinations, "counted_table", lambda *all_, **most: counted.append(1) or count(*all_, **most))
        try:
            large_release(defense, records, np.random.SeedSequence(1))
        except ValueError as error:
            return "table" if "needs all rows" in str(error) else str(error)
    return "combinations" if counted else "rows"


def test_needs_say_what_the_release_in_parts_does(folder, monkeypatch):
    with large_records(folder / "parts", folder / "roles.toml") as records:
        for name, method in exported("defenses").items():
            if not issubclass(method, defenses.MicrodataDefense) or inspect.isabstract(method):
                continue
            defense = method(**ARGUMENTS[name]) if name in ARGUMENTS else method.example()
            assert defense.needs in get_args(Needs), name
            assert learned(defense, records, monkeypatch) == defense.needs, name


@pytest.mark.long
def test_random_blocks_are_k_anonymous_and_tell_their_loss(folder):
    microaggregation = ("Microaggregation", "-p", "k=4", "-p", 'columns=["age", "size"]', "parts")
    error = call(*microaggregation, "--blocks", "300", "-o", "out.csv", "--truth", "who.csv").stderr.splitlines()
    assert "random blocks of about 300 rows" in error[-2]
    words = re.fullmatch(
        r"note: loss by the blocks, on 1,\d{3} rows in 4 blocks: utility (\S+) in blocks, (\S+) as one table "
        r"\(1 is the original\)",
        error[-1],
    )
    assert 0 < float(words[1]) < float(words[2]) < 1
    released = pd.read_csv("out.csv", dtype=str, keep_default_na=False)
    assert len(released) == 3000
    assert released.groupby(["age", "size"]).size().min() >= 4
    # Ten blocks have groups of their own: more than 2900 rows / 7 of them differ, where they are of 4 to 7 rows.
    assert released.groupby(["age", "size"]).ngroups > 414
    origin = pd.read_csv("who.csv")["record"]
    assert sorted(origin) == list(range(3000))
    assert (released["source"] == people(3000)["source"].astype(str).to_numpy()[origin]).all()
    seeded = [call(*microaggregation, "--blocks", "300", "--seed", 3, "--memory", m).stdout for m in ("600MB", "2GB")]
    assert seeded[0] == seeded[1]


@pytest.mark.thorough
def test_pseudonyms_link_the_rows_of_a_person_and_nobody_else(folder):
    frame = people(3000)
    frame["name"] = np.where(np.arange(3000) % 7 == 0, None, frame["name"].str[:-1])
    frame.loc[3, "name"] = " gone "
    frame["friend"] = frame["name"].iloc[::-1].to_numpy()
    frame.to_parquet("people.parquet")
    text = ROLES.replace('["name"]', '["name", "friend"]')
    (folder / "roles.toml").write_text(f'na = ["gone"]\n{text}')
    arguments = ("Pseudonymization", "people.parquet", "--memory", "1GB", "--force")
    for suffix in ("csv", "parquet"):
        call(*arguments, "--seed", 4, "-o", f"out.{suffix}", "--truth", "who.csv", "--channel", "channel.toml")
    released, origin = pd.read_parquet("out.parquet"), pd.read_csv("who.csv")["record"]
    texts = pd.read_csv("out.csv", dtype=str)
    for name in ("name", "friend"):
        original = frame[name].mask(frame[name] == " gone ").iloc[origin].reset_index(drop=True)
        assert released[name].isna().equals(original.isna())
        assert released[name].dropna().map(is_pseudonym).all()
        assert texts[name].equals(released[name])
        pairs = pd.DataFrame({"original": original, "released": released[name]}).dropna().drop_duplicates()
        assert not pairs["original"].duplicated().any()
        assert not pairs["released"].duplicated().any()
    names = dict(zip(frame["name"].iloc[origin], released["name"], strict=True))
    friends = dict(zip(frame["friend"].iloc[origin], released["friend"], strict=True))
    assert all(friends[name] == pseudonym for name, pseudonym in names.items() if name in friends and name is not None)
    assert list(released)[:2] == ["name", "friend"]
    call(*arguments, "--seed", 5, "-o", "other.parquet")
    assert not set(pd.read_parquet("other.parquet")["name"].dropna()) & set(released["name"].dropna())


@pytest.mark.thorough
def test_a_reader_of_standard_output_may_leave_early(folder):
    # Several times what a pipe holds.
    people(8_000).to_parquet(folder / "people.parquet")
    arguments = [*COMMAND, "defend", "Identity", "people.parquet", "--roles", "roles.toml"]
    process = fork_or_start(
        [*arguments, "--memory", "1GB"],
        env={**environment(), "TMPDIR": str(folder / "temporary")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout.readline().startswith(b"age,")
    process.stdout.close()
    _, error = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"rror" not in error
    assert not list((folder / "temporary").iterdir())


@pytest.mark.parametrize("given", [[], ["--memory", "600MB", "--blocks", "100"]], ids=["in memory", "in parts"])
def test_k_is_said_by_both_conventions_of_a_suppressed_cell(tmp_path, monkeypatch, given):
    monkeypatch.chdir(tmp_path)
    rng, shares = np.random.default_rng(1), [0.6, 0.3, 0.1]
    age, sex = (rng.choice(values, 300, p=shares) for values in (["20", "30", "40"], ["f", "m", "x"]))
    table = pd.DataFrame({"age": age, "sex": sex})
    table.to_csv("people.csv", index=False)
    Path("roles.toml").write_text('quasi_identifiers = ["age", "sex"]\ncolumns.age.type = "category"\n')
    files = ["people.csv", "--roles", "roles.toml", "-o", "released.csv", "--seed", "1"]
    done = invoke("defend", "CellSuppression", "-p", "k=9", *files, *given)
    assert done.exit_code == 0, done.output
    cells = pd.read_csv("released.csv", dtype=str).to_numpy()
    kept = cells[(cells != "*").any(axis=1)]
    alike = [(cells == row).all(axis=1).sum() for row in kept]
    agreeing = [((cells == row) | (cells == "*") | (row == "*")).all(axis=1).sum() for row in cells]
    assert min(alike) < min(agreeing)
    said = f"the smallest has {min(alike)} rows. If * may be any value, {min(agreeing)} rows or more agree with each"
    hidden = len(cells) - len(kept)
    beside = f"{hidden} records are * in every quasi-identifier, agree with all others and are in no class"
    words = f". {beside}; as a class, they would have k = {hidden}." if hidden else "."
    assert f"in classes, * counts as a value of its own, and {said}{words}\n" in done.stderr
    assert "* counts as a value" not in invoke("defend", "Mondrian", *files, "--force").stderr


@pytest.mark.parametrize("given", [(), ("--memory", "1GB")])
def test_columns_that_a_method_hardly_changes_are_named(tmp_path, monkeypatch, given):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    days = pd.to_datetime("2023-01-01") + pd.to_timedelta(rng.integers(0, 1 << 18, 200), unit="min")
    frame = pd.DataFrame({"age": rng.integers(20, 80, 200), "came": days.strftime("%Y-%m-%d %H:%M:%S"), "one": "x"})
    frame.assign(ill=rng.choice(["a", "b"], 200)).to_csv("t.csv", index=False)
    Path("roles.toml").write_text('quasi_identifiers = ["age", "came", "one"]\nsensitive = ["ill"]\n')
    said = "note: came: less than 1 % of the released cells differ"
    assert said in call("Rounding", "t.csv", "-o", "r.csv", *given).stderr
    assert "released cells differ" not in call("GlobalRecoding", "t.csv", "-o", "r.csv", "--force", *given).stderr
    if not given:
        assert "cells differ" not in call("Mondrian", "-p", "k=3", "t.csv", "-o", "r.csv", "--force").stderr
