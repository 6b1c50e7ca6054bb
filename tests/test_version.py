"""The version and the citation say what pyproject.toml says."""

import subprocess
import sys
import tomllib
from importlib import metadata

import pytest
import yaml
from click.testing import CliRunner
from packaging.requirements import Requirement
from run_tools import ROOT
from test_distribution import SUPPORTED

import tokumei
from scenarios.commands.cli import cli

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_version_is_that_of_the_installed_distribution():
    assert tokumei.__version__ == metadata.version("tokumei")


def test_version_of_a_checkout_that_is_not_installed(monkeypatch):
    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", absent)
    assert tokumei.__version__ == PROJECT["version"]
    assert CliRunner().invoke(cli, ["--version"]).output == f"tokumei, version {PROJECT['version']}\n"


def test_an_installation_aligns_tables_with_japanese_names():
    # Without this extra tabulate counts characters, where no other package happens to install wcwidth.
    (tabulate,) = (one for one in map(Requirement, PROJECT["dependencies"]) if one.name == "tabulate")
    assert "widechars" in tabulate.extras


def test_there_is_no_other_attribute():
    with pytest.raises(AttributeError, match="'tokumei' has no attribute '__author__'"):
        tokumei.__author__  # noqa: B018


def test_the_command_says_its_version():
    command = [sys.executable, "-m", "tokumei", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == f"tokumei, version {tokumei.__version__}\n"


def test_importing_the_command_imports_no_package():
    heavy = {*tokumei.PACKAGES, "click", "importlib.metadata", "tomllib"}
    code = f"import sys, tokumei; print(sorted(set(sys.modules) & {heavy}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def test_the_changelog_begins_with_this_version():
    headings = [line for line in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines() if line[:3] == "## "]
    assert headings[0] == "## Unreleased" or headings[0].startswith(f"## {PROJECT['version']} (")
    assert any(heading.startswith(f"## {PROJECT['version']} (") for heading in headings)


def test_the_citation_agrees_with_the_project():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    assert citation["keywords"] == PROJECT["keywords"]
    assert citation["authors"] == [{"name": "The Tokumei developers"}]
    assert {"title", "abstract", "message"} <= citation.keys()


def test_every_supported_python_is_named_alike():
    named = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if line.startswith("Programming Language")]
    supported = [version for version in named if "." in version]
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    (job,) = workflow["jobs"].values()
    assert job["strategy"]["matrix"]["python"] == supported == list(SUPPORTED)
    assert PROJECT["requires-python"] == f">={supported[0]}"
    assert job["steps"][-1] == {"run": ".ci/run"}
