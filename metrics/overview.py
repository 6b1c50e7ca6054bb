"""Overviews that ``help(package)`` shows: families and names with one line each, read from the sources on demand.

A stub ``__init__.pyi`` gives the order: a comment opens a family, and the imports below it are the family's names.
"""

from __future__ import annotations

import ast
import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import lazy_loader

ROOT = Path(__file__).parents[1]
WIDTH = 116


class OverviewedPackage(ModuleType):
    """A package whose docstring is its own line, with the overview of its names below it."""

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        """The package's line and its overview."""
        return f"{_module_docstring(_file_of(self.__name__))}\n\n{overview(self.__name__)}\n"


def attach_exports(package: str, file: str) -> Any:
    """Return a package's `__getattr__`, `__dir__` and `__all__` by its stub, and show its overview in its docstring."""
    sys.modules[package].__class__ = OverviewedPackage
    return lazy_loader.attach_stub(package, file)


def overview(package: str) -> str:
    """Titles of a package's families, with the first line of the docstring of each name; nothing is imported."""
    # `import defenses` needs neither textwrap nor inspect.
    from textwrap import fill

    blocks = []
    for comment, modules in exports(package).items():
        described = (_line(name, _docstring(module, name)) for name, module in modules.items())
        lines = [fill(title(package, comment), WIDTH), *described]
        if exports(f"{package}.{comment}"):
            lines.append(f"    More names: help({package}.{comment})")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def exports(package: str) -> dict[str, dict[str, str]]:
    """Exported names in alphabetical order, with their modules, by the comment that opens their family.

    - package: Dotted name of the package. The answer is empty if it has no stub, or one without such comments.
    """
    stub = _file_of(package).with_suffix(".pyi")
    text = stub.read_text(encoding="utf-8") if stub.is_file() else ""
    comments = {number: line[2:] for number, line in enumerate(text.splitlines(), 1) if line.startswith("# ")}
    found: dict[str, dict[str, str]] = {comment: {} for comment in comments.values()}
    for node in ast.parse(text).body:
        above = [comment for number, comment in comments.items() if number < node.lineno]
        if isinstance(node, ast.ImportFrom) and above:
            found[above[-1]].update({alias.name: f"{package}.{node.module}" for alias in node.names})
    return {comment: dict(sorted(names.items(), key=lambda one: one[0].lower())) for comment, names in found.items()}


def title(package: str, comment: str) -> str:
    """Title of a family: the docstring of the folder that its comment names, or else the comment."""
    folder = _file_of(package).parent / comment
    return _module_docstring(folder / "__init__.py").partition("\n")[0] if folder.is_dir() else comment


def docstring(package: str, name: str) -> str:
    """What the sources say about a class, a function or a constant that a package exports."""
    return _docstring(_modules(package)[name], name)


class SourceClass(NamedTuple):
    """What the source says about a class; only its head is parsed, which takes a tenth of the time.

    - head: The class up to its first method.
    - members: Decorators and name of each method, and the names of constants with empty decorators.
    - called: Names by which the field knows the class itself.
    - bases: Classes of the project from which it inherits, the nearest first.
    """

    head: ast.ClassDef
    members: tuple[tuple[str, str], ...]
    called: tuple[str, ...]
    bases: tuple[SourceClass, ...]

    @property
    def line(self) -> str:
        """First line of its docstring, or else of the nearest that it inherits."""
        return next(filter(None, (_first_line(one.head) for one in (self, *self.bases))), "")

    @property
    def abstract(self) -> bool:
        """Whether some abstract method is not defined."""
        members = {member for one in (self, *self.bases) for member in one.members}
        defined = {name for decorators, name in members if "@abstractmethod" not in decorators}
        return bool({name for _, name in members} - defined)


def classes(package: str, contract: str) -> dict[str, SourceClass]:
    """Classes below a base class, `contract`, that a package exports and that are not abstract; nothing is imported."""
    found = {name: source_class(module, name) for name, module in _modules(package).items()}
    return {
        name: one
        for name, one in found.items()
        if one and contract in {base.head.name for base in one.bases} and not one.abstract
    }


