"""Classes that are checked with other parameters than their example's."""

from __future__ import annotations

from types import new_class
from typing import TypeVar

from defenses.base.parametrized import Parametrized

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
