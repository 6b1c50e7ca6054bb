"""Linkage by the package recordlinkage, as its guide links two files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base import Attack, Knowledge, RankedAnswers, applicable, common_columns
from defenses.base import MicrodataRelease
from metrics.columns import Domain, NumericDomain, unescape

# Pairs for each released row from which no further column's blocks are added.
PAIRS_FOR_ROW = 5
# Similarity from which two values agree, and answers that are kept for each row.
AGREE, DEPTH = 0.85, 10
# Bound of the match weight of a column, which is infinite where all matches or all other pairs agree.
LARGEST = 50.0


class RecordLinkageToolkit(Attack):
    """Record linkage by the package ``recordlinkage``: index, compare, classify without known matches, one to one.

    It is the baseline of a practitioner. Texts are compared by Jaro-Winkler, and numbers by a Gaussian whose scale is
    half of the candidates' standard deviation. Values agree from a similarity of .85. The ECM classifier learns from
    the pairs. Linked pairs are answered one to one, those of largest match weight first. Other pairs follow by match
    weight. Weights are no probabilities, so that answers state no confidence.

    Pairs are compared that agree in a column, beginning with the column of fewest such pairs, until each row has five
    pairs on average. With all pairs, the classifier takes another pattern for matches more often.

    The package knows no generalized cells: ``[20,29]`` is another text than ``25``. `FellegiSunter` finds more wherever
    cells are generalized or replaced, and where numbers carry noise. With 70 % of all values of bank customers retained
    this attack found 8 %.

    References
    ----------
    de Bruin (2019), Python Record Linkage Toolkit: a toolkit for record linkage and duplicate detection in Python,
    guide "Link two datasets"; Winkler (1990), String comparator metrics.
    """

    called = ("recordlinkage", "Python Record Linkage Toolkit")

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> RankedAnswers:
        """Compare, fit and link.

        Raises
        ------
        NotApplicable
            If the release has no row, or all pairs are alike in every column.
        ValueError
            If the release and the candidates share no column.
        """
        import recordlinkage

        names = common_columns(release, knowledge)
        applicable(len(release.frame), "the release has no row")
        domains = knowledge.domains(names)
        # The package takes the first of equal candidates, so that these stand in random order.
        order = rng.permutation(len(knowledge.candidates))
        sides = release.frame[names], knowledge.candidates[names].iloc[order]
        released, candidates = (_readable(side.reset_index(drop=True), domains) for side in sides)
        comparison = _comparison(candidates, domains)
        features = comparison.compute(_indexed(released, candidates), released, candidates).ge(AGREE).astype(int)
        features = features.loc[:, features.min() < features.max()]
        applicable(features.size, "all pairs are alike in every column")
        classifier = recordlinkage.ECMClassifier()
        # Values that all pairs of a class share have probability 0 or 1, and the package takes their logarithm.
        with np.errstate(divide="ignore", invalid="ignore"):
            links = classifier.fit_predict(features)
            weights = classifier.log_weights
        score = sum(features[name].map(weights[name]).clip(-LARGEST, LARGEST).fillna(0.0) for name in features)
        if len(links):
            # The package links pairs in their order.
            links = score.loc[links].sort_values(ascending=False, kind="stable").index
            linked = features.index.isin(recordlinkage.OneToOneLinking().compute(links))
            score += linked * (2 * LARGEST * features.shape[1])
        best = score.groupby(level=0).rank(method="first", ascending=False) <= DEPTH
        row, candidate = (features.index.get_level_values(level)[best].to_numpy() for level in (0, 1))
        return RankedAnswers(len(released), len(order), row, order[candidate], score[best].to_numpy())


def _readable(frame: pd.DataFrame, domains: Mapping[str, Domain]) -> pd.DataFrame:
    """Numbers as numbers, NaN for generalized cells, and all other values as texts without escapes."""
    return pd.DataFrame(
        {
            name: pd.to_numeric(frame[name], errors="coerce")
            if isinstance(domain, NumericDomain)
            else frame[name].map(lambda cell: unescape(str(cell)), na_action="ignore").astype(object)
            for name, domain in domains.items()
        }
    )


def _comparison(candidates: pd.DataFrame, domains: Mapping[str, Domain]) -> Any:
    """How the package compares each column."""
    from recordlinkage import Compare

    comparison = Compare()
    for name, domain in domains.items():
        if isinstance(domain, NumericDomain):
            scale = float(candidates[name].std() / 2)
            comparison.numeric(name, name, method="gauss", scale=scale if scale > 0 else 1.0, label=name)
        else:
            comparison.string(name, name, method="jarowinkler", label=name)
    return comparison


def _indexed(released: pd.DataFrame, candidates: pd.DataFrame) -> pd.MultiIndex:
    """Pairs that agree in one of some columns, those of fewest such pairs first, until each row has five on average."""
    from recordlinkage import Index

    pairs = {name: int(released[name].map(candidates[name].value_counts()).fillna(0).sum()) for name in released}
    index, total = Index(), 0
    for name, count in sorted(pairs.items(), key=lambda pair: pair[1]):
        if count and total < PAIRS_FOR_ROW * len(released):
            index.block(name)
            total += count
    applicable(total, "no released value equals a candidate's")
    found: pd.MultiIndex = index.index(released, candidates)
    return found
