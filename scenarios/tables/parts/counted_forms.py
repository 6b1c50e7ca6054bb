"""Defenses in the form that works on counted combinations of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from defenses.base.channel import Channel
from defenses.base.columns import code_column
from defenses.base.defense import Defense, chosen_columns
from defenses.base.guarantee import Guarantee
from defenses.base.k_anonymous_defense import k_anonymity_over
from defenses.base.microdata import Microdata
from defenses.base.pipeline import Pipeline
from defenses.grouping.counted_table import ClassCells, CountedDefense, CountedTable, Recoding, check_enough
from defenses.grouping.incognito.lattice import number_tuples
from defenses.recoding.global_recoding import GlobalRecoding
from defenses.recoding.record_suppression import RecordSuppression
from metrics.arrays import Integers


def counted_form(defense: Defense) -> CountedDefense | None:
    """The defense as one that works on counted combinations; None if it has no such form.

    `Incognito` and strict `Mondrian` have it by themselves, `RecordSuppression` alone or after `GlobalRecoding`.
    """
    if isinstance(defense, CountedDefense):
        return defense if defense.works_on_counts else None
    if isinstance(defense, RecordSuppression):
        return CountedSteps((), (defense,), promises=True)
    if isinstance(defense, Pipeline):
        recodings = [step for step in defense.steps if isinstance(step, GlobalRecoding)]
        suppressions = [step for step in defense.steps if isinstance(step, RecordSuppression)]
        if suppressions and list(defense.steps) == [*recodings[:1], *suppressions]:
            return CountedSteps(tuple(recodings), tuple(suppressions), promises=False)
    return None


@dataclass(frozen=True)
class CountedSteps:
    """Full-domain generalization, followed by the suppression of records in small classes.

    Parameters
    ----------
    recodings : tuple of GlobalRecoding
        None or one.
    suppressions : tuple of RecordSuppression
        One at least.
    promises : bool
        Whether the release promises what its last step does; a `Pipeline` promises nothing.
    """

    recodings: tuple[GlobalRecoding, ...]
    suppressions: tuple[RecordSuppression, ...]
    promises: bool
    works_on_counts: ClassVar[bool] = True

    def counted_columns(self, roles: Microdata) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Columns that define the classes or are generalized; no sensitive ones."""
        names = [name for step in self.suppressions for name in _class_columns(step, roles)]
        changed = [name for step in self.recodings for name in sorted(_generalized(step, roles).columns)]
        return tuple(dict.fromkeys([*names, *changed])), ()

    def recode(self, records: CountedTable) -> Recoding:
        """Generalize, then suppress; nothing is drawn."""
        roles = records.roles
        cells, channel = {}, Channel()
        for step in self.recodings:
            release, channel = step.apply(roles, np.random.default_rng(0)), _generalized(step, roles)
            for name in channel.columns:
                cells[name] = _recoded_values(records, name, release.frame[name])
        classes = np.arange(records.counts.size)
        for suppression in self.suppressions:
            counts = np.where(classes < 0, 0, records.counts)
            check_enough(suppression.k, int(counts.sum()))
            groups = _groups(records, cells, _class_columns(suppression, roles))
            sizes = np.bincount(groups, weights=counts)
            classes = np.where(sizes[groups] >= suppression.k, classes, -1)
        last = self.suppressions[-1]
        guarantee = k_anonymity_over(last.k, roles, _class_columns(last, roles)) if self.promises else Guarantee()
        return Recoding(classes, cells, guarantee, channel)


def _class_columns(step: RecordSuppression, roles: Microdata) -> tuple[str, ...]:
    return chosen_columns(roles, step.columns, roles.quasi_identifiers)


def _generalized(step: GlobalRecoding, roles: Microdata) -> Channel:
    """Channel of a generalization, whose parts name the columns that it changes."""
    return step.apply(roles, np.random.default_rng(0)).channel or Channel()


def _recoded_values(records: CountedTable, name: str, released: pd.Series[Any]) -> ClassCells:
    """Cell of each combination, given the cell of each row of the roles' frame."""
    coded = code_column(records.roles.frame[name], records.roles.domain(name))
    row = np.zeros(coded.size, dtype=np.intp)
    row[coded.codes] = np.arange(coded.codes.size)
    return ClassCells.of(records.columns[name].codes, released.to_numpy(dtype=object)[row])


def _groups(records: CountedTable, cells: Mapping[str, ClassCells], names: Sequence[str]) -> Integers:
    """Number of the distinct tuple of cells of each combination, shape (combinations,)."""
    if not names:
        return np.zeros(records.counts.size, dtype=np.intp)
    codes: list[Any] = [cells[name].codes if name in cells else records.columns[name].codes for name in names]
    sizes = [cells[name].cells.size if name in cells else records.columns[name].size for name in names]
    return number_tuples(codes, sizes)[0]
