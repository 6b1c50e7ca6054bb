"""Files bear the names of their classes."""

import ast
import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("metrics", "defenses", "attacks", "leaderboard", "scenarios")
# Families whose exported modules each have a test file of their own.
TESTED_BY_PATH = (
    "attacks/attributes",
    "attacks/base",
    "attacks/criteria",
    "attacks/linkage",
    "attacks/membership",
    "attacks/pram",
    "attacks/reports",
    "attacks/statistics",
    "attacks/training",
    "defenses/base",
    "defenses/curators",
    "defenses/dp",
    "defenses/federated",
    "defenses/grouping",
    "defenses/ldp",
    "defenses/perturbation",
    "defenses/pram",
    "defenses/recoding",
    "defenses/synthetic",
    "metrics",
    "scenarios/games",
)


def snake_case(name):
    """Snake case of a class name: `MicrodataRelease` -> `microdata_release`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


@functools.cache
def exports(stub):
    """Names that a package's stub exports, by the file that each comes from."""
    files = {}
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            path = stub.parent.joinpath(*node.module.split(".")).with_suffix(".py")
            files.setdefault(path, []).extend(alias.name for alias in node.names)
    return files


@functools.cache
def exported_from():
    """Names that any stub exports, by the file that each comes from."""
    names = {}
    for stub in stubs():
        for path, exported in exports(stub).items():
            names.setdefault(path, set()).update(exported)
    return names


@functools.cache
def stubs():
    """Stubs of the packages and of families; those of `base` and `columns` gather names for the project's modules."""
    found = [path for package in PACKAGES for path in (ROOT / package).rglob("__init__.pyi")]
    return sorted(path for path in found if path.parent.name not in {"base", "columns"})


def namesake(path):
    """Class after which a module is named: its only export, or its only public class if it has no public function.

    A module of several functions bears the name of its idea; the answer is then None.
    """
    public = [
        node
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_")
    ]
    # The export counts where there is one.
    named = [node for node in public if node.name in exported_from().get(path, ())] or public
    return named[0].name if len(named) == 1 and isinstance(named[0], ast.ClassDef) else None


def hidden(path, name):
    """True if a module of this name would hide a function that a package above it exports."""
    above = [stub for stub in stubs() if stub.parent == path.parent]
    return any(name in names for stub in above for names in exports(stub).values())


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("package", PACKAGES)
def test_a_file_bears_the_name_of_its_only_class(package):
    for path in sorted((ROOT / package).rglob("*.py")):
        name = namesake(path)
        if name is None:
            continue
        file_name = snake_case(name)
        if hidden(path, file_name):
            file_name += "_defense"
        # DeFinetti and KMeans are one word each.
        same = path.stem.replace("_", "") == file_name.replace("_", "")
        assert same, f"{path.relative_to(ROOT)} holds {name} and should be named {file_name}.py"


@functools.cache
def same_name(base_name):
    """Test files of this base name."""
    return tuple((ROOT / "tests").rglob(base_name))


def path_of_test(module):
    """Path of a module's test: tests/<package>/<family>/test_<module>.py.

    Base names of test files must differ. The family's name precedes the module's where another test has the short name.
    """
    folder = ROOT / "tests" / module.relative_to(ROOT).parent
    path = folder / f"test_{module.stem}.py"
    taken = any(other != path for other in same_name(path.name))
    return folder / f"test_{module.parent.name}_{module.stem}.py" if taken else path


def test_base_names_of_tests_differ():
    """Two test files of one base name cannot be collected in one run."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert not {name for name in names if names.count(name) > 1}


@pytest.mark.thorough_beyond(8)
@pytest.mark.parametrize("package", TESTED_BY_PATH)
def test_the_test_of_a_method_is_found_by_its_path(package):
    folder = ROOT / package
    modules = {path for stub in stubs() for path in exports(stub) if path.is_relative_to(folder)}
    # Questions are tested through the games that ask them.
    modules = {path for path in modules if path.parent.name != "questions"}
    # A folder is exported where its own stub lists the modules.
    missing = sorted(
        str(path_of_test(path).relative_to(ROOT))
        for path in modules
        if path.is_file() and not path_of_test(path).is_file()
    )
    assert not missing, f"no test at {', '.join(missing)}"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("MicrodataRelease", "microdata_release"),
        ("PRAMMatrix", "pram_matrix"),
        ("Mdav", "mdav"),
        ("Top2Codes", "top2_codes"),
    ],
)
def test_snake_case(name, expected):
    assert snake_case(name) == expected
