from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
from adult_tools import QUASI, adult_of_arx
from hypothesis import given, settings
from hypothesis import strategies as st

from defenses import Hierarchy, Incognito, Microdata
from defenses.base.hierarchy import TableHierarchy
from defenses.grouping.incognito.lattice import number_tuples
from metrics import (
    alpha_anonymity,
    average_class_size,
    entropy_l_diversity,
    k_anonymity,
    l_diversity,
    recursive_l_diversity,
    t_closeness_equal,
)
from scenarios import load

LOSSES = ("normalized", "precision", "discernibility", "average_class_size", "height")
DEMANDS = (
    {},
    {"l": 2},
    {"l": 1.6, "diversity": "entropy"},
    {"l": 2, "diversity": "recursive", "c": 2},
    {"t": 0.3},
    {"t": 0.2, "distance": "ordered"},
    {"alpha": 0.6},
    {"l": 2, "t": 0.4},
)


@st.composite
def hierarchies(draw: st.DrawFn, leaves: Sequence[str]) -> TableHierarchy:
    """Any hierarchy of up to three levels, with or without ``*`` at the top."""
    levels = [list(range(len(leaves)))]
    for _ in range(draw(st.integers(0, 3))):
        count = max(levels[-1]) + 1
        parent = draw(st.lists(st.integers(0, count - 1), min_size=count, max_size=count))
        used = sorted(set(parent))
        levels.append([used.index(parent[group]) for group in levels[-1]])
    if draw(st.booleans()):
        levels.append([0] * len(leaves))
    return TableHierarchy([[leaf, *(f"g{level[i]}" for level in levels[1:])] for i, leaf in enumerate(leaves)])


@st.composite
def tables(draw: st.DrawFn) -> Microdata:
    n = draw(st.integers(1, 30))
    names = tuple("abc"[: draw(st.integers(1, 3))])
    columns, trees = {}, {}
    for name in names:
        leaves = ["u", "v", "w", "x|", "*"][: draw(st.integers(1, 5))]
        trees[name] = draw(hierarchies(leaves))
        values = st.sampled_from([*leaves, None] if draw(st.booleans()) else leaves)
        columns[name] = pd.Series(draw(st.lists(values, min_size=n, max_size=n)), dtype=object)
    columns["s"] = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    frame = pd.DataFrame(columns)
    present = tuple(name for name in names if frame[name].notna().any())
    if not present:
        frame["a"], present = leaves[0], ("a",)
        trees["a"] = TableHierarchy([[leaves[0], "*"]])
    return Microdata(frame, quasi_identifiers=present, sensitive=("s",), hierarchies=trees)


def diverse(classes: np.ndarray, sensitive: pd.Series, demand: dict[str, object]) -> np.ndarray:
    """Whether each row's class holds what is demanded, one class at a time by the definitions."""
    codes = np.unique(sensitive, return_inverse=True)[1]
    table = np.bincount(codes) / codes.size
    holds = np.zeros(len(classes), dtype=bool)
    for index in np.unique(classes):
        counts = np.bincount(codes[classes == index], minlength=table.size)
        shares = counts / counts.sum()
        ranked = sorted(counts[counts > 0].tolist(), reverse=True)
        change = shares - table
        ok = True
        if "l" in demand:
            ok &= {
                "distinct": len(ranked) >= demand["l"],
                "entropy": math.exp(-sum(p * math.log(p) for p in shares if p)) >= demand["l"] - 1e-9,
                "recursive": ranked[0] < demand.get("c", 0) * sum(ranked[int(demand["l"]) - 1 :]),
            }[demand.get("diversity", "distinct")]
        if "t" in demand and demand.get("distance") == "ordered":
            ok &= np.abs(np.cumsum(change)).sum() / max(1, len(table) - 1) <= demand["t"] + 1e-9
        elif "t" in demand:
            ok &= np.abs(change).sum() / 2 <= demand["t"] + 1e-9
        if "alpha" in demand:
            ok &= shares.max() <= demand["alpha"] + 1e-9
        holds[classes == index] = ok
    return holds


