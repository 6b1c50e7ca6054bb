"""Neighbouring tables as CSV files, and the form of a release: all that must not tell one neighbour from the other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd

from defenses import (
    Curator,
    FederatedAveraging,
    LocalReports,
    OptimalRetentionWithPrior,
    PrivateGradientDescent,
    ReportedTable,
    RetentionReplacement,
)
from defenses.base.defense import Defense
from defenses.base.queries import (
    Condition,
    ContingencyTable,
    Correlation,
    Count,
    Covariance,
    Histogram,
    Maximum,
    Mean,
    Median,
    Minimum,
    Mode,
    Quantile,
    Sum,
    Variance,
)
from defenses.federated import EqualSplit, ExampleClipping, PrivacyLossNoise
from scenarios.running.methods.invented_people import example, people
from scenarios.running.methods.methods import exported
from scenarios.tables.dataset import load_table
from scenarios.tables.seeds import generator

RECORDS = 40
MOST_VALUES = 64
"""Largest number of distinct values of a part of reports whose support is compared."""

BARE = """
separator = ","
identifiers = ["name"]
quasi_identifiers = ["age", "income", "city", "grade"]
sensitive = ["illness"]
"""
DECLARED = (
    BARE
    + """
[columns.age]
type = "number"
low = 18
high = 95
cuts = [30, 50, 70]
[columns.income]
type = "number"
low = 0
high = 1e6
cuts = [1000, 4000]
[columns.city]
type = "category"
categories = ["Kyōto", "Nara|Uji", "Ōsaka", "{Kōbe}", "*", "Nara", " nara "]
[columns.grade]
type = "category"
categories = ["low", "middle", "high", "Low"]
[columns.illness]
type = "category"
categories = ["none", "flu", "cold"]
"""
)
INTEGERS = DECLARED.replace("low = 18", "low = 18\ninteger = true")

CHANGES = {
    "the same record": {},
    "fraction among integers": {"age": "72.5"},
    "integer among fractions": {"income": "100"},
    "smallest number": {"age": "18", "income": "0"},
    "largest number": {"age": "95", "income": "1000000"},
    "number beyond all others": {"age": "94"},
    "number in another notation": {"age": "3.0e1", "income": " 0100.50 "},
    "number with a leading zero": {"age": "042"},
    "rare category": {"city": "Nara"},
    "category with spaces": {"city": " nara "},
    "category in another case": {"grade": "Low"},
    "missing number": {"age": ""},
    "missing category": {"city": ""},
    "missing sensitive value": {"illness": ""},
    "text among numbers": {"age": "old"},
    "category that is not declared": {"city": "Tōkyō"},
    "everything": {"age": "18", "income": "0", "city": "Nara", "grade": "Low", "illness": "cold"},
}
"""Changes of the first record, as texts of the file."""


@cache
def texts():
    """Forty people as texts of a CSV file; the first is an ordinary one."""
    frame = people(RECORDS, generator(0, "neighbours")).frame.astype(str)
    frame.loc[frame["age"].astype(int) > 80, "age"] = "80"
    frame.loc[frame["city"] == "*", "city"] = "Ōsaka"
    return frame


def loaded(folder, frame, roles):
    """The records of a table of texts, written to `folder` and read with the roles of a text."""
    folder.mkdir(exist_ok=True)
    frame.to_csv(folder / "people.csv", index=False)
    (folder / "roles.toml").write_text(roles, encoding="utf-8")
    return load_table(folder / "people.csv", folder / "roles.toml").records


def changed(frame, change):
    """The table with a changed first record."""
    result = frame.copy()
    for name, text in change.items():
        result.loc[0, name] = text
    return result


def claimants(records):
    """Every exported defense that guarantees an epsilon on these records, and further settings of some of them."""
    defenses = {name: example(method) for name, method in exported("defenses").items()}
    prior = {"city": [1] * 7, "illness": [3, 1, 1]}
    noisy = FederatedAveraging(
        split=EqualSplit(clients=4), rounds=2, clipping=ExampleClipping(), uplink=PrivacyLossNoise()
    )
    defenses |= {
        "RetentionReplacement, epsilon": RetentionReplacement(epsilon=0.01),
        "RetentionReplacement, k": RetentionReplacement(k=20, columns=["city", "age"]),
        "OptimalRetentionWithPrior, jointly": OptimalRetentionWithPrior(
            prior=prior, epsilon=0.5, columns=["city", "illness"], jointly=True
        ),
        "Curator, Gaussian": Curator(epsilon=1e4, delta=1e-6, mechanism="gaussian"),
        "Curator, added or removed": Curator(neighbours="add or remove"),
        "LocalReports, missing": LocalReports(column="city", missing="category"),
        "LocalReports, numbers": LocalReports(protocol="GeneralizedRandomizedResponse", column="age"),
        "FederatedAveraging, noisy": noisy,
        # In each of two steps every record takes part; the other steps would show nothing else.
        "PrivateGradientDescent": PrivateGradientDescent(sampling_rate=1.0, steps=2),
        "ReportedTable, piecewise": ReportedTable(numbers="PiecewiseMechanism"),
        "ReportedTable, hybrid": ReportedTable(numbers="HybridMechanism", epsilon=8.0, missing="refuse"),
        "ReportedTable, two points": ReportedTable(
            numbers="TwoPointMechanism", splitting="SMP", columns=["age", "income"]
        ),
    }
    return {name: defense for name, defense in defenses.items() if guarantees(defense, records)}


def guarantees(defense, records):
    """Whether the defense takes the records and guarantees an epsilon."""
    try:
        defense.check(records)
        return defense.guarantee(records).epsilon is not None
    except ValueError:
        return False


@dataclass(frozen=True)
class Form:
    """What a mechanism showed over all seeds apart from the noise.

    Attributes
    ----------
    shapes : frozenset
        Shapes, types, column orders, parameters and errors; one entry for each different release.
    support : frozenset
        Pairs of column and released value, for columns of few possible values.
    """

    shapes: frozenset
    support: frozenset


def form(defense: Defense, records, seeds):
    """The form of a defense's releases of one table."""
    shapes, support = set(), set()
    # Of answers only types and shapes are compared, which few seeds show.
    for seed in range(min(seeds, 5) if defense.kind == "statistics" else seeds):
        try:
            release = defense.apply(records, np.random.default_rng(seed))
        except Exception as error:
            shapes.add((type(error).__name__, str(error)))
            continue
        shape, values = FORMS[release.kind](release, records)
        shapes.add(shape)
        support |= values
    return Form(frozenset(shapes), frozenset(support))


