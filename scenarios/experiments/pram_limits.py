"""Section of the PRAM experiment on full freedom: what matrices of any form reach, and how far off the A-type is."""

from __future__ import annotations

import numpy as np

from defenses.pram import freedom
from defenses.pram.conversions import retention_for_epsilon
from defenses.pram.matrix import transition_matrix
from defenses.pram.optimal import optimal_retention
from leaderboard.report import Section, Table, Value
from metrics.arrays import Floats
from scenarios.datasets import load

EPSILONS = (1.0, 2.0, 4.0)
COLUMNS = ("marital", "education")


def limit_section() -> Section:
    """Compare matrices on the bank's marital status and education, at a few epsilons."""
    records = load("bank").records
    tables = []
    for name in COLUMNS:
        domain = records.domain(name)
        counts = np.bincount(domain.codes(records.frame[name]), minlength=domain.size)[: domain.size].astype(float)
        rows = [row for epsilon in EPSILONS for row in _rows(counts, epsilon)]
        tables.append(
            Table(
                f"{name}: {counts.size} categories, {int(counts.sum()):,} records",
                ("protocol", "distance of the expected release", "error of the unbiased estimate", "bits a record"),
                rows,
                digits=3,
                note="Error: root of the expected squared distance between estimate and histogram; none where reports "
                "allow no unbiased estimate. The least error and the most bits among all protocols of an epsilon are "
                "those of the last two lines of it.",
            )
        )
    text = (
        "Without the A-type's form, the distance of the expected release is no measure: the matrix whose every column "
        "is the histogram itself has distance 0 and, as a fixed matrix, epsilon 0, and a release under it says nothing "
        "of any record; but the matrix is the histogram. What an analyst gets is told by the error of an unbiased "
        "estimate, and by the information a report holds of its record.",
    )
    return Section("Matrices under full freedom", text, tuple(tables))


def _rows(counts: Floats, epsilon: float) -> list[tuple[Value, ...]]:
    d = counts.size
    protocols = {
        "every column the histogram": freedom.degenerate_matrix(counts),
        "optimal A-type": transition_matrix(optimal_retention(counts, epsilon)),
        "retention-replacement": transition_matrix(np.full(d, retention_for_epsilon(epsilon, d))),
        "subset selection": freedom.subset_selection(d, epsilon),
        "least error": freedom.least_variance_protocol(counts, epsilon),
        "most bits": freedom.most_informative_matrix(counts, epsilon),
    }
    return [(f"ε = {epsilon:g}, {name}", *_measures(protocol, counts)) for name, protocol in protocols.items()]


def _measures(protocol: Floats, counts: Floats) -> tuple[Value, Value, Value]:
    square = len(protocol) == counts.size
    distance = float(np.linalg.norm(protocol @ counts - counts)) if square else None
    variance = freedom.estimation_variance(protocol, counts)
    error = float(np.sqrt(variance)) if np.isfinite(variance) else None
    return distance, error, freedom.mutual_information(protocol, counts) / float(np.log(2))