Nodes = dict[tuple[int, ...], tuple[float, np.ndarray]]


def exhaustive(records: Microdata, k: int, limit: int, loss: str, demand: dict[str, object]) -> Nodes:
    """Loss and suppressed rows of every choice of levels that is allowed, from the generalized table itself."""
    names, n = records.quasi_identifiers, len(records)
    trees = [records.hierarchies[name] for name in names]
    generalized = [
        [
            (
                pd.factorize(tree.generalize(records.frame[name], level), use_na_sentinel=False)[0],
                tree.loss(records.frame[name], level),
                np.full(n, level / tree.height if tree.height else 0.0),
            )
            for level in range(tree.height + 1)
        ]
        for name, tree in zip(names, trees, strict=True)
    ]
    found: Nodes = {}
    for node in product(*(range(tree.height + 1) for tree in trees)):
        cells, blur, depth = zip(*(levels[level] for levels, level in zip(generalized, node, strict=True)), strict=True)
        classes = np.unique(np.stack(cells, axis=1), axis=0, return_inverse=True)[1].ravel()
        sizes = np.bincount(classes)[classes]
        suppressed = (sizes < k) | ~diverse(classes, records.frame["s"], demand)
        if suppressed.sum() > limit:
            continue
        kept = np.unique(classes[~suppressed]).size
        found[node] = (
            {
                "normalized": np.where(suppressed, 1.0, np.mean(blur, axis=0)).mean(),
                "precision": np.where(suppressed, 1.0, np.mean(depth, axis=0)).mean(),
                "discernibility": np.where(suppressed, n, sizes).sum(),
                "average_class_size": n / (kept + suppressed.any()),
                "height": sum(node),
            }[loss],
            suppressed,
        )
    return found


CASES = given(
    tables(),
    st.integers(1, 5),
    st.sampled_from([0.0, 0.1, 0.3, 1.0]),
    st.sampled_from(LOSSES),
    st.sampled_from(DEMANDS),
)


def check_equals_exhaustive_search(
    records: Microdata, k: int, share: float, loss: str, demand: dict[str, object]
) -> None:
    k = min(k, len(records))
    defense = Incognito(k=k, max_suppression=share, loss=loss, **demand)
    if demand.get("l", 0) > records.frame["s"].nunique():
        with pytest.raises(ValueError, match="l must not exceed"):
            defense.apply(records, np.random.default_rng(0))
        return
    allowed = exhaustive(records, k, math.floor(share * len(records) + 1e-9), loss, demand)
    minimal = [
        node
        for node in allowed
        if not any(other != node and all(a <= b for a, b in zip(other, node, strict=True)) for other in allowed)
    ]
    names = records.quasi_identifiers
    listed = [tuple(node[name] for name in names) for node in defense.minimal_nodes(records)]
    assert listed == sorted(minimal, key=lambda node: (sum(node), node))
    if not allowed:
        for refused in (defense.guarantee, lambda table: defense.apply(table, np.random.default_rng(0))):
            with pytest.raises(ValueError, match="no levels of the hierarchies give"):
                refused(records)
        return
    before = records.frame.copy(deep=True)
    release = defense.apply(records, np.random.default_rng(0))
    best = min(allowed, key=lambda node: (round(allowed[node][0], 12), sum(node), node))
    assert tuple(release.levels.values()) == best
    assert tuple(release.levels) == names
    assert release.loss == pytest.approx(allowed[best][0], abs=1e-12)
    check_release(defense, records, release.frame, best, allowed[best][1])
    pd.testing.assert_frame_equal(records.frame, before)


