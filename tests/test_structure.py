"""The structure of the project holds: floors, exports, one owner of the top-level names."""

import ast
import importlib
import statistics
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import tokumei

ROOT = Path(__file__).parents[1]
FLOORS = {
    "metrics": set(),
    "defenses": {"metrics"},
    "leaderboard": {"metrics"},
    "attacks": {"defenses", "metrics"},
    "scenarios": {"leaderboard", "attacks", "defenses", "metrics"},
}
# Families that every other family of their package may import.
GROUND = {"defenses": {"base", "dp", "ldp"}, "attacks": {"base"}}
# Rooms of `scenarios` from the ground up; a room imports itself and those before it.
ROOMS = ("tables", "datasets", "games", "running", "assessment", "tournament", "checks", "studies", "commands")
MEDIAN, LONGEST, LARGEST_FOLDER = 250, 800, 25


@cache
def imports_and_classes(path):
    """Import statements of a module, and the names of its classes; several tests ask for those of all modules."""
    nodes = list(statements(ast.parse(path.read_text(encoding="utf-8")).body))
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    return imports, [node.name for node in nodes if isinstance(node, ast.ClassDef)]


def statements(block):
    """Statements of a block and of all blocks within it; expressions hold none."""
    for node in block:
        yield node
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from statements(getattr(node, name, ()))


def imported(path):
    for node in imports_and_classes(path)[0]:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif node.module:
            yield node.module


def families_imported(path, package):
    """Families of the package that a module imports, also by a name that the package itself exports."""
    for node in imports_and_classes(path)[0]:
        names = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            # A relative import of one level is of the module's own folder, of more levels of a folder above it.
            above = path.relative_to(ROOT).parts[: -node.level] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            names = [f"{module}.{name}" for name in names] if module == package else [module]
        for name in names:
            top, _, rest = name.partition(".")
            if top == package:
                yield exporting_family(package, rest.partition(".")[0]) if rest else "the whole package"


