"""Base class of defenses, attacks and games: objects that their keyword parameters describe fully."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any, ClassVar, Self

from metrics.columns import Given, refuse, refuse_any


class Parametrized:
    """Base class of objects that the keyword arguments of their constructor describe fully.

    A constructor takes keyword-only arguments and stores each unchanged under its own name. It checks whatever does not
    depend on records, and raises `ValueError` naming the parameter.
    """

    called: ClassVar[tuple[str, ...]] = ()
    """Names by which the field knows the class itself, the one to be shown first."""

    @classmethod
    def shown_name(cls) -> str:
        """The name by which the field knows the class, by default its own."""
        return next(iter(vars(cls).get("called", ())), cls.__name__)

    @classmethod
    @cache
    def parameter_names(cls) -> tuple[str, ...]:
        """Names of the constructor's parameters, in their order."""
        return () if cls.__init__ is object.__init__ else tuple(inspect.signature(cls).parameters)

    @classmethod
    def example(cls) -> Self:
        """An example instance; subclasses override it where a parameter has no default."""
        return cls()

    def get_params(self) -> dict[str, Any]:
        """Return the constructor's arguments as stored."""
        return {name: getattr(self, name) for name in self.parameter_names()}

    def set_params(self, **changes: Any) -> Self:
        """Change parameters, with the checks of the constructor.

        Raises ValueError if a parameter is unknown or a value is refused; the object is then unchanged.
        """
        names = self.parameter_names()
        refuse_any(
            sorted(set(changes) - set(names)),
            lambda name: f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(names) or 'none'}",
        )
        fresh = type(self)(**{**self.get_params(), **changes})
        self.__dict__.clear()
        self.__dict__.update(fresh.__dict__)
        return self

    def clone(self) -> Self:
        """Return a new object with the same parameters."""
        return type(self)(**self.get_params())

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({arguments})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Parametrized) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


def check_part(name: str, part: Given, kind: type) -> Given:
    """Return a part of an object if it is None or of this class; otherwise raise ValueError naming the parameter."""
    article = "an" if kind.__name__[0] in "AEIOU" else "a"
    refuse(part is not None and not isinstance(part, kind), f"{name} must be {article} {kind.__name__}, got {part!r}")
    return part
