"""Pure protocols whose report is one bit for each value."""

from __future__ import annotations

import numpy as np

from defenses.ldp.packed_bits import column_counts
from defenses.ldp.pure_oracle import PureOracle
from defenses.ldp.report_batch import Part, ReportBatch, packed
from metrics.arrays import Booleans, Integers64


class BitVectorOracle(PureOracle):
    """Pure protocol whose report is a vector of d bits, eight to a byte; a set bit supports its value.

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 100].
    d : int
        Number of values, at least 2.
    """

    @property
    def parts(self) -> dict[str, Part]:
        """The bits, one for each value."""
        return {"bits": packed(self.d)}

    def supports(self, reports: ReportBatch) -> Booleans:
        """Return the bits of each report, shape (n, d)."""
        self.check_reports(reports)
        return np.unpackbits(reports.parts["bits"], axis=1, count=self.d).astype(bool)

    def support_counts(self, reports: ReportBatch) -> Integers64:
        """Number of reports in which each bit is set, shape (d,)."""
        return column_counts(reports.parts["bits"], self.d)
