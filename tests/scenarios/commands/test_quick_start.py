"""Commands on small tables start quickly: they import no module that they do not need, and commands load one by one."""

import gc
import os
import subprocess
import sys

import click
import pytest
from run_tools import ROOT, invoke

from scenarios.commands.cli import COMMANDS, cli
from scenarios.commands.common import heavy_imports

TABLE = "age,sex,illness\n31,f,flu\n45,m,cold\n31,f,cold\n44,m,flu\n"
ROLES = 'quasi_identifiers = ["age", "sex"]\nsensitive = ["illness"]\n'
UNNEEDED = (
    "cvxopt",
    "distributed",
    "dp_accounting",
    "duckdb",
    "jinja2",
    "numpy.testing",
    "pyarrow.dataset",
    "pyarrow.parquet",
    "rich",
    "scenarios.commands.run",
    "scipy",
    "sklearn",
    "sqlalchemy",
)


def modules_of(arguments, names, folder):
    """Those of the named modules that a command imports."""
    code = (
        "import sys, tokumei\n"
        "sys.argv = ['tokumei', *sys.argv[1:]]\n"
        "try:\n    tokumei.main()\n"
        "except SystemExit as end:\n    assert end.code == 0\n"
        f"print(sorted(set(sys.modules) & {set(names)}))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=folder)
    return done.stdout.splitlines()[-1]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "people.csv").write_text(TABLE)
    (tmp_path / "roles.toml").write_text(ROLES)
    return tmp_path


@pytest.mark.thorough
def test_defend_imports_what_it_needs(folder):
    arguments = ["defend", "Mondrian", "-p", "k=2", "people.csv", "--roles", "roles.toml", "-o", "out.csv"]
    assert modules_of(arguments, UNNEEDED, folder) == "[]"
    assert (folder / "out.csv").exists()


@pytest.mark.thorough
def test_risk_imports_what_it_needs(folder):
    # A release without identifiers needs no defense; channels belong to defenses.
    names = [*UNNEEDED, "defenses.base.channel", "defenses.base.defense"]
    assert modules_of(["risk", "people.csv", "--roles", "roles.toml"], names, folder) == "[]"


@pytest.mark.thorough
def test_help_imports_no_library_of_methods(folder):
    libraries = [name for name in UNNEEDED if not name.startswith("scenarios")]
    unneeded = ["numpy", "pandas", "pydantic", "pyarrow", *libraries]
    # What is imported is seen.
    assert modules_of(["--help"], ["click", *unneeded], folder) == "['click']"


@pytest.mark.thorough
def test_list_imports_no_method(folder):
    names = ["attacks.base.attack", "defenses.base.defense", "defenses.dp.pure_noise", "metrics.classes", "pandas"]
    names += ["pyarrow", "pydantic", "scenarios.datasets.generated", *UNNEEDED]
    assert modules_of(["list"], names, folder) == "[]"


def test_the_command_line_loads_no_command():
    listed = "[name for name in sys.modules if name.startswith('scenarios.commands.')]"
    code = f"import sys, scenarios.commands.cli; print({listed})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "['scenarios.commands.cli']"


def test_every_command_bears_its_name():
    context = click.Context(cli)
    assert cli.list_commands(context) == sorted(COMMANDS)
    for name in COMMANDS:
        assert cli.commands[name].name == name


def test_a_command_can_be_added_and_removed():
    count = len(cli.commands)
    cli.add_command(click.Command("mine"))
    try:
        assert len(cli.commands) == count + 1
        assert "mine" in invoke("--help").output
    finally:
        del cli.commands["mine"]
    assert invoke("mine").exit_code == 2


def test_garbage_is_collected_again_after_imports(monkeypatch):
    monkeypatch.delitem(sys.modules, "pandas", raising=False)

    def failing_import():
        with heavy_imports():
            assert not gc.isenabled()
            raise ValueError("no module")

    with pytest.raises(ValueError, match="no module"):
        failing_import()
    assert gc.isenabled()
