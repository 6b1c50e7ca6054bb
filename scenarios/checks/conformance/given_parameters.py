"""Classes that are checked, by name; with other parameters than their example's, if the name has some."""

from __future__ import annotations

from types import new_class
from typing import TypeVar

from attacks.base import Attack
from defenses.base import Parametrized
from scenarios.running.methods.methods import build, find
from scenarios.running.methods.written_methods import written_method

Method = TypeVar("Method", bound=Parametrized)


def class_of(made: Method) -> type[Method]:
    """The class of a method, as one whose example has that method's parameters.

    Parameters
    ----------
    made : Parametrized
        The method.

    Examples
    --------
    >>> from defenses import Mondrian
    >>> class_of(Mondrian(k=7)).example().k
    7
    """
    cls = type(made)
    # Messages name the class and its line as before; from Python 3.13 on, the class itself knows the line.
    names = {name: vars(cls)[name] for name in ("__module__", "__qualname__", "__firstlineno__") if name in vars(cls)}
    content = {**names, "example": classmethod(lambda _: made.clone())}
    return new_class(cls.__name__, (cls,), exec_body=lambda space: space.update(content))


def named_class(name: str) -> type[Parametrized]:
    """The class that a name means on the command line, with the parameters that follow the name.

    Raises
    ------
    ValueError
        If there is no such defense or attack, or it takes no such parameters.
    """
    table = written_method(name, "defenses", "attacks")
    method = find(table["use"], "defenses", "attacks")
    if len(table) == 1:
        return method
    return class_of(build(table, "attacks" if issubclass(method, Attack) else "defenses"))
