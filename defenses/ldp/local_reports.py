"""Local reports: each person randomizes the value of one column before sending it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from defenses.base import Defense, Guarantee, Microdata, ReportsRelease
from defenses.ldp import BinaryRandomizedResponse, FrequencyOracle
from defenses.ldp.best import CANDIDATES
from defenses.ldp.bit_vectors import (
    LongitudinalOptimizedUnaryEncoding,
    LongitudinalSymmetricUnaryEncoding,
    LongitudinalUnaryEncoding,
)
from metrics.columns import (
    Domain,
    Integers64,
    check_boolean,
    check_choice,
    check_integer,
    check_real,
    refuse,
    refuse_rows,
    require,
)

MISSING = ("refuse", "category")


class LocalReports(Defense):
    """Local differential privacy: each person reports one column through a protocol of `defenses.ldp`.

    The reported values are positions of categories, or of public bins of numbers, in the column's declared domain.
    `ReportedTable` reports many columns.

    Parameters
    ----------
    protocol : str
        Class name of a protocol in `defenses.ldp` that takes a domain of any size, or `BinaryRandomizedResponse` for
        two values.
    epsilon : float
        Privacy of one report, in [1e-6, 100]; for longitudinal encodings that of all rounds together.
    column : str, optional
        The reported column; by default the first sensitive column, else the only released one.
    rounds : int
        Number of reports of each person, at least 1.
    memoize : bool
        Whether each person repeats one report in every round instead of sending fresh ones. Longitudinal encodings
        memoize by themselves, and randomize again in every round.
    missing : {"refuse", "category"}
        Treatment of missing values. "refuse" raises an error; "category" makes missing the last value of the domain,
        even if no value is missing.
    options : mapping, optional
        Further parameters of the protocol, for example ``{"m": 256, "k": 64}`` for a sketch.

    Raises
    ------
    ValueError
        If a parameter is out of range or the protocol refuses its own.

    Notes
    -----
    Reads before its noise. Public: the number and the order of rows, since each row sends its own report; the declared
    domain of the column; with ``missing="refuse"`` that no value is missing. Protected: the values of the column, and
    with ``missing="category"`` which of them are missing.

    Each report is epsilon-private between any two values of a row, whatever the other rows. Fresh rounds add up to
    rounds x epsilon. Memoized rounds repeat the first report. Together they cost epsilon as long as the value stays the
    same, although they show that they come from one sender. A person with several rows spends this for each row.

    References
    ----------
    Erlingsson, Pihur and Korolova (2014), RAPPOR, for memoization (`defenses.ldp.bit_vectors`); Wang et al. (2017)
    for the protocols.
    """

    called = ("LDP", "Local differential privacy")

    kind: ClassVar[str] = "reports"

    def __init__(
        self,
        *,
        protocol: str = "OptimizedLocalHashing",
        epsilon: float = 1.0,
        column: str | None = None,
        rounds: int = 1,
        memoize: bool = False,
        missing: str = "refuse",
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.epsilon = check_real("epsilon", epsilon, low=0, open_low=True)
        self.rounds = check_integer("rounds", rounds, low=1)
        self.memoize = check_boolean("memoize", memoize)
        refuse(column is not None and not isinstance(column, str), f"column must be a name, got {column!r}")
        self.missing = check_choice("missing", missing, MISSING)
        refuse(
            options is not None and not isinstance(options, Mapping),
            f"options must be a table of the protocol's parameters, got {options!r}",
        )
        self.protocol = protocol
        self.column = column
        self.options = options
        refuse(
            memoize and protocol in longitudinal_protocols(), f"memoize: {protocol} memoizes by itself; leave it out"
        )
        self.protocol_for(2)

    def protocol_for(self, d: int, column: str | None = None) -> FrequencyOracle:
        """Return the protocol for d values.

        Parameters
        ----------
        d : int
            Number of values.
        column : str, optional
            The column with these values, which error messages name.

        Raises
        ------
        ValueError
            If the protocol does not exist, does not take d values, or refuses a parameter.
        """
        classes = {**protocols(), **longitudinal_protocols()}
        check_choice("protocol", self.protocol, classes)
        make = classes[self.protocol]
        parameters = dict(self.options or {}) | {"epsilon": self.epsilon}
        for name in self.options or {}:
            require(
                name in make.parameter_names() and name not in ("epsilon", "d"),
                f"options: {self.protocol} has no option {name!r}",
            )
        if "d" in make.parameter_names():
            return make(**parameters, d=d)
        which = "the column" if column is None else f"column {column!r}"
        hint = " with the missing one; set missing to 'refuse'" if self.missing == "category" and d == 3 else ""
        require(d == 2, f"protocol: {self.protocol} is for two values, {which} has {d}{hint}")
        return make(**parameters)

    def guarantee(self, records: Microdata) -> Guarantee:
        """Epsilon of all rounds together."""
        self._values(records)
        longitudinal = self.protocol in longitudinal_protocols()
        total = float(self.epsilon) * (1 if self.memoize or longitudinal else self.rounds)
        column = self._column(records)
        universe = f" of tables without a missing value in {column!r}" if self.missing == "refuse" else ""
        how = "one report, sent again" if self.memoize else "one fresh report"
        how = "one report of the same memoized bits" if longitudinal else how
        return Guarantee(
            epsilon=total,
            delta=0.0,
            statement=f"local, between any two values of {column!r} in a row{universe}; {how} a round, "
            f"{self.rounds} in all",
        )

    def apply(self, records: Microdata, rng: Generator) -> ReportsRelease:
        """Randomize every row's value, once for each round.

        Raises
        ------
        ValueError
            If the column does not exist, has no declared domain or a category outside of it, or a missing value is
            refused.
        """
        values, d = self._values(records)
        protocol = self.protocol_for(d, self._column(records))
        if isinstance(protocol, LongitudinalUnaryEncoding):
            return ReportsRelease(protocol.privatize_rounds(values, self.rounds, rng), protocol)
        batches = [protocol.privatize(values, child) for child in rng.spawn(1 if self.memoize else self.rounds)]
        return ReportsRelease(tuple(batches * (self.rounds // len(batches))), protocol)

    def _column(self, records: Microdata) -> str:
        released = records.released_columns
        if self.column is not None:
            records.check_released("column", self.column)
            return self.column
        if records.sensitive:
            return records.sensitive[0]
        require(len(released) == 1, f"column: name one of {', '.join(released) or 'none'}; no column is sensitive")
        return released[0]

    def _values(self, records: Microdata) -> tuple[Integers64, int]:
        """Position of each row's value in the domain, and the size of the domain."""
        column = self._column(records)
        codes, size = coded_values(records, column, self.missing, "column")
        self.protocol_for(size, column)
        return codes, size


