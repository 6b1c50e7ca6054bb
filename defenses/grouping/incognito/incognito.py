"""Incognito: k-anonymity by one level for each column, the best of all such choices."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base.channel import Channel
from defenses.base.channel_parts import Containment
from defenses.base.columns import filled
from defenses.base.defense import released_frame
from defenses.base.guarantee import Guarantee
from defenses.base.k_anonymous import k_anonymity_over
from defenses.base.microdata import Microdata
from defenses.base.parameters import check_real
from defenses.base.release import MicrodataRelease
from defenses.grouping.constrained import ConstrainedDefense
from defenses.grouping.constraints import all_hold, check_apart, sensitive_columns
from defenses.grouping.incognito.lattice import Lattice, build_lattice
from defenses.grouping.incognito.losses import LOSSES
from defenses.grouping.incognito.search import Demand, Found, minimal_nodes, optimum
from metrics.cells import SUPPRESSED

_NODES = 1 << 23
"""Largest lattice that is searched."""


@dataclass(frozen=True, kw_only=True)
class FullDomainRelease(MicrodataRelease):
    """A released table whose columns stand on one level each.

    Parameters
    ----------
    levels : mapping of str to int
        Level of each generalized column.
    loss : float
        What the release costs under the loss that was minimised.
    """

    levels: Mapping[str, int]
    loss: float


class Incognito(ConstrainedDefense):
    """Full-domain generalization: of all choices of one level a column, one of least loss with classes of at least k.

    Parameters
    ----------
    k : int
        Smallest class, at least 1.
    max_suppression : float
        Largest share of the records that may be suppressed, in [0, 1]: all columns ``*``, for records in classes that
        fail. The number of records is rounded down.
    loss : {"normalized", "precision", "discernibility", "average_class_size", "height"}
        What is minimised; see Notes.
    l : float, optional
        l-diversity of every sensitive column: an integer, or any number for entropy.
    diversity : {"distinct", "entropy", "recursive"}
        Form of l-diversity.
    c : float, optional
        The factor of recursive (c, l)-diversity, above 0.
    t : float, optional
        t-closeness of every sensitive column to the table before suppression, in [0, 1].
    distance : {"equal", "ordered"}
        Distance of two sensitive values under t-closeness: 1, or by their ranks (of numbers, or of the categories of
        an ordered domain).
    alpha : float, optional
        Largest share of one sensitive value in a class, in (0, 1]: (alpha, k)-anonymity.
    columns : sequence of str, optional
        The columns to generalize; by default the quasi-identifiers. Each needs a hierarchy.

    Raises
    ------
    ValueError
        If a parameter is out of range or unknown; on `apply`, `guarantee` and `minimal_nodes`, if `k` exceeds the
        number of records or `l` that of the sensitive values, a column is unknown, has no hierarchy or a value that
        its hierarchy lacks, or no choice of levels does.

    Notes
    -----
    Losses. *normalized*: mean over rows and columns of (leaves - 1) / (all leaves - 1), leaves the values that a cell
    may stand for; *precision*: mean of level by height (1 - Sweeney's precision); both count 1 for suppressed cells.
    *discernibility*: each row counts the size of its class, each suppressed row all n. *average_class_size*: rows by
    classes, the suppressed rows being one class. *height*: sum of the levels. Of several optima (equal to 12 decimals)
    the one with the smallest sum of levels is taken, then the one with the lowest levels from the first column on.

    Search. Rows are counted once, into distinct combinations; all frequency sets are rolled up from there. What a
    single column or a pair refutes is never looked at (subset property), nor is what is finer than a refuted choice
    (generalization property), nor what cannot cost less than the best yet: no cell costs more than 1, so the loss
    without suppression, a sum over the columns, is a lower bound. What remains is tried, and so the optimum is one
    among all choices. Constraints prune as far as that is sound; see `Demand`.

    Cells. Rows keep their order, and other columns their values. A missing value is a value of its own up to a level
    that is ``*``.

    Guarantee: k-anonymity of the quasi-identifiers, and the constraints. The suppressed rows are a class of their own,
    whose size and diversity the search has no say in; the guarantee is computed with it for these very records: its k
    is the number of suppressed rows where these are fewer than k, and what they lack in diversity is not promised.
    Channel: containment in every column.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan (2005), Incognito: efficient full-domain k-anonymity; Iyengar (2002),
    Transforming data to satisfy privacy constraints, section 3.1; Sweeney (2002), Achieving k-anonymity privacy
    protection using generalization and suppression, section 4; Bayardo and Agrawal (2005), Data privacy through
    optimal k-anonymization, section 3.
    """

    def __init__(
        self,
        *,
        k: int = 5,
        max_suppression: float = 0.05,
        loss: str = "normalized",
        l: float | None = None,  # noqa: E741 (the field's own name for it)
        diversity: str = "distinct",
        c: float | None = None,
        t: float | None = None,
        distance: str = "equal",
        alpha: float | None = None,
        columns: Sequence[str] | None = None,
    ) -> None:
        super().__init__(k=k, l=l, diversity=diversity, c=c, t=t, distance=distance, alpha=alpha, columns=columns)
        check_real("max_suppression", max_suppression, low=0, high=1)
        if loss not in LOSSES:
            raise ValueError(f"loss must be one of {', '.join(LOSSES)}, got {loss!r}")
        self.max_suppression = max_suppression
        self.loss = loss

    def apply(self, records: Microdata, rng: Generator) -> FullDomainRelease:
        """Release the columns on the best levels; nothing is drawn."""
        names, lattice, demand, combination = self._problem(records)
        found = self._best(lattice, demand, len(records))
        suppressed = lattice.members_of(found.node, found.classes, found.suppressed)[combination]
        frame = released_frame(records)
        levels = dict(zip(names, found.node, strict=True))
        for name, level in levels.items():
            cells = np.array(frame[name], dtype=object)
            if level:
                cells = records.hierarchies[name].generalize(records.frame[name], level)
            if level or suppressed.any():
                cells[suppressed] = SUPPRESSED
                frame[name] = cells
        channel = Channel(tuple(Containment(name, records.domain(name)) for name in names))
        return FullDomainRelease(frame, np.arange(len(records)), channel, levels=levels, loss=found.loss)

    def check(self, records: Microdata) -> None:
        """Check the parameters without the search, which `guarantee` and `apply` make."""
        self._problem(records)

    def guarantee(self, records: Microdata) -> Guarantee:
        """Promise what the best levels give these records; takes as long as `apply`."""
        _, lattice, demand, _ = self._problem(records)
        found = self._best(lattice, demand, len(records))
        rows = int(found.classes.sizes[found.suppressed].sum())
        promised = k_anonymity_over(self.k, records, self._checked_columns(records), demand.constraints)
        if rows == 0 or promised.k is None:
            return promised
        together = found.classes.put_together(found.suppressed)
        statement = f"{promised.statement}; the {rows} suppressed records are one class"
        if all_hold(demand.constraints, demand.columns, together.histograms, 1).all():
            return replace(promised, k=min(self.k, rows), statement=statement)
        return Guarantee(k=min(self.k, rows), statement=f"{statement}, which does not")

    def minimal_nodes(self, records: Microdata) -> list[dict[str, int]]:
        """Every choice of levels that meets all demands while no choice that is finer does.

        Parameters
        ----------
        records : Microdata
            The records, under at most `max_suppression`.

        Returns
        -------
        list of dict of str to int
            Level of each column; by sum of the levels, then by the levels from the first column on.
        """
        names, lattice, demand, _ = self._problem(records)
        return [dict(zip(names, node, strict=True)) for node in minimal_nodes(lattice, demand)]

    def _problem(self, records: Microdata) -> tuple[tuple[str, ...], Lattice, Demand, NDArray[np.intp]]:
        """The columns, their lattice, what classes must hold, and the distinct combination of each record."""
        names = filled(records, self._checked_columns(records))
        if not names:
            raise ValueError("there is no column to generalize; name quasi-identifiers that hold values")
        sensitive = sensitive_columns(records, self._constraints())
        check_apart(names, sensitive)
        lattice, combination = build_lattice(records, names, sensitive)
        if math.prod(lattice.shape) > _NODES:
            raise ValueError(
                f"there are {math.prod(lattice.shape)} choices of levels, more than {_NODES}; name fewer columns"
            )
        limit = math.floor(round(self.max_suppression * len(records), 6))
        return names, lattice, Demand(self.k, limit, self._constraints(), sensitive), combination

    def _best(self, lattice: Lattice, demand: Demand, n: int) -> Found:
        found = optimum(lattice, demand, LOSSES[self.loss])
        if found is None:
            demanded = " and ".join([f"{self.k}-anonymity", *map(str, demand.constraints)])
            raise ValueError(
                f"no levels of the hierarchies give {demanded} with at most {demand.limit} of {n} records suppressed"
            )
        return found
