from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import accumulate, chain

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from defenses import Microdata, Mondrian
from defenses.grouping.constraints import (
    Constraint,
    DistinctDiversity,
    EntropyDiversity,
    EqualCloseness,
    LargestShare,
    OrderedCloseness,
    RecursiveDiversity,
    SensitiveColumn,
    all_hold,
    make_constraints,
)
from metrics import (
    CategoricalDomain,
    alpha_anonymity,
    entropy_l_diversity,
    k_anonymity,
    l_diversity,
    recursive_l_diversity,
    t_closeness_equal,
    t_closeness_ordered,
)
from scenarios.running.methods.methods import build, describe

CONSTRAINTS = st.one_of(
    st.builds(DistinctDiversity, st.integers(1, 4)),
    st.builds(EntropyDiversity, st.sampled_from([1, 1.3, 1.7, 2, 2.5, 3])),
    st.builds(RecursiveDiversity, st.sampled_from([0.5, 1, 1.5, 3]), st.integers(1, 3)),
    st.builds(EqualCloseness, st.sampled_from([0, 0.1, 0.25, 0.5, 1])),
    st.builds(OrderedCloseness, st.sampled_from([0, 0.1, 0.25, 0.5, 1])),
    st.builds(LargestShare, st.sampled_from([0.25, 0.5, 0.6, 0.75, 1])),
)
CLASS = st.lists(st.integers(0, 3), min_size=1, max_size=8)


def naive(constraint: Constraint, values: list[int], everybody: list[int]) -> bool:
    n, counts = len(values), sorted(Counter(values).values(), reverse=True)
    shares = [Fraction(values.count(v), n) - Fraction(everybody.count(v), len(everybody)) for v in range(4)]
    if isinstance(constraint, DistinctDiversity):
        return len(counts) >= constraint.l
    if isinstance(constraint, EntropyDiversity):
        return math.prod((c / n) ** (-c / n) for c in counts) >= constraint.l - 1e-9
    if isinstance(constraint, RecursiveDiversity):
        return counts[0] < constraint.c * sum(counts[constraint.l - 1 :])
    if isinstance(constraint, EqualCloseness):
        return sum(map(abs, shares)) / 2 <= Fraction(str(constraint.t))
    if isinstance(constraint, OrderedCloseness):
        return sum(map(abs, accumulate(shares))) / 3 <= Fraction(str(constraint.t))
    assert isinstance(constraint, LargestShare)
    return Fraction(counts[0], n) <= Fraction(str(constraint.alpha))


def verdicts(constraint: Constraint, classes: list[list[int]]) -> list[bool]:
    everybody = np.array([value for values in classes for value in values])
    of = np.repeat(np.arange(len(classes)), [len(values) for values in classes])
    histogram = csr_array((np.ones_like(of), (of, everybody)), shape=(len(classes), 4))
    column = SensitiveColumn("s", everybody, np.bincount(everybody, minlength=4))
    return all_hold([constraint], [column], [histogram], len(classes)).tolist()


CLASSES = given(CONSTRAINTS, st.lists(CLASS, min_size=1, max_size=8))


def check_every_class_is_judged_by_the_definition(constraint: Constraint, classes: list[list[int]]) -> None:
    everybody = list(chain.from_iterable(classes))
    assert verdicts(constraint, classes) == [naive(constraint, values, everybody) for values in classes]


@pytest.mark.thorough
@settings(max_examples=200, deadline=None)
@CLASSES
def test_every_class_is_judged_by_the_definition(constraint: Constraint, classes: list[list[int]]) -> None:
    check_every_class_is_judged_by_the_definition(constraint, classes)


@pytest.mark.long
@settings(max_examples=400, deadline=None)
@CLASSES
def test_every_class_is_judged_by_the_definition_in_many_classes(
    constraint: Constraint, classes: list[list[int]]
) -> None:
    check_every_class_is_judged_by_the_definition(constraint, classes)


MERGED = given(CONSTRAINTS, st.lists(CLASS, min_size=2, max_size=6))


def check_merging_keeps_what_holds_and_parts_of_what_fails_fail_where_said(
    constraint: Constraint, classes: list[list[int]]
) -> None:
    first, second, *others = verdicts(constraint, classes)
    together = verdicts(constraint, [classes[0] + classes[1], *classes[2:]])[0]
    if first and second:
        assert together
    if constraint.spoils_all and not together:
        assert not first
        assert not second
    assert len(others) == len(classes) - 2


@pytest.mark.thorough
@settings(max_examples=200, deadline=None)
@MERGED
def test_merging_keeps_what_holds_and_parts_of_what_fails_fail_where_said(
    constraint: Constraint, classes: list[list[int]]
) -> None:
    check_merging_keeps_what_holds_and_parts_of_what_fails_fail_where_said(constraint, classes)


@pytest.mark.long
@settings(max_examples=400, deadline=None)
@MERGED
def test_merging_keeps_what_holds_and_parts_of_what_fails_fail_where_said_in_many_classes(
    constraint: Constraint, classes: list[list[int]]
) -> None:
    check_merging_keeps_what_holds_and_parts_of_what_fails_fail_where_said(constraint, classes)


