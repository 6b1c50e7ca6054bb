"""Public bins refined under a budget, beneath any synthesizer of noisy marginals."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from numpy.random import Generator

from defenses.base import Guarantee, Microdata, MicrodataDefense, MicrodataRelease
from defenses.synthetic.graphical import GraphicalSynthesis, levels
from defenses.synthetic.graphical.refined_column import refined_column
from defenses.synthetic.row_synthesizer import Zeros, check_structural_zeros
from defenses.synthetic.spanning_trees import MaximumSpanningTree
from metrics.columns import NumericDomain, check_real, refuse

MOST_RECORDS = 1 / 8
"""Largest share of the records in a bin, unless it cannot be divided."""


class RefinedBins(MicrodataDefense):
    """Synthetic rows from noisy marginals of public bins that are refined where many records are.

    Synthesizers of noisy marginals draw numbers uniformly inside public bins. Where bins are coarse, ranges inside
    them come out wrong. Here a share of the budget measures numbers inside the bins.

    Parameters
    ----------
    synthesizer : MaximumSpanningTree, AdaptiveIterativeMechanism or PrivateMarginals, optional
        Releases the rows. Its epsilon and delta are those of the whole release. The default is `MaximumSpanningTree()`.
    share : float
        Share of the budget for the refinement, in (0, 1).
    structural_zeros : sequence of mapping of str to str
        Combinations of cells that cannot occur, besides those of the synthesizer; see there.

    Raises
    ------
    ValueError
        If a parameter is out of range; on `apply`, if the synthesizer refuses the records or structural zeros.

    Notes
    -----
    The budget rho of zero-concentrated privacy is that of the synthesizer's (epsilon, delta). It is divided exactly:

    1. A share goes to noisy counts of the numbers in each numeric column. Every public bin is divided into at most 16
       cells, and cells with large noisy counts twice more. Each level of each column gets the same part; the number of
       levels follows from the public domain. Where all bins hold a single number, nothing is measured.
    2. Bins with more than an eighth of the records, by the noisy counts, are divided near their medians.
    3. The synthesizer runs on these bins with the rest of the budget. Numbers are drawn inside a bin by the noisy
       counts of its cells.

    Steps 1 and 3 compose; which bins are divided is post-processing of step 1.

    Reads before its noise. Public: the number of records, names and order of the released columns, declared domains and
    their types, including whether numbers are integers. Protected: all values, and which of them are missing. Nothing
    is guaranteed unless every column has a declared domain.

    Effect on Adult, with random range counts at epsilon 1 and 10: with ten bins of equal width for each number, mean
    errors of amounts and hours fall to a tenth or less. With the data set's own fine bins, those of hours fall to a
    quarter at epsilon 1, and the others hardly change.

    References
    ----------
    Zhang, Xiao and Xie (2016), PrivTree: a differentially private algorithm for hierarchical decompositions, section 3.
    Bun and Steinke (2016), Concentrated differential privacy, lemma 1.7 (composition).

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from defenses import Microdata, RefinedBins
    >>> from metrics import NumericDomain
    >>> domains = {"hours": NumericDomain(0, 99, integer=True, cuts=(50,))}
    >>> records = Microdata(pd.DataFrame({"hours": [40] * 900 + [60] * 100}), domains=domains)
    >>> hours = RefinedBins().apply(records, np.random.default_rng(0)).frame["hours"]
    >>> bool((hours == 40).mean() > 0.8)
    True
    """

    def __init__(
        self,
        *,
        synthesizer: GraphicalSynthesis | None = None,
        share: float = 0.1,
        structural_zeros: Zeros = (),
    ) -> None:
        refuse(
            synthesizer is not None and not isinstance(synthesizer, GraphicalSynthesis),
            (
                "synthesizer must be MaximumSpanningTree, AdaptiveIterativeMechanism or PrivateMarginals, "
                f"got {synthesizer!r}"
            ),
        )
        self.share = check_real("share", share, low=0, high=1, open_low=True, open_high=True)
        self.structural_zeros = check_structural_zeros(structural_zeros)
        self.synthesizer = synthesizer

    def guarantee(self, records: Microdata) -> Guarantee:
        """Return the guarantee of the synthesizer, whose budget is shared."""
        return self._synthesizer.guarantee(records)

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Refine the bins, measure marginals, fit the model and draw the rows."""
        synthesizer = self._synthesizer
        synthesizer.check(records)
        bins = {
            name: domain
            for name in records.released_columns
            if isinstance(domain := records.domains[name], NumericDomain) and levels(domain)
        }
        if not len(records) or not bins:
            return synthesizer.apply(records, rng)
        whole = Fraction(synthesizer.rho)
        spent = whole * Fraction(float(self.share))
        variance = sum(map(levels, bins.values())) / spent
        refined = {name: refined_column(records, name, bins[name], variance, rng) for name in bins}
        divided = {name: refined[name].bins(bins[name], MOST_RECORDS * len(records)) for name in bins}
        inside = {name: refined[name].inside(divided[name]) for name in bins}
        records = replace(records, domains={**records.domains, **divided})
        return synthesizer.released(records, whole - spent, inside, rng)

    @property
    def _synthesizer(self) -> GraphicalSynthesis:
        synthesizer = (self.synthesizer or MaximumSpanningTree()).clone()
        return synthesizer.set_params(structural_zeros=[*synthesizer.structural_zeros, *self.structural_zeros])
