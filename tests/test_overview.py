"""``help(package)`` lists families with one line for each name."""

import importlib
import inspect
import pydoc
from pathlib import Path

import pytest

from metrics.overview import ROOT, docstring, exports, title

STUBS = sorted(stub.parent.relative_to(ROOT) for stub in Path(ROOT).glob("[a-z]*/**/__init__.pyi"))
PACKAGES = [name for name in (".".join(folder.parts) for folder in STUBS) if exports(name)]


def test_the_five_packages_and_four_families_of_defenses_have_an_overview():
    families = {f"defenses.{name}" for name in ("dp", "federated", "ldp", "pram")}
    assert {"attacks", "defenses", *families, "leaderboard", "metrics", "scenarios"} == set(PACKAGES)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("package", PACKAGES)
def test_help_shows_every_name_with_its_first_line(package):
    module = importlib.import_module(package)
    shown = " ".join(pydoc.plain(pydoc.getdoc(module)).split())
    for name in module.__all__:
        line, _, _ = docstring(package, name).partition("\n")
        assert line, f"{package}.{name} has no docstring"
        assert f" {name}: {line}" in shown
        thing = getattr(module, name)
        if inspect.isclass(thing) or inspect.isroutine(thing):
            assert line == inspect.getdoc(thing).partition("\n")[0]


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("package", PACKAGES)
def test_help_shows_every_family_below_the_line_of_the_package(package):
    module = importlib.import_module(package)
    first, *blocks = module.__doc__.rstrip("\n").split("\n\n")
    assert first == vars(module)["__doc__"]
    assert [" ".join(block.partition("\n    ")[0].split()) for block in blocks] == [
        title(package, family) for family in exports(package)
    ]


@pytest.mark.thorough
def test_a_package_names_its_families_that_export_more():
    assert "    More names: help(defenses.dp)" in importlib.import_module("defenses").__doc__.splitlines()
    assert "help(defenses.base)" not in importlib.import_module("defenses").__doc__


@pytest.mark.parametrize("package", PACKAGES)
def test_names_of_a_family_come_from_its_folder(package):
    for family, modules in exports(package).items():
        if (ROOT.joinpath(*package.split(".")) / family).is_dir():
            rooms = {module.removeprefix(f"{package}.").partition(".")[0] for module in modules.values()}
            assert rooms <= {family}


@pytest.mark.parametrize("package", ["attacks", "defenses"])
def test_a_folder_of_methods_is_a_family(package):
    folders = {path.parent.name for path in (ROOT / package).glob("*/__init__.py")}
    rooms = {module.split(".")[1] for modules in exports(package).values() for module in modules.values()}
    assert folders & rooms <= set(exports(package))


@pytest.mark.parametrize(
    ("heading", "of_it"),
    [
        ("Longitudinal collection", lambda name, module: name.startswith("Longitudinal")),
        ("Amplification by shuffling", lambda name, module: module == "defenses.ldp.shuffling"),
    ],
)
def test_an_idea_with_a_heading_of_its_own_has_all_its_names_below_it(heading, of_it):
    families = exports("defenses.ldp")
    assert any(family.startswith(heading) for family in families)
    for family, modules in families.items():
        for name, module in modules.items():
            assert of_it(name, module) == family.startswith(heading)
