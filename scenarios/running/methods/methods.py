"""Methods by name: exported defenses, attacks, games and experiments, or ``module:Class`` for other code."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
import tomllib
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from defenses.base import Parametrized
from metrics.columns import one_line, refuse, require
from scenarios.running.methods.former_modules import class_successor, lasting_name
from scenarios.running.methods.source_locations import defined_at, user_code_location
from scenarios.tables.near_names import known_as, suggestion

# Classes of a user's code by ``module:Class``.


def class_at(name: str) -> type[Any]:
    """The class that ``module:Class`` names; the current folder is searched last for the module.

    Raises ValueError if there is no such module or class, or the module ends the program where it is imported.
    """
    module_name, _, class_name = name.partition(":")
    refuse(not module_name or not class_name, f"{name!r} must name a module and a class, as in mymodule:MyClass")
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
            f'below `if __name__ == "__main__":`{user_code_location(end)}'
        ) from None
    value = getattr(module, class_name, None)
    today = class_successor(name)
    if today:
        module_name, _, class_name = today.partition(":")
        value = getattr(importlib.import_module(module_name), class_name)
        require(inspect.isclass(value), f"{name!r}: its successor is {today}")
    if not inspect.isclass(value):
        raise ValueError(f"{name!r}: {module_name!r} has no class {class_name!r}{_advice(module, class_name)}")
    return value


def file_advice(name: str) -> str:
    """The end of a message about a name that is none of a method: how to name a class in a file of the current folder.

    It is empty where the current folder has neither such a Python file, nor one with such a class. The name is that of
    a file or of a class, such as ``mine``, ``mine.py`` or ``Mine``.
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


Method = Parametrized
CONTRACTS = {
    "defenses": ("defenses", "Defense"),
    "attacks": ("attacks", "Attack"),
    "scenarios": ("scenarios", "Game"),
    "questions": ("scenarios", "Question"),
    "measures": ("scenarios", "UtilityMeasure"),
    "experiments": ("scenarios", "Experiment"),
}
"""Kinds of methods: the package that exports them, and their base class."""
PARTS = {"defenses": ("defenses", "defenses.federated")}
"""Packages that export the parts of which a method may be composed (such as a noise, a clipping, a model)."""


def exported(package: str, names: Container[str] | None = None) -> dict[str, type[Method]]:
    """Concrete methods that a package exports, by class name.

    - package, {"defenses", "attacks", "scenarios", "questions", "experiments"}: Where to look; games, questions and
      experiments are exported by the package of scenarios.
    - names: Only these classes, so that no other module is imported; all by default.
    """
    module = importlib.import_module(CONTRACTS[package][0])
    exports = {name: getattr(module, name) for name in module.__all__ if names is None or name in names}
    return {name: value for name, value in sorted(exports.items()) if _is_method(value, package)}


def find(name: str, *packages: str) -> type[Method]:
    """Class of a method.

    A ValueError is raised if there is no such method (the nearest name is suggested), or it is abstract or of another
    kind.

    - name: Name of an exported class, or ``module:Class``. The current folder is searched last for such a module.
    - *packages, {"defenses", "attacks", "scenarios", "questions", "experiments"}: Kinds that the method may have.

    Examples
    --------
    >>> find("Mondrian", "defenses").__name__
    'Mondrian'
    """
    if ":" in name:
        return _elsewhere(name, *(_contract(package) for package in packages))
    for package in packages:
        module = importlib.import_module(CONTRACTS[package][0])
        # Importing the module of this one method alone saves seconds.
        method: type[Method] | None = getattr(module, name) if name in module.__all__ else None
        if method is not None and _is_method(method, package):
            return method
    classes = {one: method for package in packages for one, method in exported(package).items()}
    known = known_as(name, classes)
    if known is not None:
        return classes[known]
    kinds = _either([_kind(CONTRACTS[package][1]) for package in packages])
    for package in CONTRACTS:
        if package not in packages and name in exported(package):
            wanted = _either([_with_article(CONTRACTS[one][1]) for one in packages])
            raise ValueError(f"{name!r} is {_with_article(CONTRACTS[package][1])}, not {wanted}")
    advice = file_advice(name) or suggestion(name, classes)
    raise ValueError(f"there is no {kinds} {name!r}{advice}")


