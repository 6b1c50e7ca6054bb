"""A table of local reports: each person randomizes several columns before sending them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base import (
    Channel,
    Guarantee,
    Microdata,
    MicrodataDefense,
    MicrodataRelease,
    category_cells,
    check_columns,
    chosen_columns,
    released_frame,
)
from defenses.ldp.histogram_encoding import SummationHistogramEncoding
from defenses.ldp.local_reports import LocalReports, coded_values, protocols, public_domain
from defenses.ldp.randomized_response import GeneralizedRandomizedResponse
from defenses.ldp.rebuilding import rebuilt_rows
from defenses.ldp.reported.reported_columns import (
    NUMBERS,
    ReportedColumn,
    ReportedNumericColumn,
    TableColumn,
    is_range,
    ranged_numbers,
)
from defenses.ldp.reported.splitting import (
    NO_NUMBERS,
    BudgetSplitting,
    ColumnSampling,
    ColumnSamplingAmongFakes,
    SentReports,
    Splitting,
    blank_protocol,
)
from metrics.columns import SUPPRESSED, Domain, Floats, NumericDomain, check_boolean, check_choice, refuse, require

# The value with the largest noisy number of a histogram encoding, as randomized response.

# Below this product of d and a tail probability, the difference of two almost equal numbers is integrated instead.
_SMALL = 0.5


class LargestNumber(GeneralizedRandomizedResponse):
    """The value with the largest number in a report of `SummationHistogramEncoding`; ties are broken uniformly.

    All other values are equally likely, so that this is randomized response with the probabilities of
    `largest_number_probabilities`. It draws the value from them, which is the same mechanism and needs no noise. The
    value is post-processed from the report, so that epsilon holds; the exact privacy, log(p/q), is smaller.

    - epsilon: Privacy of the report, in [1e-6, 100].
    - d: Number of values, at least 2.

    References
    ----------
    Wang et al. (2017), section 4.2, for the encoding; Dwork and Roth (2014), The algorithmic foundations of
    differential privacy, section 3.3, for report noisy maximum.
    """

    @cached_property
    def _probabilities(self) -> tuple[float, float]:
        report = SummationHistogramEncoding(epsilon=self.epsilon, d=self.d)
        return largest_number_probabilities(report.units, report.scale, int(self.d))

    @property
    def p(self) -> float:
        """Probability that the own number is the largest."""
        return self._probabilities[0]

    @property
    def lie(self) -> float:
        """Probability that another number is the largest."""
        return self._probabilities[1]

    @property
    def q(self) -> float:
        """Probability that a given other number is the largest."""
        return self.lie / (self.d - 1)

    @property
    def support_odds(self) -> float:
        """Logarithm of p/q."""
        return float(np.log(self.p) - np.log(self.q))


def largest_number_probabilities(units: int, scale: float, d: int) -> tuple[float, float]:
    """Probabilities that the own number is the largest of d noisy numbers, and that another one is.

    The own number is `units` and the others are 0, each plus independent discrete Laplace noise. One of several equal
    largest numbers is drawn uniformly.

    - units: The own number before noise, at least 1, in grid steps.
    - scale: Scale t of the noise, in grid steps: it equals x with probability proportional to e^(-abs(x)/t).
    - d: Number of values, at least 2.
    - returns own, another: The two probabilities, which sum to 1.

    Notes
    -----
    Let r(x) = e^((abs(x) - abs(x - u))/t), the likelihood ratio of the own number x between the means u = `units` and
    0. If all means were 0, each number would be the largest with probability 1/d. So own = E[r(M)]/d with M the largest
    of d numbers of mean 0. Let s(x) be the probability that such a number exceeds x, and H(x) = 1 - (1 - s(x))^d the
    same for M. The ratio r changes only between 0 and u, by D(x) = r(x + 1) - r(x). Summation by parts gives

        own = (e^(-u/t) + sum of D(x) H(x))/d,
        another = (1 - 1/d) e^(-u/t) + sum of D(x) (s(x) - H(x)/d),   over x = 0, ..., u - 1.

    The second follows since r has mean 1 under the noise. All terms are positive, so that both sums keep their digits:
    their relative error is below 1e-11. There are u <= 2^16 terms for the encoding, whatever d is.
    """
    steps = np.arange(units)
    tail = np.exp(-(steps + 1) / scale) / (1 + np.exp(-1 / scale))
    rise = np.expm1(2 / scale) * np.exp((2 * steps - units) / scale)
    start = np.exp(-units / scale)
    own = (start + rise @ -np.expm1(d * np.log1p(-tail))) / d
    another = (1 - 1 / d) * start + rise @ _excess(tail, d)
    return float(own), float(another)


# Five nodes are exact up to the tenth derivative: a relative error below 1e-14 where they are used.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(5)


def _excess(tail: Floats, d: int) -> Floats:
    """S - (1 - (1 - s)^d)/d, the integral of 1 - (1 - y)^(d - 1) from 0 to s, for each s."""
    result = np.asarray(tail + np.expm1(d * np.log1p(-tail)) / d)
    small = d * tail < _SMALL
    part = tail[small]
    inner = np.log1p(-part[:, None] * (1 + _NODES) / 2)
    result[small] = part * (-np.expm1((d - 1) * inner) @ _WEIGHTS) / 2
    return result


SPLITTINGS = ("SPL", "SMP", "RS+FD")
FAKES = ("random", "blank")
# Largest number of values of a column whose reports are sets; a cell lists those that its report supports.
MOST_VALUES = 4096


class ReportedTable(MicrodataDefense):
    """Local differential privacy for tables: each person reports many columns through a protocol of `defenses.ldp`.

    A row holds one person's reports. A cell is the set of the values that the report supports, one value under
    randomized response. Numbers are reported by their public bins, or as noisy numbers. Analysts work on a table that
    is rebuilt from the reports (`MicrodataRelease.analysis`), on which utility is measured.

    `SummationHistogramEncoding` reports a noisy number for each value. Its cell is the value with the largest number,
    and the other numbers are dropped. An attacker who sees the table thus knows less than the collector of the reports.
    Attacks on `LocalReports` read all numbers.

    Parameters
    ----------
    protocol : str
        Class name of a protocol in `defenses.ldp` that takes a domain of any size, or `BinaryRandomizedResponse` for
        two values; for all columns.
    epsilon : float
        Privacy of the whole record, positive.
    splitting : {"SPL", "SMP", "RS+FD"}
        Use of the budget for several columns. "SPL" splits it over all columns. "SMP" spends it on one column for each
        person, drawn uniformly. "RS+FD" hides which column that is among fake reports of all others.
    fakes : {"random", "blank"}
        Fakes of "RS+FD": reports of uniformly random values, or, for unary encodings, of no value.
    amplified : bool
        Whether a report under "RS+FD" has epsilon' = ln(m (e^epsilon - 1) + 1) for m columns, as published. The
        guarantee of the record is then epsilon', not epsilon; see
        `defenses.ldp.reported.splitting.ColumnSamplingAmongFakes`.
    columns : sequence of str, optional
        The reported columns; by default all released ones. Other columns are released as they are.
    missing : {"category", "refuse"}
        Treatment of missing values. "category" makes missing a further value of each column, even if no value is
        missing; "refuse" raises an error.
    options : mapping, optional
        Further parameters of the protocol, for example ``{"m": 256, "k": 64}`` for a sketch.
    numbers : {"PiecewiseMechanism", "HybridMechanism", "TwoPointMechanism"}, optional
        Mechanism for columns of numbers, whose cells are then noisy numbers; not with "RS+FD". By default the protocol
        reports their bins. A missing number sends the report of nobody's number.

    Raises
    ------
    ValueError
        If a parameter is out of range, `columns` is empty, or the protocol refuses its own parameters.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from defenses import Microdata, ReportedTable
    >>> from metrics import CategoricalDomain, NumericDomain
    >>> frame = pd.DataFrame({"age": [23, 45, 67], "illness": ["flu", "cold", "ulcer"]})
    >>> ages = NumericDomain(0, 120, integer=True, cuts=(30, 60))
    >>> domains = {"age": ages, "illness": CategoricalDomain(("flu", "cold", "ulcer"))}
    >>> records = Microdata(frame, quasi_identifiers=("age",), sensitive=("illness",), domains=domains)
    >>> defense = ReportedTable(protocol="OptimizedUnaryEncoding", epsilon=20.0, missing="refuse")
    >>> defense.guarantee(records).epsilon
    20.0
    >>> defense.apply(records, np.random.default_rng(3)).frame  # a report drops its own value half of the time
      age illness
    0   *       *
    1   *    cold
    2   *   ulcer

    Numbers may be reported as numbers:

    >>> noisy = ReportedTable(numbers="PiecewiseMechanism", epsilon=20.0).apply(records, np.random.default_rng(3))
    >>> noisy.frame.round(1)
        age illness
    0  22.5     flu
    1  44.8    cold
    2  66.7   ulcer

    Notes
    -----
    Reads before its noise. Public: the number and the order of rows, names and order of the columns, declared domains;
    with ``missing="refuse"`` that no value is missing. Protected: the values of the reported columns. A column whose
    domain has one value is released as that value.

    The epsilon of `guarantee` is exact between any two records (`defenses.ldp.reported.splitting`), except for the two
    histogram encodings, where it is an upper bound. The channel gives exact likelihoods of rows, up to a constant for
    each row. A set omits nothing that the report says about the value. The largest of noisy numbers does:
    `LargestNumber` in `defenses.ldp.reported.reported_table` has its exact probability, from which shares are estimated
    without bias.

    Distributions of columns are estimated without bias and projected onto the simplex, those of noisy numbers by
    maximum likelihood (`defenses.ldp.reported.reported_columns`). Pairs can be estimated under "SPL" only, since
    otherwise nobody reports two true values (`defenses.ldp.rebuilding`).

    With `numbers`, the mean of a column's cells under "SPL" estimates its mean without bias, unless values are missing.
    A number outside of its declared domain is an error. A report of nobody's number is within epsilon
    of the reports of all numbers (`defenses.base.number_law`), so that missing numbers are protected as well.

    References
    ----------
    Arcolezi, Couchot, Al Bouna and Xiao (2021), Random sampling plus fake data: multidimensional frequency estimates
    with local differential privacy, for the three ways; Arcolezi et al. (2022), Improving the utility of locally
    differentially private protocols for longitudinal and multidimensional frequency estimates; Wang et al. (2019),
    Collecting and analyzing multidimensional data with local differential privacy, for numbers.
    """

    randomizes_records_independently = True

    def __init__(
        self,
        *,
        protocol: str = "GeneralizedRandomizedResponse",
        epsilon: float = 1.0,
        splitting: str = "SPL",
        fakes: str = "random",
        amplified: bool = False,
        columns: Sequence[str] | None = None,
        missing: str = "category",
        options: Mapping[str, Any] | None = None,
        numbers: str | None = None,
    ) -> None:
        self.protocol = check_choice("protocol", protocol, protocols())
        LocalReports(protocol=protocol, epsilon=epsilon, missing=missing, options=options)
        self.splitting = check_choice("splitting", splitting, SPLITTINGS)
        self.fakes = check_choice("fakes", fakes, FAKES)
        self.amplified = check_boolean("amplified", amplified)
        self.columns = check_columns(columns)
        refuse(columns is not None and not columns, "columns must name at least one column")
        self.epsilon = epsilon
        self.missing = missing
        self.options = options
        self.numbers = numbers
        require(
            numbers is None or numbers in NUMBERS,
            f"numbers must be one of {', '.join(NUMBERS)}, got {numbers!r}",
        )
        refuse(numbers is not None and splitting == "RS+FD", NO_NUMBERS)
        refuse(
            splitting != "RS+FD" and (amplified or fakes == "blank"),
            "fakes, amplified: they are about RS+FD; set splitting to it",
        )

    def guarantee(self, records: Microdata) -> Guarantee:
        """Epsilon of the reported columns of a record together."""
        columns, _ = self._reported(records)
        each = columns[0].protocol.epsilon if columns else 0.0
        names = ", ".join(self._names(records)) or "none"
        universe = " without missing values" if self.missing == "refuse" else ""
        if any(isinstance(column, ReportedNumericColumn) for column in columns):
            universe += " with numbers in their domains"
        others = "" if self.columns is None else "; other columns are released as they are"
        return Guarantee(
            epsilon=self._strategy().record_epsilon(float(each), len(columns)),
            delta=0.0,
            statement=f"local, one record replaced by any other{universe}, of the columns {names} together{others}",
        )

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Randomize every row, and rebuild a table from the reports.

        Raises
        ------
        ValueError
            If a column does not exist, has no declared domain, has a domain that is too large or a value outside of it,
            holds released cells already, or a missing value is refused.
        """
        columns, values = self._reported(records)
        report_rng, analysis_rng = rng.spawn(2)
        strategy = self._strategy()
        sent = strategy.send(columns, values, report_rng)
        # A column whose domain has one category or bin holds it in all rows.
        first = {name: category_cells(records.domains[name])[0] for name in self._names(records)}
        cells: dict[str, Any] = {name: pd.Series([cell] * len(records), dtype=object) for name, cell in first.items()}
        cells |= {one.column.name: _cells(one, len(records), all_report=strategy.joint) for one in sent}
        frame = released_frame(records, cells)
        channel = Channel(strategy.parts(columns))
        shares = [strategy.shares(one, len(columns)) for one in sent]
        rows = rebuilt_rows(sent, shares, len(records), joint=strategy.joint, rng=analysis_rng)
        rebuilt = {
            column.name: category_cells(column.domain)[codes] for column, codes in zip(columns, rows, strict=True)
        }
        return MicrodataRelease(frame, np.arange(len(frame)), channel, frame.assign(**rebuilt))

    def _strategy(self) -> Splitting:
        among_fakes = ColumnSamplingAmongFakes(blank=self.fakes == "blank", amplified=self.amplified)
        return {"SPL": BudgetSplitting(), "SMP": ColumnSampling(), "RS+FD": among_fakes}[self.splitting]

    def _names(self, records: Microdata) -> tuple[str, ...]:
        return chosen_columns(records, self.columns, records.released_columns)

    def _reported(self, records: Microdata) -> tuple[list[TableColumn], list[NDArray[Any]]]:
        """Columns with at least two values; for each, the rows' numbers, or positions in the domain of others."""
        values: dict[str, NDArray[Any]] = {}
        sizes: dict[str, int | None] = {}
        for name in self._names(records):
            require(
                name not in records.generalized,
                f"columns: {name!r} holds released cells already; reports need the original values",
            )
            domain = public_domain(records, name, "columns")
            if self.numbers is not None and is_range(domain):
                values[name], sizes[name] = ranged_numbers(records, name, domain, self.missing, "columns"), None
                continue
            codes, size = coded_values(records, name, self.missing, "columns")
            if size > 1:
                values[name], sizes[name] = codes, size
        each = self._strategy().column_epsilon(self.epsilon, len(values))
        columns = [self._column(name, records.domains[name], size, each) for name, size in sizes.items()]
        return columns, list(values.values())

    def _column(self, name: str, domain: Domain, size: int | None, epsilon: float) -> TableColumn:
        """A column whose categories or bins the protocol reports; or one of numbers, which has no size."""
        if size is None:
            assert isinstance(domain, NumericDomain)  # noqa: S101 (others have a size)
            return ReportedNumericColumn(
                name, domain, NUMBERS[str(self.numbers)](epsilon=epsilon), self.missing == "category"
            )
        maker = LocalReports(protocol=self.protocol, epsilon=epsilon, missing=self.missing, options=self.options)
        column = ReportedColumn(name, domain, maker.protocol_for(size, name))
        if self.fakes == "blank":
            blank_protocol(column)
        if isinstance(column.protocol, SummationHistogramEncoding):
            column = replace(column, protocol=LargestNumber(epsilon=epsilon, d=size))
        refuse(
            size > MOST_VALUES and not isinstance(column.protocol, GeneralizedRandomizedResponse),
            (
                f"columns: {name!r} has {size} values, and sets of {self.protocol} may have {MOST_VALUES}; "
                "declare a coarser domain"
            ),
        )
        return column


def _cells(sent: SentReports, n: int, *, all_report: bool) -> NDArray[Any]:
    """Released cells of a column, shape (n,): ``*`` for persons who do not report it."""
    cells = np.full(n, SUPPRESSED, dtype=object)
    cells[sent.senders] = sent.column.cells(sent.reports)
    return cells.astype(float) if all_report and isinstance(sent.column, ReportedNumericColumn) else cells
