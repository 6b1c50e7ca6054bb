"""How strict t-closeness must be for the findings on classes that are above a threshold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from leaderboard.pages.number_text import exact
from metrics.domains import Domain
from scenarios.assessment.reporting.findings import ABOVE, Finding, class_title


def closeness_advice(
    records: pd.DataFrame, sensitive: Mapping[str, Domain], findings: Sequence[Finding], threshold: float
) -> Iterator[str]:
    """One sentence for each sensitive column whose classes are above the threshold: the t that keeps them within.

    Parameters
    ----------
    records : DataFrame, shape (records, columns)
        Original values.
    sensitive : mapping of str to Domain
        Sensitive columns with their domains.
    findings : sequence of Finding
        Findings on the release.
    threshold : float
        Largest acceptable risk, in (0, 1).

    Notes
    -----
    With equal distances, t-closeness bounds the difference of a value's shares p in a class and q in the table by t.
    The risk (p - q) / (1 - q) is then at most t / (1 - q), which is largest for the commonest value. So
    t = threshold (1 - max q) keeps every class within the threshold. It counts each number as a value of its own,
    while findings count public bins. A class holds few of many distinct numbers, so that only the whole table is close.

    References
    ----------
    Li, Li and Venkatasubramanian (2007), t-closeness, section 4.
    """
    above = {one.title for one in findings if one.status == ABOVE}
    for column, domain in sensitive.items():
        if class_title(column) in above:
            # Values are no cells: "{E}" may be a category, and as a cell it is a set.
            commonest = float(np.bincount(domain.codes(records[column])).max() / len(records))
            closeness = math.floor(1000 * threshold * (1 - commonest)) / 1000
            single = records[column].nunique() > domain.size
            first = (
                f" Before, write {column} in ranges: single numbers leave one class of all people." if single else ""
            )
            if closeness > 0:
                yield (
                    f"{class_title(column)}: a defense with t-closeness keeps it within {exact(threshold)} by "
                    f"t={closeness:g}, as Mondrian or Incognito with `-p t={closeness:g}`.{first}"
                )
