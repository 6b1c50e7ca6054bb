"""Utility of a released table: anchored fidelity of its statistics, and of a classifier trained on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial

import numpy as np
import pandas as pd
from numpy.random import Generator

from metrics.columns import CategoricalDomain, Domain, Floats, require
from metrics.fidelity import (
    RangeQueries,
    association,
    marginal_fidelity,
    query_fidelity,
    relative_association_fidelity,
)
from metrics.profile import CodedProfile, CountedProfile, Profile, original_profile, profile
from metrics.ranking import area_under_curve
from metrics.references import (
    association_noise,
    constant_table,
    information_free_fidelity,
    suppressed_table,
)

# Utility of one release as one number: the mean of its components.


def headline_utility(scores: Mapping[str, float | None]) -> tuple[float, dict[str, float | None]]:
    """Utility of one release, the mean of its components clipped at 0, and these components.

    If all components are at most 0, the utility is their mean, so that poor releases stay ordered.

    - scores: What `TableUtility.score` returns. The areas under the curve become the component ``classifier``, which is
      anchored at 1/2 and at the classifier of the original. It is left out if that one does not exceed 1/2.
    """
    components = dict(scores)
    auc, best = components.pop("classifier_auc"), components.pop("classifier_auc_original")
    if auc is not None and best is not None and best > 0.5:
        components["classifier"] = min(1.0, max(0.0, (auc - 0.5) / (best - 0.5)))
    values = np.array([value for value in components.values() if value is not None])
    clipped = {name: None if value is None else max(0.0, value) for name, value in components.items()}
    return float(np.maximum(values, 0).mean() or values.mean()), clipped


QUERIES = 200
LEAST_SCALE = 0.25
"""Least share of the distance between floor and 1 that is the full measure of associations."""


class TableUtility:
    """Utility of releases of one original table.

    Plain fidelity measures are too favourable: a table of constants scores about a half. Every component is therefore
    *anchored*: it is (measure - c) / (f - c), clipped to [0, 1]. The floor c is the best that releases without
    information reach: constants, ``*`` and uniform draws (`metrics.references.information_free_fidelity`). The full
    measure f is 1 for marginals and queries. For associations it is 1 - d, where d is the distance between two samples
    of the original's size (`metrics.references.association_noise`), so that sampling noise is not counted as loss. It
    is at least c + (1 - c) / 4, since noise must not be magnified further. If 1 - d ≤ c, two samples differ as much as
    a release without information does, and associations are left out. If c is 1, only the original's rows score 1.

    Parameters
    ----------
    original : DataFrame or CodedProfile, shape (n, columns)
        Original values, n >= 1, or their profile in the bins of `domains`.
    domains : mapping of str to Domain
        The columns to compare, with their public bins.
    held_out : DataFrame, shape (m, columns)
        Other real records, for testing classifiers; may be empty.
    target : str, optional
        The column that a classifier predicts from the others. Without it, or without held-out records, there is no
        classifier.
    rng : Generator
        Draws the range queries.
    reference : Profile, optional
        Counts of the whole table, where `original` holds rows of it, drawn at random without replacement. The noise of
        associations is then that of these rows times their share of all rows, since it falls with their number.
    signed : bool
        Whether components below the floor are negative instead of 0, so that such releases stay ordered.

    Raises
    ------
    ValueError
        If the original table is empty.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from metrics import CategoricalDomain, TableUtility
    >>> original = pd.DataFrame({"city": ["Nara", "Nara", "Uji", "Uji"]})
    >>> domains = {"city": CategoricalDomain(("Nara", "Uji"))}
    >>> utility = TableUtility(original, domains, original, None, np.random.default_rng(0))
    >>> utility.score(original)["marginals"]
    1.0
    >>> utility.score(original.assign(city="Nara"))["marginals"]
    0.0
    """

    def __init__(
        self,
        original: pd.DataFrame | CodedProfile,
        domains: Mapping[str, Domain],
        held_out: pd.DataFrame,
        target: str | None,
        rng: Generator,
        *,
        reference: Profile | None = None,
        signed: bool = False,
    ) -> None:
        self.domains = dict(domains)
        self.target = target
        self.signed = signed
        self.original = original if isinstance(original, CodedProfile) else original_profile(original, self.domains)
        require(self.original.rows, "the original table is empty; utility needs at least one record")
        self.queries = RangeQueries.random(self.domains, QUERIES, rng)
        # Generators of their own, so that the queries' generator goes on as before.
        (self._reference_rng,) = rng.spawn(1)
        # What releases are compared with: these rows, or counts of the whole table of which they are a sample.
        self.reference: Profile = CountedProfile.of(self.original) if reference is None else reference
        self.strength = association(self.reference) if self.domains else np.zeros(0)
        self.constant = constant_table(self.reference)
        self.suppressed = suppressed_table(self.reference, self.domains)
        self.held_out = original_profile(held_out, self.domains) if target and len(held_out) else None

    # Computed when a release is scored: games that draw people only to attack them do not pay for it.
    @cached_property
    def _anchors(self) -> tuple[dict[str, float], float]:
        floor = information_free_fidelity(self.reference, self.suppressed, self._measures, self._reference_rng)
        share = self.original.rows / self.reference.rows
        return floor, share * association_noise(self.original, self._reference_rng)

    @cached_property
    def _answers(self) -> Floats:
        """The reference's answers to the range queries."""
        return self.queries.answers(self.reference)

    @property
    def floor(self) -> dict[str, float]:
        """Best fidelity of releases without information, by component."""
        return self._anchors[0]

    @property
    def noise(self) -> float:
        """Distance of the associations of two samples of the original's size."""
        return self._anchors[1]

    @property
    def full(self) -> dict[str, float]:
        """Fidelity that counts as the full measure, by component."""
        floor = self.floor["associations"]
        return {
            **dict.fromkeys(self.floor, 1.0),
            "associations": max(1 - self.noise, floor + LEAST_SCALE * (1 - floor)),
        }

    @cached_property
    def original_auc(self) -> float | None:
        """Area under the curve of a classifier trained on the original, None where there is nothing to predict."""
        return self._auc(self.original)

    def score(self, released: pd.DataFrame) -> dict[str, float | None]:
        """Components of a release's utility.

        Returns
        -------
        dict
            Three anchored components, in [0, 1]. ``marginals``: 1 - mean total variation distance. ``associations``:
            1 - sum of squared differences of Cramer's V, relative to the original's sum of squares; None if the
            original's are too weak for its size. ``queries``: 1 - mean relative error of range counts.

            ``classifier_auc`` and ``classifier_auc_original``: areas under the ROC curve, in [0, 1], of a logistic
            regression trained on the release and on the original, tested on held-out records. They are .5 if the
            release has one class or no row, and None without a classifier. They are anchored after pooling over plays,
            since the ratio of a single play is too noisy.

        Raises
        ------
        ValueError
            If the release lacks a column or holds a cell that cannot be read.
        """
        if len(released) == 0:
            empty: dict[str, float | None] = {name: 0.0 if name in self._measurable else None for name in self.floor}
            return {**empty, **self._classifier(None if self.original_auc is None else 0.5)}
        table = profile(released, self.domains)
        return self.components(CountedProfile.of(table), table)

    def components(self, table: CountedProfile, drawn: Profile) -> dict[str, float | None]:
        """Components of the utility of a release that is given by its counts; see `score`.

        Parameters
        ----------
        table : CountedProfile
            The release.
        drawn : Profile
            Rows of it, drawn at random, or all, on which classifiers are trained.
        """
        is_whole = (self.original.rows, drawn.rows) == (self.reference.rows, table.rows)
        components: dict[str, float | None] = {
            name: None
            if name not in self._measurable
            else float(_same_rows(self.original, drawn))
            if is_whole and self.floor[name] == 1
            else anchored(measure(table), self.floor[name], self.full[name], signed=self.signed)
            for name, measure in self._measures.items()
        }
        return {**components, **self._classifier(self._auc(drawn))}

    @property
    def _measurable(self) -> frozenset[str]:
        """Components that can tell a sample of the same population from a release without information."""
        distinct = 1 - self.noise > self.floor["associations"]
        return frozenset(name for name in self.floor if name != "associations" or distinct)

    @property
    def _measures(self) -> dict[str, Callable[[Profile], float]]:
        """Fidelity of a table to the original, by component."""
        return {name: partial(measure, self) for name, measure in MEASURES.items()}

    def _classifier(self, auc: float | None) -> dict[str, float | None]:
        return {"classifier_auc": auc, "classifier_auc_original": self.original_auc}

    def _auc(self, table: Profile) -> float | None:
        if self.target is None or self.held_out is None:
            return None
        column = list(self.domains).index(self.target)
        truth = self.held_out.block(column).argmax(axis=1)
        present = np.unique(truth)
        if len(present) < 2:
            return None
        predicted = _predictions(table, self.held_out, column)
        labels = present[-1:] if len(present) == 2 else present
        return float(np.mean([area_under_curve(predicted[:, label], truth == label) for label in labels]))


