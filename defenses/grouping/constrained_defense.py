"""Base of k-anonymous defenses with further constraints on their classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from defenses.base.columns import filled
from defenses.base.defense import chosen_columns
from defenses.base.k_anonymous_defense import KAnonymousDefense
from defenses.base.microdata import Microdata
from defenses.grouping.constraints import Constraint, make_constraints


class ConstrainedDefense(KAnonymousDefense):
    """A k-anonymous defense whose classes satisfy further constraints on the sensitive columns.

    Parameters
    ----------
    k, columns
        As for `KAnonymousDefense`.
    l, diversity, c, t, distance, alpha
        As for `defenses.grouping.constraints.make_constraints`.

    Raises
    ------
    ValueError
        If a parameter is out of range or unknown.
    """

    def __init__(
        self,
        *,
        k: int,
        l: float | None,  # noqa: E741 (the field's own name for it)
        diversity: str,
        c: float | None,
        t: float | None,
        distance: str,
        alpha: float | None,
        columns: Sequence[str] | None,
    ) -> None:
        super().__init__(k=k, columns=columns)
        self.l = l
        self.diversity = diversity
        self.c = c
        self.t = t
        self.distance = distance
        self.alpha = alpha
        _ = self.constraints

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """Constraints on the sensitive values of every class."""
        return make_constraints(self.l, self.diversity, self.c, self.t, self.distance, self.alpha)

    def counted_columns(self, roles: Microdata) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Columns to generalize, and sensitive columns under a constraint."""
        names = filled(roles, chosen_columns(roles, self.columns, roles.quasi_identifiers))
        return names, tuple(roles.sensitive) if self.constraints else ()

    def value_constraints(self, records: Microdata) -> Mapping[str, tuple[Constraint, ...]]:
        """The constraints, for each sensitive column: a table that violates one has no class that satisfies it."""
        return dict.fromkeys(records.sensitive, self.constraints) if self.constraints else {}