def functions(package: str, *left_out: str) -> dict[str, str]:
    """First docstring line of each function that a package exports, those of some modules left out."""
    sources = {name: _source(module, name) for name, module in _modules(package).items()}
    return {
        name: _first_line(node)
        for name, (module, text) in sources.items()
        for node in ast.parse(text).body[:1]
        if isinstance(node, ast.FunctionDef) and module not in left_out
    }


def _first_line(node: ast.ClassDef | ast.FunctionDef) -> str:
    return (ast.get_docstring(node, clean=False) or "").partition("\n")[0]


@cache
def source_class(module: str, name: str) -> SourceClass | None:
    """A class that a module defines, or imports from another module of the project; None if there is none."""
    home, text = _source(module, name)
    if not text.startswith("class"):
        return None
    head, *_ = re.split(r"^    (?:def |@)", text, maxsplit=1, flags=re.MULTILINE)
    node = ast.parse(f"{head}\n    pass").body[0]
    assert isinstance(node, ast.ClassDef)  # noqa: S101 (the text begins with `class`)
    named = re.findall(r"\w+", " ".join(map(ast.unparse, node.bases)))
    parents = [source_class(home, base) for base in named if base != name]
    members = re.findall(r"^((?:    @.*\n)*)    (?:def )?(\w+)(?:\(|(?:: .+)? = )", text, re.MULTILINE)
    called = re.search(r"^    called(?:: .+)? = (\(.*?\))$", text, re.MULTILINE | re.DOTALL)
    names = ast.literal_eval(called[1]) if called else ()
    return SourceClass(node, tuple(members), names, tuple(base for one in parents if one for base in (one, *one.bases)))


@cache
def _source(module: str, name: str) -> tuple[str, str]:
    """Module and text of what a module defines, or imports from the project, by a name; the text may be empty."""
    statements = _statements(module)
    for dot, origin, names in re.findall(r"^from (\.?)([\w.]*) import (\([^)]*\)|.*)$", statements[""], re.MULTILINE):
        if name in re.findall(r"\w+", names):
            return _source(f"{module}.{origin}" if dot else origin, name)
    return module, statements.get(name, "")


@cache
def _statements(module: str) -> dict[str, str]:
    """Text of each class, function and constant of a module by name, and of its imports by the empty name."""
    # A package says in its stub where its names stand.
    file = _file_of(module)
    stub = file.with_suffix(".pyi")
    text = next((path.read_text(encoding="utf-8") for path in (stub, file) if path.is_file()), "")
    # A string below a constant belongs to it.
    parts = re.split(r"^(?=[^\s)\]}\"])", text, flags=re.MULTILINE)
    names = (re.match(r"(?:class |def )(\w+)|(\w+)(?:: .+?)? = ", part) for part in parts)
    named = {name[1] or name[2]: part for name, part in zip(names, parts, strict=True) if name}
    return {**named, "": "".join(part for part in parts if part.startswith("from "))}


def _modules(package: str) -> dict[str, str]:
    """Module of each name that a package exports."""
    return {name: module for names in exports(package).values() for name, module in names.items()}


def _docstring(module: str, name: str) -> str:
    """Docstring of what a module defines or imports by a name; empty if there is none."""
    body = ast.parse(_source(module, name)[1]).body
    if body and isinstance(body[0], ast.ClassDef | ast.FunctionDef):
        return ast.get_docstring(body[0]) or ""
    # A string below a constant is to it what a docstring is to a module.
    return ast.get_docstring(ast.Module(body[1:], [])) or ""


def _module_docstring(file: Path) -> str:
    return ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""


def _file_of(module: str) -> Path:
    """Source file of a module or a package of the project."""
    path = ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _line(name: str, text: str) -> str:
    """A name with the first line of its docstring."""
    from textwrap import indent, wrap

    line, _, _ = f"{name}: {text}".partition("\n")
    wrapped = wrap(line, WIDTH - 4, subsequent_indent=" " * 4, break_long_words=False, break_on_hyphens=False)
    return indent("\n".join(wrapped), " " * 4)