def check_release(
    defense: Incognito, records: Microdata, frame: pd.DataFrame, node: tuple[int, ...], suppressed: np.ndarray
) -> None:
    names = records.quasi_identifiers
    assert frame["s"].tolist() == records.frame["s"].tolist()
    for name, level in zip(names, node, strict=True):
        assert (frame.loc[suppressed, name] == "*").all()
        expected = pd.Series(records.hierarchies[name].group(records.frame[name], level)[0])
        cells = pd.factorize(frame[name], use_na_sentinel=False)[0]
        pairs = pd.DataFrame({"group": expected, "cell": cells})[~suppressed].drop_duplicates()
        assert pairs["group"].is_unique
        assert pairs["cell"].is_unique
    if defense.loss == "average_class_size" and not any(
        "*" in records.hierarchies[name].group(records.frame[name], level)[1]
        for name, level in zip(names, node, strict=True)
    ):
        assert average_class_size(frame, names) == defense.apply(records, np.random.default_rng(0)).loss
    guaranteed = defense.guarantee(records)
    assert guaranteed.k == (min(defense.k, suppressed.sum()) if suppressed.any() else defense.k)
    assert k_anonymity(frame, names) >= guaranteed.k
    if guaranteed.l is not None:
        measured = {
            "distinct": lambda: l_diversity(frame, names, "s"),
            "entropy": lambda: entropy_l_diversity(frame, names, "s") + 1e-9,
            "recursive": lambda: recursive_l_diversity(frame, names, "s", defense.c),
        }[defense.diversity]()
        assert measured >= guaranteed.l
    if guaranteed.t is not None and defense.distance == "equal":
        assert t_closeness_equal(frame, names, "s") <= guaranteed.t + 2e-9
    if not suppressed.any():
        assert (guaranteed.l, guaranteed.t) == (defense.l, defense.t)
        if defense.alpha is not None:
            assert alpha_anonymity(frame, names, "s") <= defense.alpha + 2e-9


def check_the_search_of_large_lattices_equals_exhaustive_search(
    records: Microdata, k: int, share: float, loss: str, demand: dict[str, object]
) -> None:
    k = min(k, len(records))
    if demand.get("l", 0) > records.frame["s"].nunique():
        return
    names, sensitive = records.quasi_identifiers, records.frame["s"]
    allowed = {
        node: (cost, suppressed)
        for node, (cost, suppressed) in exhaustive(
            records, k, math.floor(share * len(records) + 1e-9), loss, demand
        ).items()
        # Large lattices: suppressed rows are none or a class that meets the requirements.
        if not suppressed.any()
        or (suppressed.sum() >= k and diverse(suppressed.astype(int), sensitive, demand)[suppressed].all())
    }
    rng = np.random.default_rng(0)
    defense = Incognito(k=k, max_suppression=share, loss=loss, search_limit=10**6, **demand)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("defenses.grouping.incognito.incognito._NODES", 0)
        if not allowed:
            with pytest.raises(ValueError, match="no levels of the hierarchies give"):
                defense.apply(records, rng)
            return
        release = defense.apply(records, rng)
        guaranteed = defense.guarantee(records)
        with pytest.raises(ValueError, match="choices of levels, more than 0; name fewer columns"):
            defense.minimal_nodes(records)
    best = min(allowed, key=lambda node: (round(allowed[node][0], 12), sum(node), node))
    assert tuple(release.levels.values()) == best
    assert release.optimal
    assert release.loss == release.bound == pytest.approx(allowed[best][0], abs=1e-12)
    assert (guaranteed.k, guaranteed.l, guaranteed.t) == (k, demand.get("l"), demand.get("t"))
    assert k_anonymity(release.frame, names) >= k
    for limit in (1, 3, 10):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("defenses.grouping.incognito.incognito._NODES", 0)
            try:
                hasty = defense.clone().set_params(search_limit=limit).apply(records, rng)
            except ValueError as error:
                assert "the search stopped at its limit" in str(error)  # noqa: PT017
                continue
        assert hasty.bound <= release.loss + 1e-12 <= hasty.loss + 2e-12
        assert tuple(hasty.levels.values()) in allowed
        assert not hasty.optimal or hasty.levels == release.levels


