"""What defenses have in common that promise k-anonymity."""

from __future__ import annotations

from collections.abc import Sequence

from defenses.columns import check_columns
from defenses.constraints import Constraint, make_constraints
from defenses.defense import MicrodataDefense, chosen_columns
from defenses.guarantee import Guarantee
from defenses.microdata import Microdata
from defenses.parameters import check_whole


class KAnonymousDefense(MicrodataDefense):
    """A defense that leaves no class of fewer than `k` records over some columns.

    Parameters
    ----------
    k : int
        Smallest class, at least 1.
    columns : sequence of str, optional
        The columns that make the classes; by default the quasi-identifiers.

    Raises
    ------
    ValueError
        If `k` is no whole number of at least 1; on `guarantee`, if it exceeds the number of records or a column is
        unknown.
    """

    def __init__(self, *, k: int = 5, columns: Sequence[str] | None = None) -> None:
        check_whole("k", k, low=1)
        check_columns(columns)
        self.k = k
        self.columns = columns

    def guarantee(self, records: Microdata) -> Guarantee:
        """Promise k-anonymity over the quasi-identifiers if all of them are among the columns."""
        return k_anonymity_over(self.k, records, self._checked_columns(records))

    def _checked_columns(self, records: Microdata) -> tuple[str, ...]:
        """The columns that make the classes; ValueError if one is unknown or there are fewer than k records."""
        check_enough_records(self.k, records)
        return chosen_columns(records, self.columns, records.quasi_identifiers)


class ConstrainedDefense(KAnonymousDefense):
    """A k-anonymous defense whose classes meet further constraints on the sensitive columns.

    Parameters
    ----------
    k, columns
        As for `KAnonymousDefense`.
    l, diversity, c, t, distance, alpha
        As for `defenses.constraints.make_constraints`.

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
        self._constraints()

    def _constraints(self) -> tuple[Constraint, ...]:
        return make_constraints(self.l, self.diversity, self.c, self.t, self.distance, self.alpha)


def check_enough_records(k: int, records: Microdata) -> None:
    """Raise ValueError if a class of `k` needs more records than there are."""
    if k > len(records):
        raise ValueError(f"k must not exceed the number of records, got k = {k} for n = {len(records)}")


def k_anonymity_over(
    k: int, records: Microdata, columns: Sequence[str], constraints: Sequence[Constraint] = ()
) -> Guarantee:
    """k-anonymity and further constraints over `columns`; the records have them only if all quasi-identifiers do."""
    over = f"{', '.join([f'{k}-anonymity', *map(str, constraints)])} over {', '.join(columns) or 'no column'}"
    left_out = [name for name in records.quasi_identifiers if name not in columns]
    if left_out:
        return Guarantee(statement=f"{over} only: the quasi-identifier {left_out[0]} is kept")
    limits = {name: getattr(each, name) for each in constraints for name in ("l", "t") if hasattr(each, name)}
    return Guarantee(k=k, l=limits.get("l"), t=limits.get("t"), statement=over)