def test_blocks_of_classes_are_all_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    classes = [[0, 1], [2], [0, 1, 2, 3], [3, 3], [1, 2, 2]]
    whole = verdicts(DistinctDiversity(2), classes)
    monkeypatch.setattr("defenses.grouping.constraints._CELLS", 8)
    assert verdicts(DistinctDiversity(2), classes) == whole == [True, False, True, False, True]


@st.composite
def tables(draw: st.DrawFn) -> Microdata:
    n = draw(st.integers(4, 50))

    def column(values: st.SearchStrategy[object]) -> list[object]:
        return draw(st.lists(values, min_size=n, max_size=n))

    frame = pd.DataFrame(
        {
            "number": np.array(column(st.sampled_from([1.0, 2.0, 3.0, 7.0, np.nan])), dtype=float),
            "text": pd.Series(column(st.sampled_from(["a", "b", "c", "*"])), dtype=object),
            "level": pd.Series(column(st.sampled_from(["low", "middle", "high"])), dtype=object),
            "ill": pd.Series(column(st.sampled_from(["x", "y", None])), dtype=object),
        }
    )
    quasi = tuple(name for name in ("number", "text") if frame[name].notna().any())
    order = CategoricalDomain(("low", "middle", "high"), ordered=True)
    return Microdata(frame, quasi_identifiers=quasi, sensitive=("level",), domains={"level": order})


DEMANDS = st.sampled_from(
    [
        {"l": 2},
        {"l": 1.6, "diversity": "entropy"},
        {"l": 2, "diversity": "recursive", "c": 2},
        {"t": 0.3},
        {"t": 0.2, "distance": "ordered"},
        {"alpha": 0.6},
        {"l": 2, "t": 0.4, "alpha": 0.8},
    ]
)


def met(frame: pd.DataFrame, records: Microdata, demand: dict[str, object]) -> bool:
    """Whether a released table measures what `demand` asks for, up to rounding."""
    quasi, name = records.quasi_identifiers, "level"
    holds = []
    if "l" in demand:
        measured = {
            "distinct": lambda: l_diversity(frame, quasi, name),
            "entropy": lambda: entropy_l_diversity(frame, quasi, name) + 1e-9,
            "recursive": lambda: recursive_l_diversity(frame, quasi, name, demand["c"]),
        }[demand.get("diversity", "distinct")]()
        holds.append(measured >= demand["l"])
    if "t" in demand:
        if demand.get("distance") == "ordered":
            t = t_closeness_ordered(frame, quasi, name, order=["low", "middle", "high"])
        else:
            t = t_closeness_equal(frame, quasi, name)
        holds.append(t <= demand["t"] + 1e-9)
    if "alpha" in demand:
        holds.append(alpha_anonymity(frame, quasi, name) <= demand["alpha"] + 1e-9)
    return all(holds)


def check_mondrian_measures_what_it_guarantees(
    records: Microdata, k: int, demand: dict[str, object], strict: bool
) -> None:
    defense = Mondrian(k=min(k, len(records)), strict=strict, **demand)
    whole = records.frame.assign(**dict.fromkeys(records.quasi_identifiers, 0))
    if not met(whole, records, demand):
        with pytest.raises(ValueError, match=r"l must not exceed|table as a whole"):
            defense.guarantee(records)
        return
    guaranteed = defense.guarantee(records)
    assert (guaranteed.l, guaranteed.t) == (demand.get("l"), demand.get("t"))
    frame = defense.apply(records, np.random.default_rng(0)).frame
    assert k_anonymity(frame, records.quasi_identifiers) >= guaranteed.k
    assert met(frame, records, demand)


PROMISES = given(tables(), st.integers(1, 5), DEMANDS, st.booleans())


@pytest.mark.thorough
@settings(max_examples=30, deadline=None)
@PROMISES
def test_mondrian_measures_what_it_guarantees(
    records: Microdata, k: int, demand: dict[str, object], strict: bool
) -> None:
    check_mondrian_measures_what_it_guarantees(records, k, demand, strict)


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@PROMISES
def test_mondrian_measures_what_it_guarantees_on_many_tables(
    records: Microdata, k: int, demand: dict[str, object], strict: bool
) -> None:
    check_mondrian_measures_what_it_guarantees(records, k, demand, strict)


def test_mondrian_cuts_where_both_sides_hold_and_not_elsewhere() -> None:
    frame = pd.DataFrame({"a": [1, 1, 2, 2, 3, 3, 4, 4], "s": list("xyxxxyxy")})
    records = Microdata(frame, quasi_identifiers=("a",), sensitive=("s",))

    def cells(**demand: object) -> list[str]:
        return Mondrian(k=2, **demand).apply(records, np.random.default_rng(0)).frame["a"].tolist()

    assert cells() == ["1", "1", "2", "2", "3", "3", "4", "4"]
    assert cells(l=2) == ["[1,2]"] * 4 + ["3", "3", "4", "4"]
    assert cells(l=2, alpha=0.625) == ["[1,4]"] * 8


