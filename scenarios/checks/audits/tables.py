"""Audits of defenses on two neighbouring tables, which differ in one record."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from scipy import stats

from attacks.statistics.disclosure_by_queries import ask, even_share
from defenses import Defense, Microdata, MicrodataRelease, StatisticsRelease
from defenses.base.queries import Condition, Count, Histogram, Mean, Query, Sum
from metrics.columns import Booleans, CategoricalDomain, Floats, NumericDomain, refuse, require
from scenarios.checks.audits.audit import Neighbours, Subject, claim_of

# Test of the declaration that a defense randomizes records independently of each other.

FALSE_ALARM = 1e-6
"""Probability at most that a defense whose declaration is true fails."""
RELEASES, COPIES_OF_A_ROW = 200, 2000
"""Releases of the whole table, and copies of one record in one release."""


def dependence(defense: Defense, records: Microdata, rows: Sequence[int], rng: Generator) -> str:
    """Say how some records' released rows depend on other records; empty if they do not visibly.

    A record's released row must have the same distribution among the other records as among copies of itself. Every
    column is compared, and all columns without fractions together. Only coarse differences are found in so few
    releases: 0.2 in a probability near 1/2, or 0.1 in one near 0 or 1.

    Given the pooled sample, the number of times that one cell occurs among the other records is hypergeometric if both
    distributions are equal. Fractions are compared by the test of Kolmogorov and Smirnov. All tests together have a
    false-alarm probability of at most `FALSE_ALARM` (Bonferroni).

    - defense: A defense that declares `randomizes_records_independently`.
    - records: The table; a defense that treats rare values differently shows it if the chosen records hold some.
    - rows: Positions of the records whose released rows are compared.
    """
    releases = [defense.apply(records, rng) for _ in range(RELEASES)]
    copied = [defense.apply(records.take(np.full(COPIES_OF_A_ROW, row, dtype=np.intp)), rng) for row in rows]
    sizes = [*[len(records)] * RELEASES, *[COPIES_OF_A_ROW] * len(rows)]
    for release, size in zip([*releases, *copied], sizes, strict=True):
        if not isinstance(release, MicrodataRelease) or not np.array_equal(np.sort(release.origin), np.arange(size)):
            return "does not release one row a record"
    released = pd.concat(map(_in_order, releases), ignore_index=True)
    for row, copies in zip(rows, map(_in_order, copied), strict=True):
        among = released.iloc[row :: len(records)].reset_index(drop=True)
        columns = list(_compared(copies, among))
        for name, alone, together in columns:
            if _p_value(alone, together) * len(columns) * len(rows) < FALSE_ALARM:
                return f"releases {name} of a record otherwise among other records than among copies of it"
    return ""


def false_declaration(defense: Defense, found: str) -> str:
    """The message about a declaration that `dependence` found to be false."""
    return f"{type(defense).__name__} {found}: set randomizes_records_independently = False"


def _in_order(release: Any) -> pd.DataFrame:
    """The released rows in the order of their records."""
    frame: pd.DataFrame = release.frame.iloc[np.argsort(release.origin)].reset_index(drop=True)
    return frame


def _compared(first: pd.DataFrame, second: pd.DataFrame) -> Iterator[tuple[str, Any, Any]]:
    """What is compared of two tables: its name, and the cells of either table."""
    whole = []
    for name in first.columns:
        cells = [frame[name] if name in frame else pd.Series(["no column"] * len(frame)) for frame in (first, second)]
        # Whole numbers are texts, but a column of them may become one of fractions by another record's cell.
        kinds = {column.dtype.kind for column in cells}
        if "f" in kinds and kinds <= set("fiu"):
            alone, together = (column.astype(float).fillna(-np.inf).to_numpy() for column in cells)
            yield f"column {name!r}", alone, together
            continue
        texts = [column.astype(str).to_numpy(dtype=object) for column in cells]
        whole.append(texts)
        yield f"column {name!r}", texts[0], texts[1]
    if len(whole) > 1:
        alone, together = (_joined(texts) for texts in zip(*whole, strict=True))
        yield "the row", alone, together


def _joined(columns: Sequence[Any]) -> Any:
    """One text for each row of several columns."""
    return pd.Series(list(zip(*columns, strict=True))).astype(str).to_numpy(dtype=object)


def _p_value(first: Any, second: Any) -> float:
    """Probability, at most, of so different samples of one distribution."""
    if first.dtype.kind == "f":
        return float(stats.ks_2samp(first, second).pvalue)
    codes, cells = pd.factorize(np.concatenate([first, second]))
    pooled = np.bincount(codes, minlength=len(cells))
    seen = np.bincount(codes[first.size :], minlength=len(cells))
    law = stats.hypergeom(codes.size, pooled, second.size)
    return float(min(1.0, 2 * len(cells) * np.minimum(law.cdf(seen), law.sf(seen - 1)).min()))


# Audits of curators: the answers of many sessions as features.


def session_answers(
    defense: Defense,
    tables: tuple[Microdata, Microdata],
    which: int,
    queries: tuple[Query, ...],
    parts: int,
    runs: int,
    rng: Generator,
) -> Floats:
    """Answers about one of two tables, and the features that `of_defense` describes, shape (runs, features).

    - which: The table that is asked about, 0 or 1.
    - queries: Queries of one session.
    - parts: Number of parts into which they divide its budget.
    - runs: Number of sessions.
    """
    exact = [[np.ravel(query.exact(records)) for query in queries] for records in tables]
    rows = []
    for _ in range(runs):
        release = defense.apply(tables[which], rng)
        assert isinstance(release, StatisticsRelease)  # noqa: S101 (of a defense of this kind)
        session: Any = release.open(rng)
        epsilon = even_share(session, parts)
        answered = [ask(session, query, epsilon) for query in queries]
        rows.append(
            [
                np.full(blank.size, np.nan) if answer is None else np.ravel(answer)
                for answer, blank in zip(answered, exact[0], strict=True)
            ]
        )
    answers = np.array([np.concatenate(row) for row in rows])
    first, second = (np.abs(answers - np.concatenate(values)) for values in exact)
    laplace, gaussian = np.nansum(second - first, axis=1), np.nansum(second**2 - first**2, axis=1)
    return np.column_stack([answers, laplace, gaussian]) if answers.shape[1] > 1 else answers


SIZE = 20
# Default number of runs on each table, and of those on copies of one record.
RUNS, COPIES = 2000, 200_000
COLUMNS = ("answer", "amount")


def of_defense(defense: Defense) -> Subject:
    """Make the subject of a defense that claims epsilon: 20 records of a category and a number, one of them replaced.

    The replaced record holds the first category and the smallest number in one table. In the other, it holds the last
    category and the largest number, or, in a second pair, the middle ones. All other records hold the first category
    and the smallest number.

    Of a released table, the features are the cells of the replaced record, the counts and the type of each column, and
    the order of the rows. Unless the defense randomizes records independently, it is also run on a single column of two
    categories. The first 100 of 200 records hold one of them, and the last 100 the other. With two categories, the
    replaced record moves from one count to the other. Since the other records differ, this pair also shows an order of
    rows that depends on the replaced record.

    Of a curator, the features are the answers to a count, a sum, a mean, a histogram, two counts, and one count asked
    ten times. Each of these workloads has sessions of its own, whose budget is divided evenly. A last workload asks one
    count four times for the whole budget, which the curator must refuse from the second time on. A curator that keeps
    no account spends its own share. If a workload has several answers, two more features are computed from them. The
    first is the difference between the summed distances from the exact answers on either table. The second is the same
    for squared distances. The likelihood ratios of Laplace and of Gaussian noise depend on these. Raises ValueError if
    the defense claims no epsilon, its kind of release cannot be measured, or it declares falsely that it randomizes
    records independently.
    """
    require(
        defense.kind != "model",
        f"{type(defense).__name__} releases a model; audit it by canaries (tokumei audit --one-run)",
    )
    require(
        defense.kind in ("statistics", "microdata"),
        f"{type(defense).__name__} releases {defense.kind}; audit the mechanism behind it",
    )
    first, second, middle = map(table, range(3))
    claim = claim_of(defense, defense.guarantee(first))
    check_declaration(defense)
    if defense.kind == "statistics":
        pairs = [
            Neighbours(title, *(partial(session_answers, defense, (first, second), which, *asked) for which in (0, 1)))
            for title, asked in _workloads().items()
        ]
        asked = _workloads()["histogram"]
        sessions = [partial(session_answers, defense, (first, middle), which, *asked) for which in (0, 1)]
        pairs.append(Neighbours("histogram, middle category", *sessions))
    else:
        pairs = [
            Neighbours(title, partial(_rows, defense, first), partial(_rows, defense, other))
            for title, other in (("first record", second), ("first record, middle category", middle))
        ]
        if not defense.randomizes_records_independently:
            halves = [partial(_counts, defense, halved(which)) for which in (0, 1)]
            pairs.append(Neighbours("one of 200 records of two categories", *halves))
    runs = COPIES if defense.randomizes_records_independently else RUNS
    return Subject(*claim, tuple(pairs), tight=False, runs=runs)


def table(which: int, size: int = SIZE) -> Microdata:
    """One of three neighbouring tables of a category and a number: the first record holds the least, last or middle."""
    answers, amounts = np.full(size, "no", dtype=object), np.zeros(size)
    answers[0], amounts[0] = (("no", 0.0), ("yes", 10.0), ("maybe", 5.0))[which]
    return Microdata(
        pd.DataFrame({"answer": answers, "amount": amounts}),
        quasi_identifiers=COLUMNS,
        domains={
            "answer": CategoricalDomain(("no", "maybe", "yes")),
            "amount": NumericDomain(0, 10, cuts=(2.0, 4.0, 6.0, 8.0)),
        },
    )


def check_declaration(defense: Defense) -> None:
    """Test a declaration that records are randomized independently, before an audit relies on it.

    The table holds one record of the middle and one of the last category; all others hold the first. Raises ValueError
    if the declaration is found to be false; see `scenarios.checks.audits.tables`.
    """
    if not defense.randomizes_records_independently:
        return
    frame = table(1).frame.copy()
    frame.iloc[1] = table(2).frame.iloc[0]
    found = dependence(defense, table(1).with_frame(frame), range(3), np.random.default_rng(0))
    refuse(found, false_declaration(defense, found))


def halved(which: int, size: int = 200) -> Microdata:
    """The first (0) or second (1) of two neighbouring tables of one column with two categories."""
    answers = np.repeat(np.array(["no", "yes"], dtype=object), size // 2)
    if which:
        answers[0] = "yes"
    return Microdata(
        pd.DataFrame({"answer": answers}),
        quasi_identifiers=("answer",),
        domains={"answer": CategoricalDomain(("no", "yes"))},
    )


def released(defense: Defense, records: Microdata, rng: Generator) -> MicrodataRelease:
    """Apply a defense of tables to a table of an audit.

    Raises ValueError if it returns no release of a table, or leaves out a column of the table.
    """
    release = defense.apply(records, rng)
    name = type(defense).__name__
    if not isinstance(release, MicrodataRelease):
        raise ValueError(f"{name}: apply must return a MicrodataRelease, got {type(release).__name__}")
    for column in records.released_columns:
        require(
            column in release.frame, f"{name}: the audit reads column {column!r} of its table, which is not released"
        )
    return release


def _workloads() -> dict[str, tuple[tuple[Query, ...], int]]:
    """Queries of one session by title, and the number of parts into which they divide its budget."""
    yes, maybe = (Count(where=(Condition("answer", values=(text,)),)) for text in ("yes", "maybe"))
    return {
        "count": ((yes,), 1),
        "sum": ((Sum("amount"),), 1),
        "mean": ((Mean("amount"),), 1),
        "histogram": ((Histogram("answer"),), 1),
        "counts of two categories": ((yes, maybe), 2),
        "one count, ten times": ((yes,) * 10, 10),
        "one count, for the whole budget four times": ((yes,) * 4, 1),
    }


def _rows(defense: Defense, records: Microdata, runs: int, rng: Generator) -> Floats:
    """Features of the first record's row and of each column, shape (runs, features)."""
    if defense.randomizes_records_independently:
        # One release of `runs` copies of the record is as good as `runs` releases of one record.
        copies = released(defense, records.take(np.zeros(runs, dtype=np.intp)), rng)
        columns = (copies.frame[name] for name in copies.frame.columns)
        # Fractions are noisy: almost all differ, so that their checksums would show nothing.
        return np.stack([column if column.dtype.kind == "f" else _codes(column) for column in columns], axis=1)
    return np.array([_table_features(released(defense, records, rng)) for _ in range(runs)])


