"""Tables released by full-domain generalization."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from defenses.base.release import MicrodataRelease


@dataclass(frozen=True, kw_only=True)
class FullDomainRelease(MicrodataRelease):
    """A table released by full-domain generalization, with one hierarchy level per column.

    Parameters
    ----------
    levels : mapping of str to int
        Level of each generalized column.
    loss : float
        Loss of the release, in the measure that was minimised.
    optimal : bool
        Whether the search proved that no allowed choice of levels has a smaller loss.
    bound : float
        Lower bound on the loss of every allowed choice of levels; the loss itself where `optimal`.
    """

    levels: Mapping[str, int]
    loss: float
    optimal: bool = True
    bound: float = math.nan

    @property
    def remark(self) -> str:
        """The loss, and whether it is proven minimal."""
        return search_remark(self.loss, optimal=self.optimal, bound=self.bound)


def search_remark(loss: float, *, optimal: bool, bound: float) -> str:
    """The loss, and whether it is proven minimal."""
    if optimal:
        return f"loss {loss:.4g}, proven minimal"
    return f"loss {loss:.4g}, not proven minimal: no choice of levels has less than {bound:.4g}"
