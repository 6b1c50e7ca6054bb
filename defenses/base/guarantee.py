"""Privacy guarantees of releases."""

from __future__ import annotations

from dataclasses import dataclass, fields

_SYMBOLS = {"k": "k", "l": "l", "t": "t", "epsilon": "ε", "delta": "δ", "pk": "Pk"}


@dataclass(frozen=True)
class Guarantee:
    """The privacy guarantee of every release of a defense; a field that is None is not promised.

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

    def __str__(self) -> str:
        promised = [
            f"{_SYMBOLS[name]}={value if isinstance(value, int) else format(round(value, 9), '.3g')}"
            for name, value in ((part.name, getattr(self, part.name)) for part in fields(self))
            # Pk = 1 allows a posterior of 1 and promises nothing.
            if name in _SYMBOLS and value is not None and not (name == "pk" and round(value, 2) <= 1)
        ]
        return ", ".join(promised) or "none"