@pytest.mark.thorough
def test_optimum_of_bank_customers_is_proven() -> None:
    bank = load("bank").records
    records = bank.take(np.random.default_rng(0).choice(len(bank), 100, replace=False))
    assert math.prod(records.hierarchies[name].height + 1 for name in records.quasi_identifiers) == 518_400_000
    release = Incognito(k=5).apply(records, np.random.default_rng(0))
    assert release.optimal
    # The loss that a second search, depth-first with other bounds, proved minimal for these 100 rows.
    assert release.loss == release.bound == pytest.approx(0.728069459859, abs=1e-12)
    assert k_anonymity(release.frame, records.quasi_identifiers) >= 5
    assert Incognito(k=5).guarantee(records).k == 5
    hasty = Incognito(k=5, search_limit=100).apply(records, np.random.default_rng(0))
    assert not hasty.optimal
    assert hasty.bound < release.loss <= hasty.loss < 1
    assert release.remark == "loss 0.7281, proven minimal"
    assert hasty.shuffled(np.random.default_rng(0)).remark.startswith("loss 0.")
    assert "not proven minimal: no choice of levels has less than 0." in hasty.remark


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "seed", "demand"),
    [
        ("bank", 0, {}),
        ("adult", 1, {"l": 2}),
        ("bank", 0, {"l": 1.2, "diversity": "entropy"}),
        ("adult", 1, {"t": 0.2}),
        ("bank", 0, {"alpha": 0.95}),
    ],
    ids=str,
)
def test_a_larger_limit_on_suppression_never_ends_with_a_larger_loss(
    name: str, seed: int, demand: dict[str, object]
) -> None:
    whole = load(name).records
    records = whole.take(np.random.default_rng(seed).choice(len(whole), 300, replace=False))
    losses = [
        Incognito(k=3, max_suppression=share, search_limit=500, **demand).apply(records, np.random.default_rng(0)).loss
        for share in (0, 0.01, 0.02, 0.03, 0.05, 0.1)
    ]
    assert losses == sorted(losses, reverse=True)


@pytest.mark.thorough
@settings(max_examples=20, deadline=None)
@given(
    records=tables(),
    k=st.integers(1, 4),
    limit=st.integers(1, 12),
    loss=st.sampled_from(LOSSES),
    demand=st.sampled_from((*DEMANDS, {"l": 2, "diversity": "recursive", "c": 3})),
)
def test_every_limit_of_any_hasty_search_keeps_that_order(
    records: Microdata, k: int, limit: int, loss: str, demand: dict[str, object]
) -> None:
    if k > len(records) or demand.get("l", 0) > records.frame["s"].nunique():
        return
    losses = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("defenses.grouping.incognito.incognito._NODES", 0)
        for rows in range(0, len(records) + 1, 3):
            share = rows / len(records)
            defense = Incognito(k=k, max_suppression=share, loss=loss, search_limit=limit, **demand)
            try:
                losses.append(defense.apply(records, np.random.default_rng(0)).loss)
            except ValueError as error:
                assert "no levels of the hierarchies give" in str(error)  # noqa: PT017
                losses.append(math.inf)
    assert all(later <= earlier + 1e-11 for earlier, later in pairwise(losses))


def test_a_time_limit_ends_the_search_of_a_large_lattice() -> None:
    bank = load("bank").records
    records = bank.take(np.arange(100))
    release = Incognito(k=5, time_limit=1e-9).apply(records, np.random.default_rng(0))
    # Only the coarsest levels are tested before the clock is read.
    assert (release.loss, release.optimal, release.bound) == (1.0, False, 0.0)


def lecture() -> Microdata:
    frame = pd.DataFrame(
        {
            "sex": list("MMMMFF"),
            "age": [25, 29, 38, 31, 25, 28],
            "postcode": ["354-0025", "354-0025", "354-0038", "354-0019", "354-0045", "354-0031"],
        }
    )
    codes = sorted(set(frame["postcode"]))
    trees = {
        "sex": TableHierarchy([["M", "*"], ["F", "*"]]),
        "age": Hierarchy.from_intervals([[30], []], 20, 39, integer=True),
        "postcode": TableHierarchy([*([code, "354", "*"] for code in codes), ["101-0001", "101", "*"]]),
    }
    return Microdata(frame, quasi_identifiers=tuple(frame), hierarchies=trees)