def named(name: str, classes: Mapping[str, Any], unknown: str) -> Any:
    """The class or function of a name that is exported or known to the field, or the class of ``module:Class``.

    A ValueError, whose message begins with `unknown`, is raised if there is none; the nearest name is suggested.
    """
    if ":" in name:
        return class_at(name)
    known = name if name in classes else known_as(name, classes)
    if known is None:
        raise ValueError(f"{unknown} {name!r}{file_advice(name) or suggestion(name, classes)}")
    return classes[known]


def check_parameter_names(method: str, given: Iterable[str], accepted: Sequence[str]) -> None:
    """Raise ValueError if a method of this name does not take a given parameter; names the first such parameter."""
    unknown = sorted(set(given) - set(accepted))
    if unknown:
        advice = suggestion(unknown[0], accepted) if accepted else "; it has none"
        raise ValueError(f"{method} has no parameter {unknown[0]!r}{advice}")


def build(table: Mapping[str, Any], package: str) -> Any:
    """Build a method from its description, ``{"use": name, parameter: value, ...}``, as `describe` gives it.

    A ValueError is raised if the name or a parameter is unknown, or a value is refused.

    Examples
    --------
    >>> build({"use": "Mondrian", "k": 5}, "defenses").k
    5
    """
    return _build(table, find(str(table["use"]), package), package)


def _build(table: Mapping[str, Any], method: type[Method], package: str) -> Any:
    arguments = {name: built_value(value, package) for name, value in table.items() if name != "use"}
    check_parameter_names(str(table["use"]), arguments, method.parameter_names())
    try:
        made = method(**arguments)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{table['use']}: {error}") from error
    except (Exception, SystemExit) as error:
        words = f"the constructor must raise ValueError, got {type(error).__name__}: {error}"
        raise ValueError(f"{table['use']}: {words}{defined_at(method.__init__)}") from error
    check_parameters_stored(made)
    return made


def check_parameters_stored(method: Method) -> None:
    """Check that each parameter is an attribute of its own name.

    Raises ValueError if one is not; names class and parameter, and the line of the constructor.
    """
    for name in method.parameter_names():
        if not hasattr(method, name):
            cls = type(method)
            raise ValueError(f"{cls.__name__}: store parameter {name} as self.{name}{defined_at(cls.__init__)}")


def describe(method: Method) -> dict[str, Any]:
    """Parameters of a method as JSON values; a parameter that is itself a method becomes ``{"use": name, ...}``.

    Raises ValueError if a parameter is not stored under its own name.
    """
    check_parameters_stored(method)
    return {name: described_value(value) for name, value in method.get_params().items()}


def game_settings(game: Any) -> dict[str, Any]:
    """A game's parameters except for its records, as JSON values."""
    return {name: described_value(value) for name, value in game.settings().items()}


def source_name(method: Method) -> str:
    """The name under which `find` finds a method's class."""
    cls = type(method)
    package = cls.__module__.partition(".")[0]
    exports = (
        package in ("defenses", "attacks", "scenarios") and cls.__name__ in importlib.import_module(package).__all__
    )
    return cls.__name__ if exports else lasting_name(f"{cls.__module__}:{cls.__name__}")


def _contract(package: str) -> type[Method]:
    module, name = CONTRACTS[package]
    contract: type[Method] = getattr(importlib.import_module(module), name)
    return contract


def _is_method(value: Any, package: str) -> bool:
    return inspect.isclass(value) and issubclass(value, _contract(package)) and not inspect.isabstract(value)


def _find_part(name: str, package: str) -> type[Method]:
    """Class of a part of another method, or of a method of this kind."""
    if ":" in name:
        return _elsewhere(name, Parametrized)
    for exporter in PARTS.get(package, ()):
        module = importlib.import_module(exporter)
        part = getattr(module, name) if name in module.__all__ else None
        if inspect.isclass(part) and issubclass(part, Parametrized) and not inspect.isabstract(part):
            return part
    return find(name, package)