MEASURES: dict[str, Callable[[TableUtility, Profile], float]] = {
    "marginals": lambda utility, table: marginal_fidelity(utility.reference, table),
    "associations": lambda utility, table: (
        relative_association_fidelity(utility.strength, table) if table.starts.size > 1 else 1.0
    ),
    "queries": lambda utility, table: query_fidelity(
        utility._answers, utility.queries.answers(table), utility.reference.rows
    ),
}
"""Fidelity of a table to the original of a utility, by component: a new one is one entry here."""
COMPONENTS = (*MEASURES, "classifier")
"""Components of a utility, in the order of tables."""


def _same_rows(original: Profile, released: Profile) -> bool:
    """Whether two tables have the same rows in any order."""
    if (original.rows, original.bins) != (released.rows, released.bins):
        return False
    first, second = (table.mass[np.lexsort(table.mass.T)] for table in (original, released))
    return np.array_equal(first, second)


def anchored(value: float, floor: float, full: float = 1.0, *, signed: bool = False) -> float:
    """Rescale a measure so that `floor` becomes 0 and `full` 1, clipped to [0, 1]; if floor is 1, only 1 stays 1.

    A signed result falls from 0 at the floor to -1 for a measure of 0.
    """
    if signed and value < floor:
        return value / floor - 1
    return float(np.clip((value - floor) / (full - floor), 0, 1)) if floor < full else float(value >= 1)


