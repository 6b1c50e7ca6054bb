"""Overviews that ``help(package)`` shows: families and names with one line each, read from the sources on demand.

A stub ``__init__.pyi`` gives the order: a comment opens a family, and the imports below it are the family's names.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import lazy_loader

ROOT = Path(__file__).parents[1]
WIDTH = 116


class OverviewedPackage(ModuleType):
    """A package whose docstring is its own line, with the overview of its names below it."""

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        """The package's line and its overview."""
        return f"{_docstring(_file_of(self.__name__))}\n\n{overview(self.__name__)}\n"


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
        lines = [fill(title(package, comment), WIDTH)]
        lines += [_line(name, _docstring(_file_of(module), name)) for name, module in modules.items()]
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
    return _docstring(folder / "__init__.py").partition("\n")[0] if folder.is_dir() else comment


def docstring(package: str, name: str) -> str:
    """What the sources say about a class, a function or a constant that a package exports."""
    modules = {name: module for names in exports(package).values() for name, module in names.items()}
    return _docstring(_file_of(modules[name]), name)


def _docstring(file: Path, name: str | None = None) -> str:
    """Docstring of a module, or of what it defines or imports by a name; empty if there is none."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    if name is None:
        return ast.get_docstring(tree) or ""
    for node, following in zip(tree.body, [*tree.body[1:], None], strict=True):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            return ast.get_docstring(node) or ""
        if isinstance(node, ast.ImportFrom) and node.module and name in {alias.name for alias in node.names}:
            return _docstring(_file_of(node.module), name)
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if name in {target.id for target in targets if isinstance(target, ast.Name)}:
            # A string below a constant is to it what a docstring is to a module.
            return ast.get_docstring(ast.Module([following], [])) or "" if following else ""
    return ""


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
