"""Incognito full-domain k-anonymity."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from defenses.base import (
    Channel,
    ClassCells,
    Containment,
    CountedTable,
    Guarantee,
    Microdata,
    MicrodataRelease,
    Recoding,
    chosen_columns,
    code_values,
    filled,
    k_anonymity_over,
    recoded_release,
)
from defenses.grouping.constraints import (
    ConstrainedDefense,
    all_hold,
    check_apart,
    counted_sensitive_columns,
    sensitive_columns,
)
from defenses.grouping.incognito.lattice import LOSSES, Lattice, build_lattice, leveled_column
from defenses.grouping.incognito.search import (
    ClassRequirements,
    SearchResult,
    limited_optimum,
    minimal_nodes,
    optimum,
    rows_of_share,
)
from metrics.columns import (
    SUPPRESSED,
    Integers,
    check_choice,
    check_integer,
    check_real,
    escape_column,
    refuse,
    require,
)

# Tables released by full-domain generalization.


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


_NODES = 1 << 23
"""Largest number of nodes in a lattice that is searched as a whole; larger ones are searched under a limit."""


@dataclass(frozen=True)
class _Problem:
    """The columns to generalize, their lattice, and the requirements on classes."""

    names: tuple[str, ...]
    lattice: Lattice
    requirements: ClassRequirements


class Incognito(ConstrainedDefense):
    """Incognito full-domain k-anonymity: one hierarchy level per column, of minimum loss, with classes of at least k.

    All values of a column are generalized to the same level. Up to 2^23 choices of levels, the search returns a global
    optimum. Beyond, it returns the best choice that it finds within a limit, and says whether it is optimal. Classes
    may also be required to be l-diverse, t-close or (alpha, k)-anonymous.

    Parameters
    ----------
    k : int
        Smallest class size, at least 1.
    max_suppression : float
        Largest share of the records that may be suppressed, in [0, 1]; the number of records is rounded down. A
        record is suppressed if its class violates a requirement; all generalized columns then release ``*``.
    loss : {"normalized", "precision", "discernibility", "average_class_size", "height"}
        The loss to minimise; see Notes.
    l : float, optional
        l-diversity of every sensitive column: an integer, or any number for entropy l-diversity.
    diversity : {"distinct", "entropy", "recursive"}
        Form of l-diversity.
    c : float, optional
        The factor of recursive (c, l)-diversity, above 0.
    t : float, optional
        t-closeness of every sensitive column to the table before suppression, in [0, 1].
    distance : {"equal", "ordered"}
        Ground distance of t-closeness: 1 for any two values, or their difference in rank. Ranks are those of numbers,
        or of the categories of an ordered domain.
    alpha : float, optional
        Largest share of one sensitive value in a class, in (0, 1]: (alpha, k)-anonymity.
    columns : sequence of str, optional
        The columns to generalize; by default the quasi-identifiers. Each needs a hierarchy.
    search_limit : int
        Limit on each search of a large lattice: number of subsets of columns tested at some levels, at least 1.
    time_limit : float, optional
        Further limit on all searches in seconds, above 0. The release then depends on the machine's speed.

    Raises
    ------
    ValueError
        If a parameter is out of range or unknown.
        On `apply`, `guarantee` and `minimal_nodes`: if `k` exceeds the number of records.
        On the same: if `l` exceeds the number of sensitive values.
        On the same: if a column is unknown, has no hierarchy, or holds a value that its hierarchy lacks.
        On `apply` and `guarantee`: if no choice of levels satisfies the requirements.
        On `apply`: if the search of a large lattice stops before it finds such a choice.
        On `minimal_nodes`: if the lattice is large.

    Notes
    -----
    Losses, each to be minimised:

    - *normalized*: mean over rows and columns of (leaves - 1) / (all leaves - 1). Leaves are the values that a cell
      may stand for. A suppressed cell counts 1.
    - *precision*: mean of level / height, which is 1 - Sweeney's precision. A suppressed cell counts 1.
    - *discernibility*: each row counts the size of its class, and each suppressed row counts n.
    - *average_class_size*: rows divided by classes; the suppressed rows form one class.
    - *height*: sum of the levels.

    Losses are compared to 12 decimals. Ties go to the smallest sum of levels, then to the lowest levels from the first
    column on.

    Search. Rows are counted once, into distinct combinations of values. All other frequency sets are rolled up from
    these counts. Three rules exclude nodes, that is choices of levels:

    - Subset property: a node is excluded if its levels in one column or a pair of columns violate k-anonymity.
    - Generalization property: a node is excluded if a coarser node violates k-anonymity.
    - Bound: a node is excluded if its loss without suppression exceeds the best loss so far. No cell costs more than
      1, so this sum over the columns is a lower bound.

    A violation counts only if it affects more rows than may be suppressed. Every remaining node is tested, so the
    result is an optimum over all nodes. Constraints exclude nodes as far as that is sound; see `ClassRequirements`.
    Where rows may be suppressed, this rests on bounds on the rows that finer classes can release; see
    `releasable_rows`.

    Large lattices. With more than 2^23 nodes, branch and bound grows subsets of columns best-first; see
    `limited_optimum`. On 100 rows of Bank Marketing, 518 million nodes, it proves the optimum in about 0.1 seconds. On
    all 45,211 rows it ends at the limit. The release states the best loss and a lower bound on all others. Suppressed
    rows must here be none, or form a class that meets all requirements. The guarantee then needs no search. A larger
    `max_suppression` never ends with a larger loss: if the search proves no optimum, searches that may suppress fewer
    rows follow, down to none.

    Cells. Rows keep their order, and the other columns keep their values. A missing value is a value of its own on
    every level that is not ``*``.

    Guarantee: k-anonymity of the quasi-identifiers, and the constraints. The suppressed rows form a class of their
    own, which the search does not control. The guarantee accounts for this class in these very records. If there are
    fewer than k suppressed rows, the guaranteed k is their number. If they violate a constraint, no constraint is
    guaranteed. Channel: containment in every column.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan (2005), Incognito: efficient full-domain k-anonymity.
    Iyengar (2002), Transforming data to satisfy privacy constraints, section 3.1.
    Sweeney (2002), Achieving k-anonymity privacy protection using generalization and suppression, section 4.
    Bayardo and Agrawal (2005), Data privacy through optimal k-anonymization, section 3.

    Examples
    --------
    Six people, as lectures show it: ages by decade and the first three digits of the postcode give classes of two.

    >>> import numpy as np
    >>> import pandas as pd
    >>> from defenses import Hierarchy, Incognito, Microdata
    >>> from defenses.base.hierarchy import TableHierarchy
    >>> table = pd.DataFrame({"sex": list("MMMMFF"), "age": [25, 29, 38, 31, 25, 28]})
    >>> table["postcode"] = ["354-0025", "354-0025", "354-0038", "354-0019", "354-0045", "354-0031"]
    >>> codes = sorted(set(table["postcode"]))
    >>> levels = {
    ...     "sex": TableHierarchy([["M", "*"], ["F", "*"]]),
    ...     "age": Hierarchy.from_intervals([[30], []], 20, 39, integer=True),
    ...     "postcode": TableHierarchy([*([code, "354", "*"] for code in codes), ["101-0001", "101", "*"]]),
    ... }
    >>> records = Microdata(table, quasi_identifiers=("sex", "age", "postcode"), hierarchies=levels)
    >>> defense = Incognito(k=2, max_suppression=0)
    >>> defense.minimal_nodes(records)
    [{'sex': 0, 'age': 1, 'postcode': 1}]
    >>> release = defense.apply(records, np.random.default_rng(0))
    >>> release.levels, release.optimal
    ({'sex': 0, 'age': 1, 'postcode': 1}, True)
    >>> print(release.frame[["sex", "age"]])
      sex      age
    0   M  [20,29]
    1   M  [20,29]
    2   M  [30,39]
    3   M  [30,39]
    4   F  [20,29]
    5   F  [20,29]
    >>> release.frame["postcode"].unique().tolist()
    ['{354-0019|354-0025|354-0031|354-0038|354-0045}']
    """

    called = ("Incognito", "Full-domain k-anonymity")

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
        search_limit: int = 20_000,
        time_limit: float | None = None,
    ) -> None:
        super().__init__(k=k, l=l, diversity=diversity, c=c, t=t, distance=distance, alpha=alpha, columns=columns)
        self.max_suppression = check_real("max_suppression", max_suppression, low=0, high=1)
        self.loss = check_choice("loss", loss, LOSSES)
        self.search_limit = check_integer("search_limit", search_limit, low=1)
        self.time_limit = check_real("time_limit", time_limit, low=0, open_low=True, optional=True)

    def apply(self, records: Microdata, rng: Generator) -> FullDomainRelease:
        """Release the columns at their optimal levels; nothing is drawn."""
        recoding, found = self._recoded(self.counted(records))
        release = recoded_release(records, recoding)
        return FullDomainRelease(release.frame, release.origin, release.channel, **found)

    def check(self, records: Microdata) -> None:
        """Check the parameters without the search, which `guarantee` and `apply` make."""
        names = _some(filled(records, self._checked_columns(records)))
        check_apart(names, sensitive_columns(records, self.constraints))
        for name in names:
            leveled_column(name, code_values(records.frame[name]), records.hierarchies.get(name))

    def guarantee(self, records: Microdata) -> Guarantee:
        """Return what the optimal levels guarantee for these records; takes as long as `apply` on small lattices."""
        problem, _ = self._problem(self.counted(records))
        if not _is_large(problem.lattice):
            return self._guarantee(problem, records, self._search(problem)[0])
        coarsest = tuple(levels - 1 for levels in problem.lattice.shape)
        verdict = problem.requirements.test(problem.lattice.frequency_set(coarsest))
        refuse(verdict.refutes, self._nothing_meets(problem))
        return self._guarantee(problem, records, None)

    def recode(self, records: CountedTable) -> Recoding:
        """Release the columns of counted records at their optimal levels; nothing is drawn."""
        return self._recoded(records)[0]

    def _recoded(self, records: CountedTable) -> tuple[Recoding, dict[str, Any]]:
        """Recoding at the optimal levels, and what a `FullDomainRelease` says of the search."""
        problem, finest = self._problem(records)
        best, bound, optimal = self._search(problem)
        suppressed = problem.lattice.members_of(best.node, best.classes, best.suppressed)
        classes, members = problem.lattice.classes_of(best.node)
        levels, roles, cells = dict(zip(problem.names, best.node, strict=True)), records.roles, {}
        for name, level in levels.items():
            if not level and not suppressed.any():
                continue
            values = roles.frame[name].iloc[records.rows(name)]
            released = roles.hierarchies[name].generalize(values, level) if level else None
            if released is None:
                released = escape_column(values, roles.domains.get(name)).to_numpy()
            value = np.empty(classes.size, dtype=np.intp)
            value[finest] = records.columns[name].codes
            cells[name] = ClassCells.of(value[members], released)
        if suppressed.any():
            cells = {name: each.extended(SUPPRESSED) for name, each in cells.items()}
            classes = np.where(suppressed, members.size, classes)
        recoding = Recoding(
            classes[finest],
            cells,
            self._guarantee(problem, roles, best),
            Channel(tuple(Containment(name, roles.domain(name)) for name in problem.names)),
            search_remark(best.loss, optimal=optimal, bound=bound),
        )
        return recoding, {"levels": levels, "loss": best.loss, "optimal": optimal, "bound": bound}

    def minimal_nodes(self, records: Microdata) -> list[dict[str, int]]:
        """List the minimal nodes: choices of levels that satisfy all requirements while no finer choice does.

        Parameters
        ----------
        records : Microdata
            The records; at most a share of `max_suppression` is suppressed.

        Returns
        -------
        list of dict of str to int
            Level of each column, sorted by the sum of the levels, then by the levels from the first column on.

        Raises
        ------
        ValueError
            If there are more than 2^23 choices of levels.
        """
        problem, _ = self._problem(self.counted(records))
        if _is_large(problem.lattice):
            choices = math.prod(problem.lattice.shape)
            raise ValueError(f"there are {choices} choices of levels, more than {_NODES}; name fewer columns")
        return [
            dict(zip(problem.names, node, strict=True)) for node in minimal_nodes(problem.lattice, problem.requirements)
        ]

    def _problem(self, records: CountedTable) -> tuple[_Problem, Integers]:
        """The problem, and the finest class of each combination."""
        names = _some(filled(records.roles, records.checked_columns(self.k, self.columns)))
        sensitive = counted_sensitive_columns(records, self.constraints)
        check_apart(names, sensitive)
        hierarchies = records.roles.hierarchies
        columns = [leveled_column(name, records.occurring(name), hierarchies.get(name)) for name in names]
        lattice, finest = build_lattice(columns, records.counts, [records.sensitive[each.name] for each in sensitive])
        limit = rows_of_share(self.max_suppression, int(lattice.finest.sizes.sum()))
        return _Problem(names, lattice, ClassRequirements(self.k, limit, self.constraints, sensitive)), finest

    def _guarantee(self, problem: _Problem, roles: Microdata, best: SearchResult | None) -> Guarantee:
        """Guarantee of a release whose best node is `best`; the search of a large lattice states it without one."""
        names = chosen_columns(roles, self.columns, roles.quasi_identifiers)
        required = problem.requirements
        rows = 0 if best is None or _is_large(problem.lattice) else int(best.classes.sizes[best.suppressed].sum())
        if best is None or rows == 0:
            return k_anonymity_over(self.k, roles, names, required.constraints)
        k, alone = (
            min(self.k, rows),
            "the suppressed record is one class" if rows == 1 else f"the {rows} suppressed records are one class",
        )
        suppressed_class = best.classes.put_together(best.suppressed)
        if all_hold(required.constraints, required.columns, suppressed_class.histograms, 1).all():
            beside = alone if k == self.k else f"{alone}, all others have at least {self.k}"
            return k_anonymity_over(k, roles, names, required.constraints, beside)
        lacks = " and ".join(map(str, required.constraints))
        beside = f"{alone}, which does not have {lacks}; all others do, with at least {self.k} records"
        return k_anonymity_over(k, roles, names, (), beside)

    def _search(self, problem: _Problem) -> tuple[SearchResult, float, bool]:
        """The best node, a lower bound on the loss of all nodes, and whether the node is proven optimal."""
        lattice, requirements = problem.lattice, problem.requirements
        loss, complete = LOSSES[self.loss], True
        if _is_large(lattice):
            best, bound, complete = limited_optimum(lattice, requirements, loss, self.search_limit, self.time_limit)
        else:
            best = optimum(lattice, requirements, loss)
            bound = math.nan if best is None else best.loss
        if best is None:
            reason = "" if complete else "; the search stopped at its limit: raise search_limit or time_limit"
            raise ValueError(self._nothing_meets(problem) + reason)
        return best, best.loss if complete else bound, complete

    def _nothing_meets(self, problem: _Problem) -> str:
        required = " and ".join([f"{self.k}-anonymity", *map(str, problem.requirements.constraints)])
        return (
            f"no levels of the hierarchies give {required} with at most {problem.requirements.limit} of "
            f"{problem.lattice.finest.sizes.sum()} records suppressed"
        )


def _some(names: tuple[str, ...]) -> tuple[str, ...]:
    require(names, "there is no column to generalize; name quasi-identifiers that hold values")
    return names


def _is_large(lattice: Lattice) -> bool:
    return math.prod(lattice.shape) > _NODES
