"""Fingerprints of a trial's dependencies: hashes of sources, and package versions."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from defenses.base import Parametrized
from leaderboard.results.result import canonical
from scenarios.running.methods.former_modules import PACKAGES as PACKAGES
from scenarios.running.methods.source_locations import is_installed

# Source code without docstrings and comments.


def normalized_source(source: str, tree: ast.Module | None = None) -> str:
    """Lines of a module without docstrings, lines of comment and empty lines.

    Two sources with the same such lines run alike, and new words in docstrings change nothing. Comments after code
    stay. A source that is not Python raises a SyntaxError. `tree` is its syntax tree, if it is known already.
    """
    tree, lines = tree or ast.parse(source), source.split("\n")
    documented: set[int] = set()
    for node in _text_statements(tree):
        if isinstance(node, ast.Expr) and _is_text(node.value) and _stands_alone(node, lines):
            documented.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    rest = [line for number, line in enumerate(lines, 1) if number not in documented]
    # The lines of a text may look like comments.
    has_long_texts = any(mark in line for line in rest for mark in ('"""', "'''")) or any(
        line.endswith(("\\", "\\\r")) for line in rest
    )
    inside_text = _lines_inside_text(tree) if has_long_texts else set()
    return "\n".join(
        line.rstrip("\r")
        for number, line in enumerate(lines, 1)
        if number not in documented and (number in inside_text or (line.strip() and not line.lstrip().startswith("#")))
    )


def _text_statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """All statements that can be docstrings: those in bodies of modules, classes and functions."""
    waiting: list[ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef] = [tree]
    while waiting:
        for statement in waiting.pop().body:
            yield statement
            if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                waiting.append(statement)


def _lines_inside_text(tree: ast.Module) -> set[int]:
    """Numbers of the lines that a text over several lines covers, without its first."""
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) or _is_text(node):
            first, last = node.lineno, node.end_lineno or node.lineno  # type: ignore[attr-defined]
            inside.update(range(first + 1, last + 1))
    return inside


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)


def _stands_alone(node: ast.Expr, lines: list[str]) -> bool:
    """Whether there is nothing else on the lines of a statement; columns count bytes."""
    before = lines[node.lineno - 1].encode()[: node.col_offset]
    after = lines[(node.end_lineno or node.lineno) - 1].encode()[node.end_col_offset :]
    return not before.strip() and not after.strip()


NUMERIC = ("numpy", "pandas", "scipy", "scikit-learn", "cvxopt", "dp-accounting", "rapidfuzz")
"""Packages whose computations enter results."""

IMPORT_BY_NAME = "import_module"
"""Function that imports a module by its name."""


def digest(content: Any) -> str:
    """SHA-256 hash of JSON content, 64 hexadecimal digits."""
    return hashlib.sha256(canonical(content).encode()).hexdigest()


@cache
def versions() -> dict[str, str]:
    """Versions of the packages in `NUMERIC`."""
    return {name: metadata.version(name) for name in NUMERIC}


def sources(method: Any) -> dict[str, str]:
    """Hash of the code of every module that a method depends on.

    These are the modules of its class and of the methods among its parameters. Modules of the project or of the user's
    code that they import, directly or indirectly, count too. Names are sorted.
    """
    return closure(modules(method))


def modules(method: Any) -> tuple[str, ...]:
    """Modules of the classes of a method, or of several, and of the methods among their parameters."""
    return tuple(sorted({type(part).__module__ for part in parts_of(method)}))


def closure(names: Iterable[str]) -> dict[str, str]:
    """Hash of the code of these modules and of all project or user modules that they import.

    Imports within functions count, and so does ``import_module`` with a plain name. A name that is computed, and a file
    that code reads, cannot be seen. Docstrings and lines of comment do not count: new words leave results as they are.
    """
    seen: dict[str, str] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in seen and source_file(name):
            seen[name], imported = _read(name)
            waiting += imported
    return dict(sorted(seen.items()))


def code_hash(source: str, tree: ast.Module | None = None) -> str:
    """Hash of a module's source without docstrings and comments, 64 hexadecimal digits; see `normalized_source`."""
    return hashlib.sha256(normalized_source(source, tree).encode()).hexdigest()