def _table(release, records):
    # A guarantee of PRAM is about the randomized columns and says that others are released as they are.
    frame = release.frame if release.channel is None else release.frame[sorted(release.channel.columns)]
    support = set()
    shape = [release.frame.shape, str(release.frame.index), *release.frame.columns]
    for name, column in frame.items():
        domain = records.domains[name]
        cells = column.tolist()
        shape.append((name, str(column.dtype), *sorted({type(cell).__name__ for cell in cells})))
        if pd.api.types.is_numeric_dtype(column):
            numbers = column.to_numpy(dtype=float)
            cells = np.floor(16 * (numbers - domain.low) / (domain.high - domain.low)).tolist()
            known = numbers[~np.isnan(numbers)]
            support.add((name, "integers" if (known == np.rint(known)).all() else "fractions"))
        support |= {(name, cell) for cell in set(cells)}
    parts = () if release.channel is None else release.channel.parts
    shape.append(repr([(type(part).__name__, part.columns, _public(part)) for part in parts]))
    return tuple(shape), support


def _public(part):
    """What a channel's part says, without probabilities that were made from noisy counts."""
    return {name: value for name, value in vars(part).items() if name in ("domain", "domains", "sizes", "categories")}


def _answers(release, records):
    shape = []
    session = release.open(np.random.default_rng(0))
    for query in queries():
        try:
            answer = session.answer(query, 1e-3)
            integers = isinstance(query, Count | Histogram) and bool((np.asarray(answer) % 1 == 0).all())
            shape.append((type(answer).__name__, np.shape(answer), integers))
        except Exception as error:
            shape.append((type(error).__name__, str(error)))
    return (*shape, session.refused, round(session.remaining, 9)), set()


@cache
def queries():
    """Queries of every class on every column, with and without conditions."""
    conditions = [
        Condition("age", values=(72.5, 40)),
        Condition("age", values=("72.5", "40")),
        Condition("age", interval=(0, 50)),
        Condition("city", values=("Nara", 40)),
        Condition("grade", interval=(0, 1)),
    ]
    asked = [Count(), ContingencyTable(("city", "age")), Covariance("age", "income"), Correlation("age", "income")]
    asked += [kind("age") for kind in (Sum, Mean, Variance, Maximum, Minimum, Median, Histogram, Mode)]
    asked += [kind(name) for kind in (Histogram, Mode, Sum) for name in ("city", "grade", "illness", "name")]
    asked += [Quantile("income", 0.9)]
    for condition in conditions:
        asked += [Count(where=(condition,)), Mean("income", where=(condition,))]
    # A median is drawn from thousands of numbers, and its condition is read as those above are.
    return [*asked, Median("age", where=conditions[:1])]


def _reports(release, records):
    shape = [type(release.protocol).__name__, repr(release.protocol.get_params())]
    support = set()
    for batch in release.reports:
        for name, part in batch.parts.items():
            shape.append((name, str(part.dtype), part.shape))
            values = np.unique(part)
            if values.size <= MOST_VALUES and part.ndim == 1:
                support |= {(name, value) for value in values.tolist()}
    return tuple(shape), support


def _training(release, records):
    arrays = [*release.aggregates, *release.models, *(value for turn in release.updates for value in turn.values())]
    shape = [(array.shape, str(array.dtype), bool(np.isfinite(array).all())) for array in arrays]
    public = (release.sizes, release.noise, release.learning_rate, release.local_epochs, repr(release.encoding))
    return (*shape, *public), set()


def _model(release, records):
    model = release.model
    finite = bool(np.isfinite(model.weights).all())
    return (model.weights.shape, str(model.weights.dtype), finite, repr(model.encoding)), set()


FORMS = {"microdata": _table, "statistics": _answers, "reports": _reports, "training": _training, "model": _model}
