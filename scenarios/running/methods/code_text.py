"""Source code without docstrings and comments."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def code_text(source: str, tree: ast.Module | None = None) -> str:
    """Lines of a module without docstrings, lines of comment and empty lines.

    Two sources with equal code text run alike, and new words in docstrings change nothing. Comments after code stay.

    Parameters
    ----------
    source : str
        A module's source.
    tree : ast.Module, optional
        Its syntax tree, if it is known already.

    Raises
    ------
    SyntaxError
        If it is not Python.
    """
    tree, lines = tree or ast.parse(source), source.split("\n")
    documented: set[int] = set()
    for node in _statements(tree):
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


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
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
