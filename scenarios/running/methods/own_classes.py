"""Classes of a user's own code by ``module:Class``."""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from metrics.columns.printable import one_line
from scenarios.running.methods.code_places import foreign_place
from scenarios.tables.near_names import suggestion


def class_at(name: str) -> type[Any]:
    """The class that ``module:Class`` names; the current folder is searched last for the module.

    Raises
    ------
    ValueError
        If there is no such module or class, or the module ends the program where it is imported.
    """
    module_name, _, class_name = name.partition(":")
    if not module_name or not class_name:
        raise ValueError(f"{name!r} must name a module and a class, as in mymodule:MyClass")
    if "/" in module_name or module_name.endswith(".py"):
        file = Path(module_name)
        where = ", without .py" if file.parent == Path() else f", in the folder {file.parent}"
        raise ValueError(f"{name!r} must name a module, not a file: write {file.stem}:{class_name}{where}")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise ValueError(f"{name!r}: cannot import {module_name!r} ({error})") from None
    except SystemExit as end:
        raise ValueError(
            f"{name!r}: importing {module_name!r} ends the program (SystemExit: {one_line(end)}); call sys.exit only "
            f'below `if __name__ == "__main__":`{foreign_place(end)}'
        ) from None
    value = getattr(module, class_name, None)
    if not inspect.isclass(value):
        raise ValueError(f"{name!r}: {module_name!r} has no class {class_name!r}{_advice(module, class_name)}")
    return value


def file_advice(name: str) -> str:
    """The end of a message about a name that is none of a method: how to name a class in a file of the current folder.

    Parameters
    ----------
    name : str
        What was given instead of a method: the name of a file or of a class, such as ``mine``, ``mine.py`` or ``Mine``.

    Returns
    -------
    str
        Empty where the current folder has neither such a Python file, nor one with such a class.
    """
    file = Path(name if name.endswith(".py") else f"{name}.py")
    classes = _classes_of(file)
    if classes is not None:
        return f"; {file} is a file: write {' or '.join(_named(file, each) for each in classes or ['Class'])}"
    owners = [own for own in sorted(Path().glob("*.py")) if name in (_classes_of(own) or ())] if name else []
    return f"; write {' or '.join(_named(own, name) for own in owners)}" if owners else ""


def _classes_of(file: Path) -> list[str] | None:
    """Names of the classes of a Python file; None if it cannot be read as one."""
    try:
        statements = ast.parse(file.read_text(encoding="utf-8")).body
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        # The parser gives up on expressions that are nested deeply.
        return None
    return [node.name for node in statements if isinstance(node, ast.ClassDef)]


def _named(file: Path, class_name: str) -> str:
    return f"{'.'.join(file.with_suffix('').parts)}:{class_name}"


def _advice(module: ModuleType, class_name: str) -> str:
    """What a module has instead of a class, and whether it is the user's file at all."""
    loaded, own = getattr(module, "__file__", None), Path(*module.__name__.split(".")).with_suffix(".py")
    if own.is_file() and (loaded is None or not own.resolve().samefile(loaded)):
        return f"; Python found another module of this name ({loaded or 'built in'}); rename your file {own}"
    classes = [
        name for name, value in vars(module).items() if inspect.isclass(value) and value.__module__ == module.__name__
    ]
    return suggestion(class_name, classes) if classes else "; it has none"
