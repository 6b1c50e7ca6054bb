"""``tokumei list``, ``info``, ``validate``, ``check`` and ``board``: help, and errors in one line."""

import re

import pytest
from bank_tools import few_customers
from run_tools import ROOT, invoke

from metrics.overview import classes, functions
from scenarios.checks.audits.names import mechanisms
from scenarios.commands.cli import cli
from scenarios.running.methods.methods import GROUND, exported, metrics, summary

CONTRACTS = {
    "defenses": "Defense",
    "attacks": "Attack",
    "defenses.dp": "Parametrized",
    "defenses.ldp": "Parametrized",
}


@pytest.mark.parametrize("command", ["run", "board", "list", "info", "validate", "describe", "check"])
def test_every_command_has_examples(command):
    result = invoke(command, "--help")
    assert result.exit_code == 0
    assert "Examples:" in result.output


@pytest.mark.thorough
def test_list_names_everything():
    output = invoke("list").output
    for name in [*exported("defenses"), *exported("attacks"), *metrics(), "bank", "adult"]:
        assert name in output


def test_list_says_of_each_name_what_its_class_says():
    sources = {name: one for kind, contract in CONTRACTS.items() for name, one in classes(kind, contract).items()}
    methods = {**exported("defenses"), **exported("attacks"), **mechanisms()}
    assert {name: (one.line, [*one.called, name][0]) for name, one in sources.items()} == {
        name: (summary(method), method.shown_name()) for name, method in methods.items()
    }
    lines = {name: summary(metric) for name, metric in metrics().items() if name != "TableUtility"}
    assert functions("metrics", *GROUND) == lines


def test_list_of_one_kind():
    assert "Mondrian" in invoke("list", "defenses").output
    assert "Mondrian" not in invoke("list", "attacks").output
    assert invoke("list", "people").exit_code == 2


@pytest.mark.thorough_beyond(55)
@pytest.mark.parametrize("name", [*exported("defenses"), *exported("attacks"), *exported("scenarios"), *metrics()])
def test_info_shows_docstring_and_source(name):
    result = invoke("info", name)
    assert result.exit_code == 0
    assert name in result.output
    assert "import" in result.output


def test_info_of_scenario_and_data_set():
    output = invoke("info", "bank").output
    assert "[[defense]]" in output
    assert "Moro" in output
    missing = invoke("info", "Mondrain")
    assert missing.exit_code == 2
    assert "did you mean 'Mondrian'" in missing.output


@pytest.mark.thorough
def test_validate(tmp_path):
    table = tmp_path / "people.csv"
    table.write_text("age,city\n31,Nara\n45,Uji\n")
    result = invoke("validate", table)
    assert result.exit_code == 0
    assert "valid" in result.output
    assert "Nara" not in result.output
    table.write_text("age,city\n31\n")
    assert invoke("validate", table).exit_code == 2
    assert invoke("validate", ROOT / "scenarios" / "library" / "bank.toml").exit_code == 0


def test_board_without_results(tmp_path):
    result = invoke("board", "--db", tmp_path / "none.db")
    assert result.exit_code == 4
    assert "there are no results" in result.output
    (tmp_path / "text.db").write_text("no database")
    broken = invoke("board", "--db", tmp_path / "text.db")
    assert broken.exit_code == 2
    assert len(broken.output.strip().splitlines()) == 1


@pytest.mark.thorough
def test_check_passes_ours_and_fails_broken_ones(tmp_path, monkeypatch):
    # Other processes have tests of their own.
    monkeypatch.setattr("scenarios.checks.conformance.suite.HASH_SEEDS", [])
    assert invoke("check", "Identity").exit_code == 0
    (tmp_path / "broken_method.py").write_text(
        "from defenses import Identity\n\n\nclass Broken(Identity):\n"
        "    def apply(self, records, rng):\n        raise RuntimeError('no')\n"
    )
    monkeypatch.chdir(tmp_path)
    result = invoke("check", "broken_method:Broken")
    assert result.exit_code == 1
    assert "FAILED" in result.output
    assert invoke("check", "Identitty").exit_code == 2
    assert invoke("check", "nowhere:Class").exit_code == 2


@pytest.mark.thorough
def test_the_readme_does_what_it_shows(tmp_path, monkeypatch):
    # Other processes have tests of their own.
    monkeypatch.setattr("scenarios.checks.conformance.suite.HASH_SEEDS", [])
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    (tmp_path / "readme_defense.py").write_text(blocks[0])
    monkeypatch.chdir(tmp_path)
    few_customers(monkeypatch)
    assert invoke("check", "readme_defense:RoundedAge").exit_code == 0
    # The board in Python reads what a run has stored; the other block plays once.
    assert invoke("run", "bank", "-d", "Identity", "-a", "NearestNeighbour", "--plays", "1", "-j", "1").exit_code == 0
    for block in blocks[1:]:
        exec(compile(block.replace("plays=3", "plays=1"), "README", "exec"), {})
    assert (tmp_path / "board.tex").read_text().startswith("%")
    for command in re.findall(r"(?:^|&& )(?:\.venv/bin/)?tokumei (\w+)", text, re.M):
        assert command in cli.commands


def test_a_table_without_quotes_is_named_with_what_would_be_right():
    done = invoke("audit", "RefinedBins", "-p", "synthesizer={use=MaximumSpanningTree, epsilon=1}")
    assert done.exit_code == 2
    assert (
        "-p synthesizer: {use=MaximumSpanningTree, epsilon=1} is no TOML table; words in it need double" in done.output
    )
    assert """-p 'synthesizer={use="Mondrian", k=5}'""" in done.output


@pytest.mark.thorough
def test_an_audit_says_once_what_a_mechanism_warns_of():
    """Each of the eight runs on either table warns."""
    done = invoke("audit", "PrivBayes", "-p", "epsilon=0.1", "--runs", "8")
    assert done.exit_code == 0
    assert done.output.count("warning: PrivBayes: epsilon is too small to measure associations") == 1
    assert "UserWarning" not in done.output