def _elsewhere(name: str, *contracts: type[Method]) -> type[Method]:
    method = class_at(name)
    if not issubclass(method, contracts):
        for package, (_, kind) in CONTRACTS.items():
            if issubclass(method, _contract(package)):
                wanted = _either([_with_article(contract.__name__) for contract in contracts])
                raise ValueError(f"{name!r} is {_with_article(kind)}, not {wanted}{defined_at(method)}")
        kinds = " or ".join(contract.__name__ for contract in contracts)
        raise ValueError(f"{name!r} must be a subclass of {kinds}{defined_at(method)}")
    if inspect.isabstract(method):
        missing = ", ".join(_call(method, name) for name in sorted(vars(method)["__abstractmethods__"]))
        raise ValueError(f"{method.__name__} is abstract: it lacks {missing}{defined_at(method)}")
    return method


def _kind(contract: str) -> str:
    """Words for a base class: ``UtilityMeasure`` is a utility measure."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", contract).lower()


def _either(words: Sequence[str]) -> str:
    """Words with commas and an `or` between them."""
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _with_article(contract: str) -> str:
    return f"{'an' if contract[0] in 'AE' else 'a'} {_kind(contract)}"


def _call(method: type[Method], name: str) -> str:
    """A method of a class with the names of its arguments, such as ``apply(records, rng)``."""
    arguments = [argument for argument in inspect.signature(getattr(method, name)).parameters if argument != "self"]
    return f"{name}({', '.join(arguments)})"


def built_value(value: Any, package: str) -> Any:
    """Value of a parameter: tables ``{"use": name, ...}``, alone or in lists, become methods of a package."""
    if isinstance(value, Mapping) and "use" in value:
        return _build(value, _find_part(str(value["use"]), package), package)
    if isinstance(value, list | tuple):
        return [built_value(item, package) for item in value]
    return value


def described_value(value: Any) -> Any:
    """Value of a parameter as JSON has it; `built_value` is the inverse."""
    if isinstance(value, Parametrized):
        return {"use": source_name(value), **describe(value)}
    if isinstance(value, Mapping):
        return {str(key): described_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [described_value(item) for item in value]
    return value.item() if hasattr(value, "item") else value


# Methods and their parameters as users write them: ``Mondrian k=5``.

# Numbers are printed without the zero before the point; TOML wants it.
_POINT = re.compile(r"^(\s*[-+]?)(?=\.\d)")
# A list of words without quotes, which a shell may have removed.
_UNQUOTED = re.compile(r"""\[\s*[^][{}()"'=\s][^][{}()"'=]*\]""")
# What looks like a TOML table; it is none where its words lack quotes.
_TABLE = re.compile(r"\{\s*[\w-]+\s*=.*\}", re.DOTALL)
_TRUTHS = {"True": True, "False": False}


def written_method(text: str, *packages: str) -> dict[str, Any]:
    """Name and parameters of a method written as boards show it, as ``methods.build`` takes them.

    The text has the name, or ``module:Class``, and parameters as NAME=VALUE with spaces between them. A ValueError is
    raised if there is no such method, or a parameter is no NAME=VALUE or unknown; the message names the parameters.

    Examples
    --------
    >>> written_method("Mondrian k=3", "defenses")
    {'use': 'Mondrian', 'k': 3}
    """
    name, *texts = [*_words(text)] or [""]
    accepted = find(name, *packages).parameter_names()
    try:
        given = given_parameters(texts, option="")
        check_parameter_names(name, given, accepted)
    except ValueError as error:
        raise ValueError(f"{text!r}: {error}. Parameters of {name}: {', '.join(accepted) or 'none'}") from None
    return {"use": name, **given}


def _words(text: str) -> Iterator[str]:
    """Words of a text, apart at spaces outside of quotes and brackets."""
    word, quote, depth = "", "", 0
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "[{(":
            depth += 1
        elif letter in "]})":
            depth -= 1
        if letter.isspace() and not quote and depth <= 0:
            if word:
                yield word
            word = ""
        else:
            word += letter
    if word:
        yield word


def given_parameters(texts: Sequence[str], option: str = "-p ") -> dict[str, Any]:
    """Parameters given as NAME=VALUE. A value is TOML, or plain text where it is no TOML.

    What boards print is read, too: .2 as a number, True and False as truths. A ValueError is raised if a text has no
    name or no equals sign, or a name is given twice. A list with a word without quotes is refused, too. `option`
    precedes each text on the command line, for messages.

    Examples
    --------
    >>> given_parameters(("k=5", "t=.2", "columns=['age', 'job']", "protocol=RAPPOR"))
    {'k': 5, 't': 0.2, 'columns': ['age', 'job'], 'protocol': 'RAPPOR'}
    """
    parameters: dict[str, Any] = {}
    # An option stands before quotes of its own; without one, the quotes are around the method.
    quote = "'" if option else ""
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip()
        require(
            equals and name, f"{option}must be NAME=VALUE, got {text!r}" if option else f"{text!r} must be NAME=VALUE"
        )
        require(name not in parameters, f"parameter {name!r} is given twice")
        if value.strip() in _TRUTHS:
            parameters[name] = _TRUTHS[value.strip()]
            continue
        try:
            parameters[name] = tomllib.loads("value = " + _POINT.sub(r"\g<1>0", value))["value"]
        except tomllib.TOMLDecodeError:
            if _UNQUOTED.fullmatch(value.strip()):
                words = ", ".join(_quoted(word.strip()) for word in value.strip()[1:-1].split(","))
                raise ValueError(
                    f"{option}{name}: words in a list need double quotes, and the whole single quotes: "
                    f"{option}{quote}{name}=[{words}]{quote}"
                ) from None
            if _TABLE.fullmatch(value.strip()):
                raise ValueError(
                    f"{option}{name}: {value.strip()} is no TOML table; words in it need double quotes, and the whole "
                    f'single quotes, as in {option}{quote}{name}={{use="Mondrian", k=5}}{quote}'
                ) from None
            parameters[name] = value
    return parameters


def _quoted(entry: str) -> str:
    """An entry of a list as TOML: in double quotes unless it is a number or a truth."""
    try:
        tomllib.loads(f"value = {entry}")
    except tomllib.TOMLDecodeError:
        return f'"{entry}"'
    return entry


# Descriptions of names, read from docstrings.

PACKAGES = ("defenses", "attacks", "scenarios", "experiments")

# Modules of the metrics package that hold no metrics.
GROUND = ("metrics.columns.cells", "metrics.columns.domains", "metrics.estimate")


def one_liners(names: Collection[str]) -> dict[str, str]:
    """First docstring line of each exported method among the names; other names are left out."""
    methods = {name: cls for package in PACKAGES for name, cls in exported(package, names).items()}
    return {name: summary(methods[name]) for name in sorted(methods)}


def defense_kinds(names: Collection[str]) -> dict[str, str]:
    """Folder of each exported defense among the names, such as ``recoding``, ``grouping``, ``pram`` or ``ldp``.

    Examples
    --------
    >>> defense_kinds(["Mondrian"])
    {'Mondrian': 'grouping'}
    """
    return {name: cls.__module__.split(".")[1] for name, cls in exported("defenses", names).items()}


def summary(thing: object) -> str:
    """First line of a docstring."""
    return (inspect.getdoc(thing) or "").partition("\n")[0]


def metrics() -> dict[str, object]:
    """Exported metrics by name: functions of tables, and the utility that boards show."""
    package = importlib.import_module("metrics")
    exports = {name: getattr(package, name) for name in package.__all__}
    return {
        name: value
        for name, value in sorted(exports.items())
        if name == "TableUtility" or (inspect.isfunction(value) and value.__module__ not in GROUND)
    }