def coded_values(records: Microdata, column: str, missing: str, parameter: str) -> tuple[Integers64, int]:
    """Position of each row's value in the public domain of a column, and the number of values.

    - missing, {"refuse", "category"}: Whether a missing value raises an error, or is a further value after the
      domain's.
    - parameter: The parameter that error messages name.

    Raises ValueError if the column has no declared domain or a value outside of it, or a missing value is refused.
    """
    domain = public_domain(records, column, parameter)
    try:
        codes = domain.codes(records.frame[column]).astype(np.int64)
    except ValueError:  # Its message would disclose the value.
        raise ValueError(f"{parameter}: {column!r} holds a category that its domain does not declare") from None
    if missing == "refuse":
        refuse_missing(column, codes == domain.size)
    return codes, domain.size + (missing == "category")


def refuse_missing(column: str, absent: ArrayLike) -> None:
    """Raise ValueError if a column lacks a value; names the row, from 1."""
    refuse_rows(absent, lambda row: f"missing: column {column!r} has no value in row {row + 1}")


def public_domain(records: Microdata, column: str, parameter: str) -> Domain:
    """Return the declared domain of a column.

    Raises ValueError if it is not declared; names the parameter and the column.
    """
    refuse(records.not_public([column]), f"{parameter}: the domain of {column!r} is read from the records; declare it")
    return records.domains[column]


def protocols() -> dict[str, type[FrequencyOracle]]:
    """Return the protocols that take a domain of any size, or of two values, by class name."""
    classes: list[type[FrequencyOracle]] = [BinaryRandomizedResponse, *CANDIDATES]
    return {make.__name__: make for make in classes}


def longitudinal_protocols() -> dict[str, type[LongitudinalUnaryEncoding]]:
    """Return the protocols that memoize bits and randomize them again in every round, by class name."""
    return {make.__name__: make for make in (LongitudinalSymmetricUnaryEncoding, LongitudinalOptimizedUnaryEncoding)}
