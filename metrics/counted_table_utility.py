"""Utility of releases of tables that are read in parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

import pandas as pd
from numpy.random import Generator

from metrics.counted_profile import CountedProfile
from metrics.domains import Domain
from metrics.fidelity import association, marginal_fidelity, query_fidelity, relative_association_fidelity
from metrics.profile import Profile
from metrics.references import association_noise, constant_table, information_free_fidelity, suppressed_table
from metrics.table_utility import TableUtility, anchored


class CountedTableUtility(TableUtility):
    """Utility of releases of one original table, both given by the expected counts of pairs of bins.

    All measures of `TableUtility` but two need no more than these counts. Classifiers are trained on drawn rows. The
    noise of associations is that of drawn rows, too, times their share of all rows, since it falls with their number
    (see `metrics.references.association_noise`). If all rows are drawn, the utility is that of `TableUtility`. One case
    differs: where the floor is 1, equal counts of pairs score 1 here, and only equal rows there.

    Parameters
    ----------
    original : CountedProfile
        The original table.
    sample : DataFrame, shape (m, columns)
        Rows of the original, drawn at random without replacement.
    domains : mapping of str to Domain
        The columns to compare, with their public bins.
    held_out : DataFrame
        Other real records, for testing classifiers; may be empty.
    target : str, optional
        The column that a classifier predicts.
    rng : Generator
        Draws the range queries, the reference tables and the halves of the sample.

    Raises
    ------
    ValueError
        If the sample is empty.
    """

    def __init__(
        self,
        original: CountedProfile,
        sample: pd.DataFrame,
        domains: Mapping[str, Domain],
        held_out: pd.DataFrame,
        target: str | None,
        rng: Generator,
    ) -> None:
        super().__init__(sample, domains, held_out, target, rng)
        self.counted = original
        self.strength = association(original) if self.domains else self.strength
        self.constant = constant_table(original)
        self.suppressed = suppressed_table(original, self.domains)

    @cached_property
    def _anchors(self) -> tuple[dict[str, float], float]:
        floor = information_free_fidelity(self.counted, self.suppressed, self._measures, self._reference_rng)
        share = self.original.rows / self.counted.rows
        return floor, share * association_noise(self.original, self._reference_rng)

    @property
    def _measures(self) -> dict[str, Callable[[Profile], float]]:
        """Fidelity of a table to the whole original, by component."""
        return {
            "marginals": lambda table: marginal_fidelity(self.counted, table),
            "associations": lambda table: (
                relative_association_fidelity(self.strength, table) if table.starts.size > 1 else 1.0
            ),
            "queries": lambda table: query_fidelity(self.counted, table, self.queries),
        }

    def score_counts(self, released: CountedProfile, sample: Profile) -> dict[str, float | None]:
        """Components of a release's utility; see `TableUtility.score`.

        Parameters
        ----------
        released : CountedProfile
            The release.
        sample : Profile
            Rows of the release, drawn at random without replacement.
        """
        components = {
            name: anchored(value, self.floor[name], self.full[name]) if name in self._measurable else None
            for name, value in self._fidelity(released).items()
        }
        return {**components, **self._classifier(self._auc(sample))}