def _counts(defense: Defense, records: Microdata, runs: int, rng: Generator) -> Floats:
    """Number of cells with the first category and with neither, and the order of both categories, shape (runs, 7)."""
    outputs = np.empty((runs, 7))
    for row in outputs:
        release = released(defense, records, rng)
        cells = release.frame["answer"].astype(str).to_numpy()
        no, yes = cells == "no", cells == "yes"
        row[:2] = no.sum(), len(cells) - no.sum() - yes.sum()
        row[2:] = *_order(_codes(release.frame["answer"])), _mean_position(no), _mean_position(yes)
    return outputs


def _table_features(release: MicrodataRelease) -> Floats:
    """The first record's cell, two summaries of the counts and the order of the rows, for each column; and the types.

    The first record's row is recognized by its origin. Its position is a feature too: an adversary who knows all other
    records often recognizes it.
    """
    own = np.flatnonzero(release.origin == 0)
    types = "|".join(f"{name}:{kind}" for name, kind in release.frame.dtypes.items())
    features: list[float] = [float(own[0]) if own.size else np.nan, float(zlib.crc32(types.encode()))]
    for name in COLUMNS:
        codes = _codes(release.frame[name])
        features.append(codes[own[0]] if own.size else np.nan)
        # Every distinct cell has a weight of its own, so that different counts almost always have different sums.
        features.append(float(np.sort(codes).sum()))
        features.append(float(np.mean(release.frame[name].astype(str) == "no")))
        features += _order(codes)
        features.append(_mean_position(codes == codes[own[0]]) if own.size else np.nan)
    return np.array(features)


def _order(codes: Floats) -> list[float]:
    """Cells of the first and of the last row, and the number of rows whose cell differs from the one before."""
    if not codes.size:
        return [np.nan] * 3
    return [codes[0], codes[-1], float(np.count_nonzero(codes[1:] != codes[:-1]))]


def _mean_position(chosen: Booleans) -> float:
    """Mean position of the chosen rows; NaN without any."""
    return float(np.flatnonzero(chosen).mean()) if chosen.any() else np.nan


def _codes(column: pd.Series[Any]) -> Floats:
    """A number for each cell: the checksum of its text."""
    codes, distinct = pd.factorize(column.astype(str))
    return np.array([float(zlib.crc32(str(text).encode())) for text in distinct])[codes]
