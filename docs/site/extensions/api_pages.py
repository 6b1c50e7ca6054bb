"""Writes a page for each public package: its names by family, and those that have no page of their own."""

import ast
import inspect
from pathlib import Path

import catalog
from docstring_text import rest
from method_pages import heading, link, table
from page_run import ROOT


def write(folder: Path) -> None:
    """Write ``api/PACKAGE.rst`` and the index."""
    target = folder / "api"
    target.mkdir(exist_ok=True)
    lines = [*heading("Python interface"), "The public names of each package.", ""]
    rows = []
    for package in catalog.API_PACKAGES:
        (target / f"{package}.rst").write_text("\n".join(_page(package)) + "\n", encoding="utf-8")
        rows.append([f":doc:`{package}`", rest(_overview(package))])
    lines += table(["package", "what it holds"], rows)
    lines += [".. toctree::", "   :hidden:", "", *(f"   {package}" for package in catalog.API_PACKAGES), ""]
    (target / "index.rst").write_text("\n".join(lines), encoding="utf-8")


def _overview(package: str) -> str:
    import importlib

    return (importlib.import_module(package).__doc__ or "").partition("\n")[0]


def _page(package: str) -> list[str]:
    pages = {entry.path: entry for kind in catalog.entries().values() for entry in kind if entry.path}
    lines = [*heading(package), rest(_overview(package)), ""]
    for title, names in catalog.families(package).items():
        lines += heading(rest(title), "-")
        rows, described = [], []
        for name in names:
            path = f"{package}.{name}"
            if catalog.home(name) != package:
                rows.append([rest(f"`{name}`"), rest(_summary(package, name))])
            elif path in pages:
                rows.append([link(pages[path]), rest(_summary(package, name))])
            else:
                described += _description(package, name)
        lines += table(["name", "what it is"], rows) if rows else []
        lines += described
    return lines


def _summary(package: str, name: str) -> str:
    return catalog.first_line(catalog.exports(package)[name])


def _description(package: str, name: str) -> list[str]:
    thing = catalog.exports(package)[name]
    if inspect.isclass(thing):
        return [f".. autoclass:: {package}.{name}", "   :members:", ""]
    if inspect.isroutine(thing):
        return [f".. autofunction:: {package}.{name}", ""]
    return [
        f".. py:data:: {package}.{name}",
        "",
        *(f"   {line}" for line in rest(_constant_text(package, name)).split("\n")),
        "",
    ]


def _constant_text(package: str, name: str) -> str:
    """The string below a constant in the module that defines it."""
    stub = ast.parse((ROOT / package.replace(".", "/") / "__init__.pyi").read_text(encoding="utf-8"))
    for node in stub.body:
        if isinstance(node, ast.ImportFrom) and any((alias.asname or alias.name) == name for alias in node.names):
            base = package if node.level else ""
            path = ROOT / ".".join(filter(None, [base, node.module])).replace(".", "/")
            text = path.with_suffix(".py").read_text(encoding="utf-8")
            return _string_after(ast.parse(text), name)
    return ""


def _string_after(module: ast.Module, name: str) -> str:
    for statement, following in zip(module.body, module.body[1:], strict=False):
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        is_text = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
        if is_text and any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return inspect.cleandoc(str(following.value.value))  # type: ignore[attr-defined]
    return ""