def exporting_family(package, name):
    """The family of an exported name; a name that the package does not export is a family's own."""
    modules = {
        alias.asname or alias.name: node.module or alias.name
        for node in imports_and_classes(ROOT / package / "__init__.pyi")[0]
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    return modules.get(name, name).removeprefix(f"{package}.").partition(".")[0]


@pytest.mark.parametrize("package", FLOORS)
def test_imports_go_down_only(package):
    for path in sorted((ROOT / package).rglob("*.py")):
        for name in imported(path):
            top = name.partition(".")[0]
            if top in FLOORS and top != package:
                assert top in FLOORS[package], f"{path.relative_to(ROOT)} imports {name}, which is not below {package}"


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_none_above_it(room):
    above = tuple(f"scenarios.{name}" for name in ROOMS[ROOMS.index(room) + 1 :])
    for path in sorted((ROOT / "scenarios" / room).rglob("*.py")):
        for name in imported(path):
            assert ".".join(name.split(".")[:2]) not in above, f"{path.relative_to(ROOT)} imports {name}, a room above"


def test_scenarios_has_no_room_besides():
    folders = {path.parent.name for path in (ROOT / "scenarios").glob("*/__init__.py")}
    assert folders == set(ROOMS)
    assert [path.name for path in (ROOT / "scenarios").glob("*.py")] == ["__init__.py"]


def test_a_folder_shows_at_a_glance():
    files = [path.parent for package in FLOORS for path in (ROOT / package).rglob("*.py")]
    sizes = {folder: files.count(folder) for folder in set(files) if folder.name != "commands"}
    largest = max(sizes, key=sizes.__getitem__)
    assert sizes[largest] <= LARGEST_FOLDER, f"{largest.relative_to(ROOT)} holds {sizes[largest]} modules"


def test_attacks_know_the_contract_of_defenses_and_no_concrete_one():
    for path in sorted((ROOT / "attacks").rglob("*.py")):
        for name in imported(path):
            if name == "defenses" or name.startswith("defenses."):
                contract = f"{name}.".startswith("defenses.base.")
                assert contract, f"{path.relative_to(ROOT)} imports {name}, not the contract"


@pytest.mark.parametrize("package", GROUND)
def test_a_family_imports_no_sister(package):
    for path in sorted((ROOT / package).rglob("*.py")):
        parts = path.relative_to(ROOT / package).parts
        if len(parts) == 1:
            continue
        allowed = {parts[0]} if parts[0] == "base" else {parts[0], *GROUND[package]}
        for family in families_imported(path, package):
            assert family in allowed, f"{path.relative_to(ROOT)} imports {family}, a sister family"


@pytest.mark.parametrize(
    ("line", "families"),
    [
        ("import defenses", ["the whole package"]),
        ("from defenses import Mondrian, Identity", ["grouping", "perturbation"]),
        ("from defenses import recoding", ["recoding"]),
        ("from defenses import *", ["*"]),
        ("import defenses.recoding.number_coding", ["recoding"]),
        ("from defenses.base.defense import Defense", ["base"]),
        ("from . import anatomy", ["grouping"]),
        ("from .anatomy import Anatomy", ["grouping"]),
        ("from .. import recoding", ["recoding"]),
        ("from ..recoding.rounding import Rounding", ["recoding"]),
        ("from metrics import risk", []),
    ],
)
def test_every_form_of_import_names_its_family(line, families, tmp_path, monkeypatch):
    folder = tmp_path / "defenses" / "grouping"
    folder.mkdir(parents=True)
    stub = (ROOT / "defenses" / "__init__.pyi").read_text(encoding="utf-8")
    (tmp_path / "defenses" / "__init__.pyi").write_text(stub, encoding="utf-8")
    (folder / "module.py").write_text(line, encoding="utf-8")
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    assert list(families_imported(folder / "module.py", "defenses")) == families


def test_no_class_name_is_defined_twice():
    places = {}
    for path in sorted(path for package in FLOORS for path in (ROOT / package).rglob("*.py")):
        for name in imports_and_classes(path)[1]:
            if not name.startswith("_"):
                places.setdefault(name, []).append(str(path.relative_to(ROOT)))
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_no_module_imports_itself_in_a_circle():
    modules = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): set(imported(path))
        for package in FLOORS
        for path in (ROOT / package).rglob("*.py")
        if path.name != "__init__.py"
    }
    graph = {name: names & set(modules) for name, names in modules.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


@pytest.mark.parametrize("package", GROUND)
def test_methods_live_in_families(package):
    assert [path.name for path in (ROOT / package).glob("*.py")] == ["__init__.py"]


def test_modules_are_small():
    sizes = {
        path.relative_to(ROOT): len(path.read_text(encoding="utf-8").splitlines())
        for package in FLOORS
        for path in (ROOT / package).rglob("*.py")
        if path.name != "__init__.py"
    }
    assert statistics.median(sizes.values()) <= MEDIAN
    longest = max(sizes, key=sizes.__getitem__)
    assert sizes[longest] <= LONGEST, f"{longest} has {sizes[longest]} lines"


@pytest.mark.parametrize("package", FLOORS)
def test_all_holds(package):
    module = importlib.import_module(package)
    stub = ast.parse((ROOT / package / "__init__.pyi").read_text(encoding="utf-8"))
    stubbed = [alias.name for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert sorted(module.__all__) == sorted(stubbed)
    assert stubbed == sorted(set(stubbed), key=stubbed.index)
    assert module.__distribution__ == "tokumei"
    for name in module.__all__:
        thing = getattr(module, name)
        assert (getattr(thing, "__doc__", None) or "").strip(), f"{package}.{name} has no docstring"
        assert name in dir(module)


def test_no_module_hides_an_export():
    for stub in (path for package in FLOORS for path in (ROOT / package).rglob("__init__.pyi")):
        for node in ast.parse(stub.read_text(encoding="utf-8")).body:
            for alias in node.names if isinstance(node, ast.ImportFrom) else ():
                assert not (stub.parent / f"{alias.name}.py").exists(), f"{stub}: {alias.name} is hidden by a module"


def test_names_of_one_room_are_one_import():
    """A module names once what it takes of another room, if the room's stub exports the names."""
    exported = {
        ".".join(stub.parent.relative_to(ROOT).parts): {
            alias.name for node in imports_and_classes(stub)[0] for alias in node.names
        }
        for package in FLOORS
        for stub in (ROOT / package).rglob("__init__.pyi")
    }
    for path in (path for package in FLOORS for path in (ROOT / package).rglob("*.py")):
        taken = set()
        for node in imports_and_classes(path)[0]:
            if not isinstance(node, ast.ImportFrom) or node.col_offset or any(alias.asname for alias in node.names):
                continue
            room = max((room for room in exported if f"{node.module}.".startswith(f"{room}.")), key=len, default="")
            inside = ROOT.joinpath(*room.split(".")) in path.parents
            if room and not inside and {alias.name for alias in node.names} <= exported[room]:
                assert room not in taken, f"{path.relative_to(ROOT)}: {node.module}: import from {room}, once"
                taken.add(room)


@pytest.mark.parametrize("package", FLOORS)
def test_packages_load_light(package):
    code = f"import sys, {package}; print(sorted(set(sys.modules) & {{'numpy', 'pandas', 'scipy', 'sklearn'}}))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert result.stdout.strip() == "[]"


def test_an_intruder_is_named(tmp_path):
    (tmp_path / "metrics.py").write_text("raise SystemExit('ran')")
    code = "import sys; sys.path.insert(0, sys.argv[1]); import tokumei; tokumei.main()"
    result = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert str(tmp_path / "metrics.py") in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_folder_without_init_is_an_intruder_too(tmp_path, monkeypatch):
    monkeypatch.setattr(tokumei, "find_spec", lambda name: None)
    assert "missing" in tokumei.intruder()


def test_no_intruder_here():
    assert tokumei.intruder() is None
