"""Released numbers beyond all original ones, as wide bins at the ends of a domain give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from metrics.cells import NumericCells, read_cells
from metrics.domains import Domain, NumericDomain

WIDER = 1.25
"""Ratio of the standard deviations, released over original, from which a column is named."""


def far_value_warnings(released: pd.DataFrame, records: pd.DataFrame, domains: Mapping[str, Domain]) -> Iterator[str]:
    """One sentence for each column of numbers that spreads wider than the original, with numbers beyond all of its own.

    A synthesizer draws numbers anywhere in a bin. A last bin that reaches to what is possible at all then holds numbers
    that nobody has: means and standard deviations change, although the counts of bins are right.

    Parameters
    ----------
    released : DataFrame, shape (rows, columns)
        Released cells.
    records : DataFrame, shape (records, more columns)
        Original values.
    domains : mapping of str to Domain
        Domains of the columns in question.
    """
    for name, domain in domains.items():
        if name not in released:
            continue
        cells = read_cells(released[name], domain)
        values = records[name].dropna().to_numpy(dtype=float) if isinstance(domain, NumericDomain) else np.empty(0)
        plain = (cells.plain & ~cells.missing)[cells.codes]
        if not isinstance(cells, NumericCells) or not len(values) or not plain.any():
            continue
        numbers = cells.midpoint()[cells.codes][plain]
        beyond = float(((numbers < values.min()) | (numbers > values.max())).mean())
        before, after = float(values.std()), float(numbers.std())
        if beyond and after > WIDER * before:
            yield (
                f"{name}: the standard deviation grows from {_digits(before)} to {_digits(after)}, since "
                f"{_percent(beyond)} of the released numbers lie beyond all original ones, by noise or in wide bins at "
                "the ends; narrower cuts mend the bins"
            )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else f"{100 * share:.1g} %"


def _digits(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
