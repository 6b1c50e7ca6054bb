"""``help(package)`` lists families with one line for each name."""

import importlib
import pydoc

import pytest
from overview_tools import COMMAND, PACKAGES, ROOT, families, written


@pytest.mark.parametrize("package", PACKAGES)
def test_help_lists_families_with_one_line_a_name(package):
    text = (ROOT / package / "__init__.py").read_text(encoding="utf-8")
    assert text == written(package), f"run `{COMMAND}`, which writes the list of names anew"


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_stands_in_help(package):
    module = importlib.import_module(package.replace("/", "."))
    shown = pydoc.plain(pydoc.getdoc(module))
    missing = [name for name in module.__all__ if f"    {name}: " not in shown]
    assert missing == []


@pytest.mark.parametrize("package", PACKAGES)
def test_names_of_a_family_come_from_its_folder(package):
    for family, names in families(package):
        if (ROOT / package / family).is_dir():
            assert {module.partition(".")[0] for module, _ in names} <= {family}


@pytest.mark.parametrize("package", ["attacks", "defenses"])
def test_a_folder_of_methods_is_a_family(package):
    folders = {path.parent.name for path in (ROOT / package).glob("*/__init__.py")}
    rooms = {module.partition(".")[0] for _, names in families(package) for module, _ in names}
    assert folders & rooms <= {family for family, _ in families(package)}


@pytest.mark.parametrize(
    ("heading", "module"), [("Longitudinal collection", "longitudinal"), ("Amplification by shuffling", "shuffling")]
)
def test_a_module_with_a_heading_of_its_own_has_all_its_names_below_it(heading, module):
    for family, names in families("defenses/ldp"):
        modules = {file for file, _ in names}
        assert modules == {module} if family.startswith(heading) else module not in modules
    assert any(family.startswith(heading) for family, _ in families("defenses/ldp"))
