"""Whether the code that this process has loaded is that of its files, which worker processes load."""

from __future__ import annotations

import ast
import sys
import types
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from importlib.machinery import SourceFileLoader
from inspect import unwrap
from pathlib import Path
from typing import Any

from metrics.columns import require
from scenarios.running.methods.fingerprint import (
    PACKAGES,
    closure,
    code_hash,
    look_again,
    modules,
    parts_of,
    source_file,
)
from scenarios.running.plan import Plan

# What of a loaded module is not as its file has it.

Shape = tuple[Any, ...]
_ABSENT = object()
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def difference(module: types.ModuleType) -> str | None:
    """Name of a function, a class or a plain value of a loaded module that differs from its file.

    Compared are the code of functions, their defaults, and constants of the module and its classes. Words in docstrings
    and comments do not count. Modules that are loaded in another way than from their file are not compared. The name is
    such as ``Own.run``, None if nothing differs.
    """
    spec = module.__spec__
    # Some loaders rewrite what they load, as that of pytest does.
    if spec is None or type(spec.loader) is not SourceFileLoader or not spec.origin:
        return None
    source = Path(spec.origin).read_text(encoding="utf-8")
    shapes: dict[str, list[Shape]] = {}
    for code in _codes(compile(source, spec.origin, "exec", dont_inherit=True)):
        shapes.setdefault(code.co_qualname, []).append(_shape(code))
    for name, code in _loaded(vars(module), module.__name__, spec.origin):
        if _shape(code) not in shapes.get(code.co_qualname, []):
            return name
    tree = ast.parse(source)
    declared = {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
    return _body_difference(tree.body, vars(module), "", declared)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Code objects within one, itself left out."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _codes(constant)


def _shape(code: types.CodeType) -> Shape:
    """What a function does, without its docstring and its lines."""
    constants = code.co_consts[1:] if code.co_consts and isinstance(code.co_consts[0], str) else code.co_consts
    # Equal numbers of different types are different constants.
    parts = [_shape(one) if isinstance(one, types.CodeType) else (type(one), one) for one in constants]
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    return (code.co_code, *names, *counts, [part for part in parts if part != (types.NoneType, None)])


def _loaded(namespace: Mapping[str, Any], module: str, file: str) -> Iterator[tuple[str, types.CodeType]]:
    """Functions of a file in a loaded module and its classes, each with a name for messages."""
    for name, value in namespace.items():
        if isinstance(value, type):
            if value.__module__ == module and value.__name__ == name:
                for inner, code in _loaded(vars(value), module, file):
                    yield f"{name}.{inner}", code
            continue
        for function in (value, *(getattr(value, each, None) for each in ("__func__", "fget", "fset", "func"))):
            found: Any = getattr(unwrap(function) if callable(function) else None, "__code__", None)
            if isinstance(found, types.CodeType) and found.co_filename == file:
                yield name, found


def _body_difference(body: list[ast.stmt], namespace: Mapping[str, Any], prefix: str, declared: set[str]) -> str | None:
    """Name of a function, a class or a constant of a body that is absent from a namespace or has another value."""
    names = Counter(name for node in body for name in _bound(node))
    for node in body:
        for name in _bound(node):
            if names[name] > 1 or name in declared:
                continue
            value = namespace.get(name, _ABSENT)
            if isinstance(node, ast.ClassDef | _Function) and value is _ABSENT:
                return prefix + name
            if isinstance(node, ast.ClassDef):
                if isinstance(value, type) and (inner := _body_difference(node.body, vars(value), f"{name}.", set())):
                    return prefix + inner
            elif isinstance(node, _Function):
                if isinstance(value, types.FunctionType) and not _has_defaults(unwrap(value), node.args):
                    return prefix + name
            elif isinstance(node, ast.Assign | ast.AnnAssign) and not _has_value(value, node.value):
                return prefix + name
    return None


def _bound(node: ast.stmt) -> list[str]:
    """Names that a statement binds, if it defines a function or a class, or assigns a value to names."""
    if isinstance(node, _Function | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign | ast.AugAssign) and isinstance(node.target, ast.Name):
        # A name that is only annotated has no value; one that is changed later has another.
        return [node.target.id] * (2 if isinstance(node, ast.AugAssign) else node.value is not None)
    return []


def _has_value(value: Any, node: ast.expr | None) -> bool:
    """Whether a value is what an expression says; True for expressions that are no plain values."""
    try:
        stated = ast.literal_eval(node)  # type: ignore[arg-type]
        # Lists and dictionaries may have been filled since.
        hash(stated)
        return bool(type(value) is type(stated) and value == stated)
    except (ValueError, TypeError, SyntaxError, MemoryError):
        return True


def _has_defaults(function: types.FunctionType, arguments: ast.arguments) -> bool:
    by_position = function.__defaults__ or ()
    by_name = function.__kwdefaults__ or {}
    if len(by_position) != len(arguments.defaults):
        return False
    stated = {
        argument.arg: node
        for argument, node in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if node is not None
    }
    return (
        stated.keys() == by_name.keys()
        and all(_has_value(value, node) for value, node in zip(by_position, arguments.defaults, strict=True))
        and all(_has_value(by_name[name], node) for name, node in stated.items())
    )


_first_seen: dict[str, tuple[Any, str]] = {}
"""Specification and code hash of each module when a run first met it; a reload makes a new specification."""


def check_loaded(plans: Iterable[Plan]) -> None:
    """Check that methods are those of their files; files are hashed anew from here on.

    A ValueError is raised if a class stands in no module, or a file has changed since its module was loaded. Objects of
    a class from before a reload are refused, too.
    """
    look_again()
    methods = [method for plan in plans for method in plan.methods]
    for part in parts_of(methods):
        _check_class(type(part))
    for name, code in closure(modules(methods)).items():
        if name in sys.modules:
            _check_module(name, code)


def user_module_hashes(plan: Plan) -> dict[str, str]:
    """Code hash of each file of a user's code that a plan's methods use, as keys of results hold it."""
    hashes = closure(modules(plan.methods))
    return {source_file(name): code for name, code in hashes.items() if name.partition(".")[0] not in PACKAGES}


def check_unchanged(code: Mapping[str, str]) -> None:
    """Check that files hold the code that they held before; a new worker process has just loaded them.

    A ValueError is raised if a file has changed: its results would stand under the keys of the former code. Hashes are
    by file (`user_module_hashes`).
    """
    for file, before in code.items():
        try:
            now = code_hash(Path(file).read_text(encoding="utf-8"))
        except (OSError, ValueError, SyntaxError):
            now = ""
        require(
            now == before, f"{file} changed during the run; the same command plays what is missing with the new code"
        )


def _check_module(name: str, code: str) -> None:
    module, file = sys.modules[name], source_file(name)
    spec, before = _first_seen.get(name, (None, code))
    if name.partition(".")[0] in PACKAGES:
        # Worker processes are forked from one that loaded these at its start, so that a reload here is not enough.
        require(before == code, f"{file} changed after {name} was loaded; start Python anew")
    else:
        reloaded = spec is not module.__spec__
        changed = difference(module) if reloaded else None
        if changed is not None or (not reloaded and before != code):
            what = f" ({changed} differs)" if changed else ""
            raise ValueError(
                f"{file} changed after {name} was loaded{what}; call importlib.reload({name}) and make its objects "
                "again, or start Python anew"
            )
    _first_seen[name] = module.__spec__, code


def _check_class(cls: type) -> None:
    require(
        cls.__module__ != "__main__" and "." not in cls.__qualname__,
        f"{cls.__name__}: worker processes cannot import it; write the class at the top of a module (a file)",
    )
    module = sys.modules.get(cls.__module__)
    present = getattr(module, cls.__name__, None)
    require(
        not isinstance(present, type) or present is cls,
        f"{cls.__module__}.{cls.__name__} was loaded anew after this object was made; make the object again, as in "
        f"{cls.__module__}.{cls.__name__}(...)",
    )
