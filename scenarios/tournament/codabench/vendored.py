"""The modules of this software that a scoring program needs, and the packages for its image."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from scenarios.running.methods.fingerprint import PACKAGES, closure
from scenarios.tournament.rules.folder import zip_bytes

PROGRAM = "scenarios.tournament.codabench.scoring_program"


@cache
def modules() -> dict[str, Path]:
    """Source files of the scoring program and of all project modules that it imports, by path in the archive."""
    # To import a module is to import the packages above it, of which some import modules.
    names: set[str] = set()
    wanted = {PROGRAM}
    while wanted - names:
        names |= {*closure(wanted), *wanted}
        wanted = {".".join(name.split(".")[:depth]) for name in names for depth in range(1, name.count(".") + 1)}
    files: dict[str, Path] = {}
    for name in sorted(names):
        spec = find_spec(name)
        if spec is None or spec.origin is None or name.partition(".")[0] not in PACKAGES:
            continue
        file = Path(spec.origin)
        folder = name.replace(".", "/") if file.name == "__init__.py" else name.rpartition(".")[0].replace(".", "/")
        files[f"{folder}/{file.name}"] = file
        # Packages read the names that they export from the stub beside them.
        stub = file.with_suffix(".pyi")
        if file.name == "__init__.py" and stub.is_file():
            files[f"{folder}/{stub.name}"] = stub
    return files


def archive() -> bytes:
    """The modules as a ZIP archive."""
    return zip_bytes((name, path.read_bytes()) for name, path in modules().items())


@cache
def requirements() -> str:
    """Packages that the modules import, in the versions of this installation, so that the numbers are the same."""
    tops = {top for path in modules().values() if path.suffix == ".py" for top in _imported(path)}
    distributions = metadata.packages_distributions()
    names = sorted(
        {
            distribution.lower()
            for top in tops - set(sys.stdlib_module_names) - set(PACKAGES)
            for distribution in distributions.get(top, ())
        }
    )
    return "".join(f"{name}=={metadata.version(name)}\n" for name in names)


def dockerfile() -> str:
    """Recipe of an image that runs the scoring program."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return (
        f"FROM python:{python}-slim\n"
        "COPY requirements.txt /requirements.txt\n"
        "RUN pip install --no-cache-dir -r /requirements.txt\n"
        "ENV OMP_NUM_THREADS=1\n"
    )


def _imported(path: Path) -> Iterator[str]:
    """Top-level names of the modules that a file imports anywhere."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]