def test_six_rows_by_hand() -> None:
    # Age alone (38 and 31 stand once) and postcode alone refute their level 0; sex as it is, ages by decade and the
    # first three digits give the groups (M, 20s), (M, 30s), (F, 20s) of two each, and nothing finer does.
    records = lecture()
    defense = Incognito(k=2, max_suppression=0)
    assert defense.minimal_nodes(records) == [{"sex": 0, "age": 1, "postcode": 1}]
    release = defense.apply(records, np.random.default_rng(0))
    assert release.levels == {"sex": 0, "age": 1, "postcode": 1}
    assert release.frame["sex"].tolist() == list("MMMMFF")
    assert release.frame["age"].tolist() == ["[20,29]"] * 2 + ["[30,39]"] * 2 + ["[20,29]"] * 2
    assert release.frame["postcode"].tolist() == ["{354-0019|354-0025|354-0031|354-0038|354-0045}"] * 6
    # 10 of 20 ages and 5 of 6 postcodes: (9/19 + 4/5) / 3.
    assert release.loss == pytest.approx((0 + 9 / 19 + 4 / 5) / 3)
    assert defense.guarantee(records).k == 2


def test_suppressed_rows_are_marked_where_they_stand() -> None:
    frame = pd.DataFrame({"size": [7, 8, 7, 7, 8], "a": list("uuvuu"), "other": range(5)}, index=[9, 8, 7, 6, 5])
    trees = {"a": TableHierarchy([["u", "*"], ["v", "*"]]), "size": TableHierarchy([["7", "*"], ["8", "*"]])}
    records = Microdata(frame, quasi_identifiers=("size", "a"), hierarchies=trees)
    release = Incognito(k=2, max_suppression=0.2).apply(records, np.random.default_rng(0))
    assert release.levels == {"size": 0, "a": 0}
    assert release.loss == pytest.approx(0.2)
    assert release.origin.tolist() == list(range(5))
    assert release.frame["size"].tolist() == [7, 8, "*", 7, 8]
    assert release.frame["a"].tolist() == ["u", "u", "*", "u", "u"]
    assert release.frame["other"].tolist() == list(range(5))


def test_few_suppressed_rows_lower_the_guarantee() -> None:
    frame = pd.DataFrame({"a": ["u"] * 9 + ["v"], "s": list("xyxyxyxyxy")})
    records = Microdata(
        frame,
        quasi_identifiers=("a",),
        sensitive=("s",),
        hierarchies={"a": TableHierarchy([["u", "*"], ["v", "*"]])},
    )
    guaranteed = Incognito(k=3, max_suppression=0.1, l=2).guarantee(records)
    assert (guaranteed.k, guaranteed.l) == (1, None)
    assert "the suppressed record is one class" in guaranteed.statement
    assert Incognito(k=3, max_suppression=0.05, l=2).guarantee(records).l == 2


def test_the_limit_of_suppression_is_not_lost_to_rounding() -> None:
    frame = pd.DataFrame({"a": ["u"] * 71 + ["v"] * 29})
    records = Microdata(frame, quasi_identifiers=("a",), hierarchies={"a": TableHierarchy([["u", "*"], ["v", "*"]])})
    assert Incognito(k=40, max_suppression=0.29).apply(records, np.random.default_rng(0)).levels == {"a": 0}
    assert Incognito(k=40, max_suppression=0.28).apply(records, np.random.default_rng(0)).levels == {"a": 1}


