"""Base class of defenses that guarantee k-anonymity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from defenses.base import Guarantee, Microdata, MicrodataDefense, check_columns, chosen_columns
from defenses.base.guarantee import ClassGuarantee
from metrics.columns import check_integer, require


class KAnonymousDefense(MicrodataDefense):
    """Base class of defenses whose equivalence classes over some columns have at least `k` records.

    Parameters
    ----------
    k : int
        Smallest class size, at least 1.
    columns : sequence of str, optional
        The columns that define the classes; by default the quasi-identifiers.

    Raises
    ------
    ValueError
        If `k` is not an integer of at least 1. On `guarantee`, if it exceeds the number of records or a column is
        unknown.
    """

    def __init__(self, *, k: int = 5, columns: Sequence[str] | None = None) -> None:
        self.k = check_integer("k", k, low=1)
        self.columns = check_columns(columns)

    def guarantee(self, records: Microdata) -> Guarantee:
        """Guarantee k-anonymity if the columns include all quasi-identifiers."""
        return k_anonymity_over(self.k, records, self._checked_columns(records))

    def _checked_columns(self, records: Microdata) -> tuple[str, ...]:
        """The columns that define the classes; ValueError if one is unknown or there are fewer than k records."""
        check_enough(self.k, len(records))
        return chosen_columns(records, self.columns, records.quasi_identifiers)


def check_enough(k: int, records: int) -> None:
    """Raise ValueError if there are fewer than `k` records."""
    require(k <= records, f"k must not exceed the number of records, got k = {k} for n = {records}")


def k_anonymity_over(
    k: int, records: Microdata, columns: Sequence[str], constraints: Sequence[Any] = (), beside: str = ""
) -> Guarantee:
    """k-anonymity and further constraints over `columns`; only a statement where a quasi-identifier is left out.

    Parameters
    ----------
    k : int
        Least number of records of a class.
    records : Microdata
        The records, for their quasi-identifiers.
    columns : sequence of str
        The columns that define the classes.
    constraints : sequence of Constraint
        Further constraints on every class.
    beside : str
        What the statement says besides.
    """
    classes = ClassGuarantee(k, tuple(columns), tuple(constraints))
    over = f"{', '.join([f'{k}-anonymity', *map(str, constraints)])} over {', '.join(columns) or 'no column'}"
    besides = f"; {beside}" if beside else ""
    left_out = [name for name in records.quasi_identifiers if name not in columns]
    if left_out:
        return Guarantee(statement=f"{over} only: the quasi-identifier {left_out[0]} is kept{besides}", classes=classes)
    limits = {name: getattr(each, name) for each in constraints for name in ("l", "t") if hasattr(each, name)}
    return Guarantee(k=k, l=limits.get("l"), t=limits.get("t"), statement=f"{over}{besides}", classes=classes)


def guarantee_of_parts(records: Microdata, guarantees: Sequence[Guarantee], made: str) -> Guarantee:
    """What a table guarantees whose parts were released each as a table of its own.

    Parameters
    ----------
    records : Microdata
        The records, for their quasi-identifiers.
    guarantees : sequence of Guarantee
        Guarantee of the release of each part; at least one.
    made : str
        How the parts were made, for the statement.

    Notes
    -----
    A class of the released table joins the classes of the parts that have its cells. Hence:

    - *k*: a joined class has at least as many records as each of its classes. The least k of the parts is kept.
    - *Constraints*: kept if each part has them and joining classes keeps them (`kept_in_parts`; the proofs are beside
      `defenses.grouping.constraints.Constraint`). t-closeness is not: it compares a class with the table that it is in.
    - *epsilon, delta, Pk*: not kept. They count how the parts are drawn and how large they are, which nobody charged.
    """
    first = guarantees[0]
    parts = [guarantee.classes for guarantee in guarantees]
    if all(guarantee.kept_in_parts and guarantee.statement == first.statement for guarantee in guarantees):
        return Guarantee(statement=f"{first.statement}; {made}", kept_in_parts=True)
    if any(part is None for part in parts):
        least = [guarantee.k for guarantee in guarantees]
        if any(k is None for k in least):
            return Guarantee(statement=f"none: {made}, each as a table of its own")
        parts = [ClassGuarantee(k, records.quasi_identifiers) for k in least if k is not None]
    every = [part for part in parts if part is not None]
    common = [each for each in every[0].constraints if all(each in part.constraints for part in every)]
    lost = [str(each) for each in common if not each.kept_in_parts]
    beside = f"{made}, each of which alone has {' and '.join(lost)}" if lost else made
    kept = [each for each in common if each.kept_in_parts]
    return k_anonymity_over(min(part.size for part in every), records, every[0].columns, kept, beside)
