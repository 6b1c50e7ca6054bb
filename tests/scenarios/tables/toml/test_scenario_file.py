"""Errors of scenario files name file, table and key, in the words of every other TOML file."""

import re

import pytest

from scenarios.running.plan import read_plan
from scenarios.tables.toml.scenario_file import scenario_path
from scenarios.tables.toml.toml_file import located

BOARD = """
[scenario]
name = "small"
dataset = "bank"
game = { use = "CandidateFile", originals = 20, candidates = 40 }
plays = 3

[[defense]]
use = "Identity"

[[attack]]
use = "AssignmentLinkage"
"""


def test_a_sound_scenario_is_read(tmp_path):
    path = tmp_path / "small.toml"
    path.write_bytes(b"\xef\xbb\xbf" + BOARD.encode())
    assert read_plan(str(path)).plays == 3


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("plays = 3", "play = 3", "table [scenario], key 'play': unknown key; did you mean 'plays'?"),
        ("plays = 3", "plays = 0", "table [scenario], key 'plays': Input should be greater than or equal to 1"),
        ('name = "small"\n', "", "table [scenario], key 'name': is missing"),
        ("[[attack]]", "[[attacks]]", "key 'attack': is missing"),
        ('use = "Identity"', "k = 2", "table [defense.1], key 'use': is missing"),
        ('"Identity"', '"Identty"', "table [defense]: there is no defense 'Identty'; did you mean 'Identity'?"),
        ("originals = 20", "original = 20", "table [scenario.game]: CandidateFile has no parameter 'original'"),
        ('dataset = "bank"', 'dataset = "banks"', "table [scenario], key 'dataset': there is no data set 'banks'"),
        ("[scenario]", "[scenario", "is not valid TOML: "),
        ('"small"', '"sm\x00all"', "holds a NUL byte at byte 22"),
    ],
)
def test_errors_name_file_table_and_key(tmp_path, old, new, message):
    assert old in BOARD
    path = tmp_path / "small.toml"
    path.write_text(BOARD.replace(old, new, 1))
    with pytest.raises(ValueError, match=re.escape(f"{path}: ") + ".*" + re.escape(message)):
        read_plan(str(path))


def test_an_unknown_scenario_is_named():
    with pytest.raises(ValueError, match=r"there is no scenario 'banc'; did you mean 'bank'\?"):
        scenario_path("banc")
    with pytest.raises(ValueError, match=r"there is no scenario file no/such\.toml"):
        scenario_path("no/such.toml")


def test_a_location_has_a_table_a_key_or_both():
    assert located("a.b", "c") == "table [a.b], key 'c'"
    assert located("a") == "table [a]"
    assert located("", "c") == "key 'c'"
