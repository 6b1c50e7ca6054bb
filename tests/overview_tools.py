"""Module docstrings of the five packages and of four folders of defenses: families and names, one line each.

The stub ``__init__.pyi`` gives the order: a comment opens a family, and the imports below it are the family's names.
The lines come from docstrings. ``python tests/overview_tools.py`` writes the overviews anew.
"""

import ast
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = (
    "metrics",
    "defenses",
    "defenses/dp",
    "defenses/ldp",
    "defenses/pram",
    "defenses/federated",
    "attacks",
    "leaderboard",
    "scenarios",
)
"""Folders with a stub; a folder of defenses exports more names than `defenses` does."""
COMMAND = "python tests/overview_tools.py"
WIDTH = 116


def first_line(text):
    """First line of a docstring."""
    return text.strip().partition("\n")[0].strip()


def docstring_of(module, name):
    """First docstring line of a class, function or constant in a module's file; nothing is imported."""
    statements = ast.parse(module.read_text(encoding="utf-8")).body
    for number, node in enumerate(statements):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            text = ast.get_docstring(node)
            assert text, f"{module.relative_to(ROOT)}: {name} has no docstring"
            return first_line(text)
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            after = statements[number + 1]
            assert isinstance(after, ast.Expr), f"{module.relative_to(ROOT)}: {name} needs a string below it"
            return first_line(after.value.value)
        if isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names):
            return docstring_of(file_of(node.module), name)
    raise AssertionError(f"{module.relative_to(ROOT)} does not define {name}")


def file_of(*parts):
    """File of a module of the project, of which the dotted name is given in parts."""
    path = ROOT / Path(*".".join(parts).split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def families(package):
    """List of (comment, [(module, name), ...]) in the order of the stub."""
    text = (ROOT / package / "__init__.pyi").read_text(encoding="utf-8")
    opened = [(number, line[2:]) for number, line in enumerate(text.splitlines(), 1) if line.startswith("# ")]
    groups = {number: (comment, []) for number, comment in opened}
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom):
            above = [number for number in groups if number < node.lineno]
            assert above, f"{package}/__init__.pyi: {node.module} stands below no comment that names its family"
            groups[max(above)][1].extend((node.module, alias.name) for alias in node.names)
    return list(groups.values())


def paragraph(text, indent):
    """Wrapped lines; those after the first are indented further."""
    options = {"break_long_words": False, "break_on_hyphens": False}
    return textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=f"{indent}    ", **options)


def overview(package):
    """The part of a package's docstring below its first line."""
    blocks = []
    for comment, names in families(package):
        folder = ROOT / package / comment
        heading = comment
        if folder.is_dir():
            heading = first_line(ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))))
        lines = [textwrap.fill(heading, WIDTH)]
        lines += [
            paragraph(f"{name}: {docstring_of(file_of(f'{package}.{module}'), name)}", "    ")
            for module, name in sorted(names, key=lambda pair: pair[1].lower())
        ]
        if f"{package}/{comment}" in PACKAGES:
            lines.append(f"    More names: help({package}.{comment})")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def written(package):
    """The text of a package's ``__init__.py`` with the overview that it should have."""
    path = ROOT / package / "__init__.py"
    text = path.read_text(encoding="utf-8")
    node = ast.parse(text).body[0]
    title = first_line(node.value.value)
    body = overview(package)
    quote = 'r"""' if "\\" in body else '"""'
    rest = "\n".join(text.splitlines()[node.end_lineno :])
    return f'{quote}{title}\n\n{body}\n"""\n{rest}\n'


def main():
    """Write every overview that differs."""
    for package in PACKAGES:
        path = ROOT / package / "__init__.py"
        if path.read_text(encoding="utf-8") != written(package):
            path.write_text(written(package), encoding="utf-8")
            print(f"{path.relative_to(ROOT)} written")


if __name__ == "__main__":
    main()