def look_again() -> None:
    """Look for changed files the next time that something is hashed; between two calls, files count as unchanged."""
    importlib.invalidate_caches()
    for cached in (_read, source_file, _exports):
        cached.cache_clear()


def parts_of(value: Any) -> Iterator[Parametrized]:
    """A method and the methods among its parameters, itself first, or all methods in a list or mapping."""
    if isinstance(value, Parametrized):
        yield value
        value = value.get_params()
    if isinstance(value, Mapping):
        value = list(value.values())
    for part in value if isinstance(value, list | tuple) else ():
        yield from parts_of(part)


@cache
def _read(module: str) -> tuple[str, tuple[str, ...]]:
    """Hash of a module's code, and the modules that it imports."""
    file = source_file(module)
    state = Path(file).stat()
    code, statements = _parsed(file, state.st_mtime_ns, state.st_size)
    return code, tuple(dict.fromkeys(_imports(module, statements)))


@cache
def _parsed(file: str, modified: int, size: int) -> tuple[str, tuple[ast.Import | ast.ImportFrom, ...]]:
    """Hash of a file's code, and its import statements; a file is read again once its time or its size is another."""
    source = Path(file).read_text(encoding="utf-8")
    tree = ast.parse(source)
    code = code_hash(source, tree)
    statements = [node for node in _statements(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    # Few modules import by name: the expressions of the others need no visit.
    return code, (*statements, *(_imports_by_name(tree) if IMPORT_BY_NAME in source else ()))


def _imports_by_name(tree: ast.AST) -> Iterator[ast.Import]:
    """Calls such as ``importlib.import_module("helper")`` as import statements."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and len(node.args) == 1 and isinstance(node.args[0], ast.Constant):
            name = node.args[0].value
            if ast.unparse(node.func).rpartition(".")[2] == IMPORT_BY_NAME and isinstance(name, str):
                yield ast.Import([ast.alias(name)])


def _imports(module: str, statements: Iterable[ast.Import | ast.ImportFrom]) -> Iterator[str]:
    """Modules that a module imports, including the modules of names imported from packages.

    A lazy package names the module of each export in its stub. If such a package is imported as a whole, all of these
    modules count.
    """
    package = module if Path(source_file(module)).name == "__init__.py" else module.rpartition(".")[0]
    for node in statements:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from (alias.name, *_exports(alias.name).values())
        else:
            origin = _absolute(node, package)
            exports = _exports(origin)
            yield origin
            for alias in node.names:
                name = f"{origin}.{alias.name}"
                yield from exports.values() if alias.name == "*" else [exports.get(alias.name, name)]
                yield from _exports(name).values()


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements of a module, also those within others; expressions are passed over."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield child
            yield from _statements(child)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    """Absolute name of the module in a ``from`` statement."""
    if not node.level:
        return node.module or ""
    parents = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*parents, *([node.module] if node.module else [])])


@cache
def _exports(package: str) -> dict[str, str]:
    """Module of each name that a package's stub exports; empty without a stub."""
    file = Path(source_file(package))
    stub = file.parent / "__init__.pyi"
    if file.name != "__init__.py" or not stub.is_file():
        return {}
    return {
        alias.asname or alias.name: f"{package}.{node.module}"
        for node in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module
        for alias in node.names
    }


@cache
def source_file(module: str) -> str:
    """Source file of a project or user module; empty for an installed or missing module."""
    top = module.partition(".")[0]
    own = top in PACKAGES
    try:
        # To find a submodule is to import its parents: of an installed package that would take seconds.
        spec = importlib.util.find_spec(top)
        if top != module and (own or not (spec and spec.origin and is_installed(spec.origin))):
            spec = importlib.util.find_spec(module)
    except (ImportError, AttributeError, ValueError):
        return ""
    origin = spec.origin if spec else None
    if not origin or not origin.endswith(".py"):
        return ""
    return origin if own or not is_installed(origin) else ""


# Which code is the project's, and which a user's.


def is_project_module(module: str) -> bool:
    """Whether a module belongs to the project, or is one of Python's built-in ones."""
    return module.partition(".")[0] in (*PACKAGES, "builtins", "abc")


def is_user_defined(method: Any) -> bool:
    """Whether a class of a method or of a method among its parameters is not the project's."""
    return not all(is_project_module(module) for module in modules(method))
