"""Privacy guarantees of releases."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

_SYMBOLS = {"k": "k", "l": "l", "t": "t", "epsilon": "ε", "delta": "δ", "pk": "Pk"}


@dataclass(frozen=True)
class ClassGuarantee:
    """What holds of the classes of equal released cells in some columns.

    - size: Least number of records of a class.
    - constraints: Further constraints on each class; their texts name them. `kept_in_parts` says of each whether a
      table has it if all parts of the table have it.
    """

    size: int
    columns: tuple[str, ...]
    constraints: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Guarantee:
    """The privacy guarantee of every release of a defense; a field that is None is not guaranteed.

    Parameters
    ----------
    k : int, optional
        k-anonymity: every record shares its quasi-identifiers with at least k - 1 others.
    l : float, optional
        l-diversity of the sensitive columns; `statement` names the form.
    t : float, optional
        t-closeness: largest earth mover's distance between the sensitive values of a class and of the table.
    epsilon, delta : float, optional
        Differential privacy; `statement` names the neighbour relation.
    pk : float, optional
        Pk-anonymity: no adversary's posterior for a pair of record and person exceeds 1 / pk.
    statement : str
        What the numbers refer to: form, neighbour relation, columns, conditions.
    classes : ClassGuarantee, optional
        The classes that `k`, `l` and `t` refer to; the statement was made from it.
    kept_in_parts : bool
        Whether the statement, without numbers, holds of a release made part by part if it holds of each part.

    Examples
    --------
    >>> from defenses import Guarantee
    >>> print(Guarantee(epsilon=1.0, delta=1e-6, statement="neighbours differ in one record"))
    ε=1, δ=1e-06
    >>> print(Guarantee())
    none
    """

    k: int | None = None
    l: float | None = None  # noqa: E741 (the field's own name for it)
    t: float | None = None
    epsilon: float | None = None
    delta: float | None = None
    pk: float | None = None
    statement: str = ""
    classes: ClassGuarantee | None = field(default=None, compare=False, repr=False)
    kept_in_parts: bool = field(default=False, compare=False, repr=False)

    def __str__(self) -> str:
        guaranteed = [
            f"{_SYMBOLS[name]}={value if isinstance(value, int) else format(round(value, 9), '.3g')}"
            for name, value in ((part.name, getattr(self, part.name)) for part in fields(self))
            # Pk = 1 allows a posterior of 1 and guarantees nothing.
            if name in _SYMBOLS and value is not None and not (name == "pk" and round(value, 2) <= 1)
        ]
        return ", ".join(guaranteed) or "none"
