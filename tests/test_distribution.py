"""The wheel and the source distribution work in an environment of their own, on every supported Python at hand."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from run_tools import ROOT

pytestmark = pytest.mark.long
SUPPORTED = ("3.11", "3.12", "3.13")


def pythons():
    """Interpreters of the supported versions by version, on the path or beside other installed versions."""
    known = {f"{sys.version_info.major}.{sys.version_info.minor}": sys.executable}
    for path in sorted((Path.home() / ".pyenv" / "versions").glob("3.*/bin/python")):
        known.setdefault(".".join(path.parts[-3].split(".")[:2]), str(path))
    for version in SUPPORTED:
        if found := shutil.which(f"python{version}"):
            known.setdefault(version, found)
    return {version: known.get(version) for version in SUPPORTED}


def called(*command, folder):
    done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, timeout=550, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    """Folder with the wheel and the source distribution, built from a copy of the files under version control."""
    folder = tmp_path_factory.mktemp("distribution")
    names = called("git", "ls-files", "-z", folder=ROOT).split("\0")
    for name in filter(None, names):
        (folder / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / "source" / name)
    called(sys.executable, "-m", "venv", folder / "tools", folder=folder)
    called(folder / "tools/bin/pip", "install", "-q", "build", "twine", folder=folder)
    called(folder / "tools/bin/python", "-m", "build", "--outdir", folder / "dist", folder / "source", folder=folder)
    called(folder / "tools/bin/twine", "check", "--strict", *(folder / "dist").iterdir(), folder=folder)
    return folder / "dist"


def test_the_wheel_holds_every_file_of_the_packages(distributions):
    (wheel,) = distributions.glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    packages = ("attacks", "defenses", "leaderboard", "metrics", "scenarios")
    names = called("git", "ls-files", "-z", *packages, folder=ROOT).split("\0")
    assert {name for name in names if name} - held == set()
    assert not [name for name in held if name.startswith(("tests/", "docs/"))]


@pytest.mark.parametrize("version", SUPPORTED)
@pytest.mark.parametrize("kind", ["*.whl", "*.tar.gz"])
def test_a_fresh_environment_plays(distributions, tmp_path, version, kind):
    python = pythons()[version]
    if python is None:
        pytest.skip(f"there is no Python {version}")
    if kind == "*.tar.gz" and version != SUPPORTED[0]:
        pytest.skip("one version suffices for the source distribution")
    (distribution,) = distributions.glob(kind)
    called(python, "-m", "venv", tmp_path / "env", folder=tmp_path)
    called(tmp_path / "env/bin/pip", "install", "-q", distribution, folder=tmp_path)
    tokumei = tmp_path / "env/bin/tokumei"
    printed = called(tokumei, "--version", folder=tmp_path)
    assert re.search(r"version (\S+)", printed)[1] == re.search(r"tokumei-([^-]+?)(-py3|\.tar)", distribution.name)[1]
    options = ("-d", "Mondrian", "-a", "NearestNeighbour", "--plays", 1, "--html", "board.html")
    assert "Mondrian k=5" in called(tokumei, "run", "bank", *options, folder=tmp_path)
    called(tokumei, "pictures", "board.html", "-o", "figures", folder=tmp_path)
    called(tokumei, "doctor", folder=tmp_path)