def weighted_marginals(original: Profile, released: Profile, domains: Mapping[str, Domain], rng: Generator) -> float:
    """Utility of marginals that are estimated for the population, where each row counts by its survey weight.

    The result is 1 - the mean total variation distance between the shares of both tables, anchored as in
    `TableUtility`.

    - original, released: Tables whose rows all have the weighted share of each bin as mass. Row i has weight w_i and
      mass m_i in the bin; the share is the sum of w_i m_i over all rows / the sum of w_i.
    - domains: The columns, without the weight itself.
    - rng: Draws the tables without information.

    Source: Särndal, Swensson and Wretman (1992), Model Assisted Survey Sampling, section 5.7: the weighted sample mean.
    """
    measure = partial(marginal_fidelity, original)
    floor = information_free_fidelity(original, suppressed_table(original, domains), {"marginals": measure}, rng)
    return anchored(measure(released), floor["marginals"])


def prediction_target(sensitive: tuple[str, ...], domains: Mapping[str, Domain]) -> str | None:
    """The column that a classifier predicts: the first sensitive one with two or more categories."""
    categorical = (name for name in sensitive if isinstance(domains.get(name), CategoricalDomain))
    return next((name for name in categorical if domains[name].size > 1), None)


def _predictions(train: Profile, test: Profile, column: int) -> Floats:
    """Class scores of the test rows, shape (rows, classes); a label spread over classes counts as weighted rows."""
    from sklearn.linear_model import LogisticRegression

    labels = train.block(column)
    row, label = np.nonzero(labels)
    scores = np.zeros((test.rows, labels.shape[1]))
    if np.unique(label).size < 2:
        return scores
    model = LogisticRegression(max_iter=1000)
    model.fit(train.without(column)[row], label, sample_weight=labels[row, label])
    scores[:, model.classes_] = model.predict_proba(test.without(column))
    return scores
