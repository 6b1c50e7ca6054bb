"""Classes that are checked, by name; with other parameters than their example's, if the name has some."""

from __future__ import annotations

from types import new_class
from typing import TypeVar

from attacks.base import Attack
from defenses import Defense, Microdata, MicrodataRelease
from defenses.base import Parametrized
from scenarios.running.methods import build, defined_at, example, find, written_method
from scenarios.tables.seeds import generator

# Releases of a defense under test.


def release_of(
    method: type[Defense], records: Microdata, *names: str | int, defense: Defense | None = None
) -> MicrodataRelease:
    """Check the records and release them, as a run does.

    Parameters
    ----------
    method : type of Defense
        The class under test.
    records : Microdata
        Invented people.
    *names : str or int
        Names of which the seed is made.
    defense : Defense, optional
        The instance; by default a new example of the class.

    Raises
    ------
    AssertionError
        If `apply` returns no table.
    """
    defense = defense or example(method)
    defense.check(records)
    release = defense.apply(records, generator(0, *names))
    if not isinstance(release, MicrodataRelease):
        got = "None" if release is None else type(release).__name__
        right = "apply must return a MicrodataRelease, e.g. rowwise_release(frame, channel=None)"
        raise AssertionError(f"{right}; got {got}{defined_at(method.apply)}")
    return release


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

    Raises ValueError if there is no such defense or attack, or it takes no such parameters.
    """
    table = written_method(name, "defenses", "attacks")
    method = find(table["use"], "defenses", "attacks")
    if len(table) == 1:
        return method
    return class_of(build(table, "attacks" if issubclass(method, Attack) else "defenses"))
