"""Writes a page for each public package: its names by family, and those that have no page of their own."""

import inspect
from pathlib import Path

import catalog
from docstring_text import rest
from method_pages import heading, link, table

from metrics.overview import docstring


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
        *(f"   {line}" for line in rest(docstring(package, name)).split("\n")),
        "",
    ]