@pytest.mark.thorough
def test_a_relaxed_cut_among_ties_counts_the_records_that_go_left() -> None:
    frame = pd.DataFrame({"a": [1] * 9 + [2], "s": list("xyxyxyxyxy")})
    records = Microdata(frame, quasi_identifiers=("a",), sensitive=("s",))
    for seed in range(20):
        released = Mondrian(k=2, strict=False, l=2).apply(records, np.random.default_rng(seed)).frame
        assert l_diversity(released, ["a"], "s") == 2


def test_classes_are_judged_in_blocks_by_mondrian_too(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.integers(0, 50, 400), "b": rng.integers(0, 5, 400), "s": rng.integers(0, 4, 400)})
    records = Microdata(frame, quasi_identifiers=("a", "b"), sensitive=("s",))
    whole = Mondrian(k=3, l=3).apply(records, rng).frame
    monkeypatch.setattr("defenses.grouping.mondrian.partition._CELLS", 16)
    pd.testing.assert_frame_equal(Mondrian(k=3, l=3).apply(records, rng).frame, whole)
    assert l_diversity(whole, ["a", "b"], "s") >= 3


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"l": 0}, "l must be an integer of at least 1"),
        ({"l": 2.5}, "l must be an integer"),
        ({"l": math.nan, "diversity": "entropy"}, "l must be a finite number"),
        ({"l": 0.5, "diversity": "entropy"}, "l must be a finite number"),
        ({"l": 2, "diversity": "recursive"}, "c goes with"),
        ({"l": 2, "diversity": "recursive", "c": 0}, "c must be a finite number"),
        ({"l": 2, "diversity": "recursive", "c": -1}, "c must be a finite number"),
        ({"l": 2, "c": 1}, "c goes with"),
        ({"l": 2, "diversity": "some"}, "diversity must be"),
        ({"t": 1.1}, "t must be a finite number"),
        ({"t": -0.1}, "t must be a finite number"),
        ({"t": "0.1"}, "t must be a finite number"),
        ({"t": 0.1, "distance": "far"}, "distance must be"),
        ({"alpha": 0}, "alpha must be a finite number"),
        ({"alpha": 1.5}, "alpha must be a finite number"),
    ],
)
@pytest.mark.parametrize("method", ["Mondrian", "Incognito"])
def test_refuses_parameters(method: str, parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build({"use": method, **parameters}, "defenses")


@pytest.mark.parametrize("method", ["Mondrian", "Incognito"])
def test_a_scenario_names_constraints_as_plain_parameters(method: str) -> None:
    table = {"use": method, "k": 3, "l": 2, "diversity": "recursive", "c": 1.5, "t": 0.2, "alpha": 0.7}
    defense = build(table, "defenses")
    assert table.items() <= {"use": method, **describe(defense)}.items()
    assert make_constraints(2, "recursive", 1.5, 0.2, "equal", 0.7) == (
        RecursiveDiversity(1.5, 2),
        EqualCloseness(0.2),
        LargestShare(0.7),
    )


def test_refuses_what_does_not_fit_the_records() -> None:
    frame = pd.DataFrame({"a": [1, 2, 3, 4], "s": ["x", "x", "y", None], "z": ["p"] * 4})
    records = Microdata(frame, quasi_identifiers=("a",), sensitive=("s",))

    def guarantee(records: Microdata, **demand: object) -> object:
        return Mondrian(k=1, **demand).guarantee(records)

    with pytest.raises(ValueError, match="l must not exceed the 3 values of column 's', got 4"):
        guarantee(records, l=4)
    with pytest.raises(ValueError, match="table as a whole does not have shares of at most"):
        guarantee(records, alpha=0.4)
    with pytest.raises(ValueError, match="column 's', row 3: a missing value"):
        guarantee(records, t=0.1, distance="ordered")
    with pytest.raises(ValueError, match="needs an order; declare an ordered domain for column 'z'"):
        guarantee(Microdata(frame, quasi_identifiers=("a",), sensitive=("z",)), t=0.1, distance="ordered")
    with pytest.raises(ValueError, match="needs a sensitive column"):
        guarantee(Microdata(frame, quasi_identifiers=("a",)), l=2)
    with pytest.raises(ValueError, match="'s' is sensitive and cannot be generalized"):
        guarantee(records, l=2, columns=["a", "s"])
    unknown = Microdata(
        frame.head(3),
        quasi_identifiers=("a",),
        sensitive=("s",),
        domains={"s": CategoricalDomain(("x", "w"), ordered=True)},
    )
    with pytest.raises(ValueError, match="column 's', row 2: unknown category; known are x, w"):
        guarantee(unknown, t=0.1, distance="ordered")


def test_recursive_diversity_ranks_the_counts_of_each_class():
    # 3 < 2 (2 + 1), 4 = 2 (1 + 1), 5 > 2 (1 + 1).
    counts = np.array([[1, 3, 2], [4, 1, 1], [1, 1, 5]])
    assert RecursiveDiversity(2, 2).holds(counts, np.ones(3) / 3).tolist() == [True, False, False]