def test_a_finer_node_may_suppress_as_many_rows_as_a_coarser_one_must() -> None:
    # Together, 12 and 8 rows of two values: 4 rows are too many for shares of at most a half. Apart, the same 4 are.
    frame = pd.DataFrame({"a": ["u"] * 16 + ["v"] * 4, "s": [0, 1] * 8 + [0] * 4})
    tree = TableHierarchy([["u", "*"], ["v", "*"]])
    records = Microdata(frame, quasi_identifiers=("a",), sensitive=("s",), hierarchies={"a": tree})
    defense = Incognito(k=2, alpha=0.5, max_suppression=0.2)
    assert defense.minimal_nodes(records) == [{"a": 0}]
    assert defense.apply(records, np.random.default_rng(0)).levels == {"a": 0}
    with pytest.raises(ValueError, match="no levels of the hierarchies give"):
        Incognito(k=2, alpha=0.5, max_suppression=0.15).apply(records, np.random.default_rng(0))


def test_a_view_hides_origins_and_chosen_columns_limit_the_guarantee() -> None:
    records = lecture()
    defense = Incognito(k=2, max_suppression=0, columns=["age", "sex"])
    release = defense.apply(records, np.random.default_rng(0))
    assert release.levels == {"age": 1, "sex": 0}
    assert release.frame["postcode"].tolist() == records.frame["postcode"].tolist()
    assert defense.guarantee(records).k is None
    assert (release.view(np.random.default_rng(0)).origin == -1).all()
    assert release.shuffled(np.random.default_rng(0)).levels == release.levels


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 0}, "k must be an integer"),
        ({"k": 2.5}, "k must be an integer"),
        ({"max_suppression": -0.1}, "max_suppression must be"),
        ({"max_suppression": 1.1}, "max_suppression must be"),
        ({"search_limit": 0}, "search_limit must be an integer"),
        ({"time_limit": 0}, "time_limit must be"),
        ({"time_limit": float("nan")}, "time_limit must be"),
        ({"loss": "least"}, "loss must be one of 'normalized'"),
        ({"columns": ["a", "a"]}, "columns must be a list"),
    ],
)
def test_refuses_parameters(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Incognito(**parameters)


def test_refuses_what_does_not_fit_the_records() -> None:
    rng = np.random.default_rng(0)
    records = lecture()
    with pytest.raises(ValueError, match="k = 7 for n = 6"):
        Incognito(k=7).apply(records, rng)
    with pytest.raises(ValueError, match="k = 1 for n = 0"):
        Incognito(k=1).apply(records.take([]), rng)
    with pytest.raises(ValueError, match="no released column 'z'"):
        Incognito(k=2, columns=["z"]).apply(records, rng)
    with pytest.raises(ValueError, match="column 'postcode', row 0: the hierarchy has no such value"):
        Incognito(k=2).apply(records.with_frame(records.frame.assign(postcode="999")), rng)
    bare = Microdata(records.frame, quasi_identifiers=("sex", "age"), hierarchies={"sex": records.hierarchies["sex"]})
    with pytest.raises(ValueError, match="column 'age' has no hierarchy"):
        Incognito(k=2).apply(bare, rng)
    with pytest.raises(ValueError, match="no column to generalize"):
        Incognito(k=2).apply(Microdata(records.frame), rng)
    two = Microdata(
        pd.DataFrame({"a": ["u", "v"]}),
        quasi_identifiers=("a",),
        hierarchies={"a": TableHierarchy([["u"], ["v"]])},
    )
    with pytest.raises(ValueError, match="no levels of the hierarchies give 2-anonymity with at most 0 of 2 records"):
        Incognito(k=2).apply(two, rng)


@pytest.mark.thorough
@given(
    st.lists(st.tuples(*[st.integers(0, 3)] * 4), min_size=1, max_size=40),
    st.lists(st.sampled_from([4, 2**20, 2**40]), min_size=4, max_size=4),
)
def test_tuples_get_one_number_each_however_many_there_could_be(rows: list[tuple[int, ...]], sizes: list[int]) -> None:
    codes = [np.array(column) for column in zip(*rows, strict=True)]
    number, count = number_tuples(codes, sizes)
    assert count == len(set(rows)) == len(set(number.tolist())) == len(set(zip(rows, number.tolist(), strict=True)))
    assert number.min() == 0
    assert number.max() == count - 1


def test_optimum_on_adult() -> None:
    release = Incognito(k=5, max_suppression=0).apply(adult_of_arx(), np.random.default_rng(0))
    # ARX 3.9 finds the same levels and loss.
    assert tuple(release.levels.values()) == (0, 4, 0, 2, 3, 2, 2, 1)
    assert release.loss == pytest.approx(0.6608417, abs=5e-8)
    assert k_anonymity(release.frame, QUASI) >= 5


@pytest.mark.long
def test_optima_on_adult_are_those_of_an_exhaustive_search() -> None:
    records = adult_of_arx()
    n, limits = len(records), (0.0, 0.01, 0.05, 0.1)
    trees = [records.hierarchies[name] for name in QUASI]
    columns = [records.frame[name].to_numpy(dtype=object) for name in QUASI]
    groups = [
        [pd.factorize(tree.group(column, level)[0])[0] for level in range(tree.height + 1)]
        for tree, column in zip(trees, columns, strict=True)
    ]
    blur = [
        [tree.loss(column, level) for level in range(tree.height + 1)]
        for tree, column in zip(trees, columns, strict=True)
    ]
    best: dict[tuple[int, float, str], tuple[float, int, tuple[int, ...]]] = {}
    for node in product(*(range(tree.height + 1) for tree in trees)):
        key = np.zeros(n, dtype=np.int64)
        for levels, level in zip(groups, node, strict=True):
            key = key * (levels[level].max() + 1) + levels[level]
        sizes = np.unique(key, return_counts=True)[1][np.unique(key, return_inverse=True)[1]]
        row = sum(levels[level] for levels, level in zip(blur, node, strict=True)) / len(trees)
        depth = np.mean([level / tree.height for level, tree in zip(node, trees, strict=True)])
        for k in (2, 5, 10, 50):
            suppressed = sizes < k
            count = int(suppressed.sum())
            losses = {
                "normalized": (row[~suppressed].sum() + count) / n,
                "precision": (depth * (n - count) + count) / n,
                "discernibility": float(np.where(suppressed, n, sizes).sum()),
                "average_class_size": n / (round((1 / sizes[~suppressed]).sum()) + (count > 0)),
                "height": float(sum(node)),
            }
            for limit in limits:
                for loss in LOSSES if count <= int(limit * n) else ():
                    rank = (round(losses[loss], 12), sum(node), node)
                    best[k, limit, loss] = min(best.get((k, limit, loss), rank), rank)
    assert len(best) == 4 * len(limits) * len(LOSSES)
    for (k, limit, loss), (cost, _, node) in best.items():
        release = Incognito(k=k, max_suppression=limit, loss=loss).apply(records, np.random.default_rng(0))
        assert tuple(release.levels.values()) == node, (k, limit, loss)
        assert release.loss == pytest.approx(cost, rel=1e-10)


@pytest.mark.thorough
@settings(max_examples=15, deadline=None)
@CASES
def test_equals_exhaustive_search(
    records: Microdata, k: int, share: float, loss: str, demand: dict[str, object]
) -> None:
    check_equals_exhaustive_search(records, k, share, loss, demand)


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@CASES
def test_equals_exhaustive_search_on_many_tables(
    records: Microdata, k: int, share: float, loss: str, demand: dict[str, object]
) -> None:
    check_equals_exhaustive_search(records, k, share, loss, demand)


@pytest.mark.thorough
@settings(max_examples=10, deadline=None)
@CASES
def test_the_search_of_large_lattices_equals_exhaustive_search(
    records: Microdata, k: int, share: float, loss: str, demand: dict[str, object]
) -> None:
    check_the_search_of_large_lattices_equals_exhaustive_search(records, k, share, loss, demand)


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@CASES
def test_the_search_of_large_lattices_equals_exhaustive_search_on_many_tables(
    records: Microdata, k: int, share: float, loss: str, demand: dict[str, object]
) -> None:
    check_the_search_of_large_lattices_equals_exhaustive_search(records, k, share, loss, demand)
