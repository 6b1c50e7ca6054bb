from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from adult_tools import QUASI
from hypothesis import given, settings
from hypothesis import strategies as st

from defenses import Microdata, Mondrian
from defenses.base.columns import code_column
from defenses.base.hierarchy import TableHierarchy
from defenses.grouping.mondrian.columns import distinct_sequences, order_column
from defenses.grouping.mondrian.partition import CutRules, partition
from metrics import CategoricalDomain, NumericDomain, k_anonymity, normalized_certainty_penalty, read_cells
from metrics.columns.cells import holds_generalized
from metrics.columns.domains import infer_domain
from scenarios import load
from scenarios.running.methods.invented_people import people
from scenarios.tables.seeds import generator


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    n = draw(st.integers(2, 60))

    def column(values: st.SearchStrategy[object]) -> list[object]:
        return draw(st.lists(values, min_size=n, max_size=n))

    return pd.DataFrame(
        {
            "number": np.array(column(st.sampled_from([-2.5, 0.0, 1.0, 1e6, 3.25])), dtype=float),
            "holed": np.array(column(st.sampled_from([1.0, 2.0, 7.0, np.nan])), dtype=float),
            "text": pd.Series(column(st.sampled_from(["a", "b|c", "*", "[d", "{e", "f\\"])), dtype=object),
            "holed text": pd.Series(column(st.sampled_from(["x", "y", None])), dtype=object),
            "other": np.arange(n),
        }
    )


def covers(released: pd.Series, original: pd.Series, domain: NumericDomain | CategoricalDomain) -> np.ndarray:
    cells = read_cells(released, domain)
    codes, distinct = pd.factorize(original, use_na_sentinel=False)
    return cells.contains(distinct)[cells.codes, codes]


CASES = given(table=tables(), k=st.integers(1, 9), strict=st.booleans())


def check_classes_have_k_rows_and_cells_cover_their_values(table: pd.DataFrame, k: int, strict: bool) -> None:
    quasi = tuple(name for name in ("number", "holed", "text", "holed text") if table[name].notna().any())
    records = Microdata(frame=table, quasi_identifiers=quasi)
    before = table.copy(deep=True)
    k = min(k, len(table))
    defense = Mondrian(k=k, strict=strict)
    release = defense.apply(records, np.random.default_rng(1))
    assert k_anonymity(release.frame, quasi) >= k == defense.guarantee(records).k
    assert release.frame["other"].tolist() == table["other"].tolist()
    assert release.origin.tolist() == list(range(len(table)))
    for name in quasi:
        assert covers(release.frame[name], table[name], records.domain(name)).all()
    likelihoods = release.channel.likelihoods(
        release.frame, table[[*quasi, "other"]], {"other": records.domain("other")}
    )
    rows = np.arange(len(table))
    assert all((likelihood.at(rows, rows) == 0).all() for likelihood in likelihoods.values())
    pd.testing.assert_frame_equal(table, before)
    again = defense.apply(records, np.random.default_rng(1))
    pd.testing.assert_frame_equal(release.frame, again.frame)


@pytest.mark.thorough
@settings(max_examples=35, deadline=None)
@CASES
def test_classes_have_k_rows_and_cells_cover_their_values(table: pd.DataFrame, k: int, strict: bool) -> None:
    check_classes_have_k_rows_and_cells_cover_their_values(table, k, strict)


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@CASES
def test_classes_have_k_rows_and_cells_cover_their_values_in_many_tables(
    table: pd.DataFrame, k: int, strict: bool
) -> None:
    check_classes_have_k_rows_and_cells_cover_their_values(table, k, strict)


def check_every_allowed_cut_is_made(table: pd.DataFrame, k: int, strict: bool) -> None:
    domains = {name: infer_domain(table[name]) for name in ("number", "text")}
    columns = [order_column(name, domain, code_column(table[name], domain), None) for name, domain in domains.items()]
    k = min(k, len(table))
    rules = CutRules(k, strict)
    classes, count = partition(columns, np.random.default_rng(2).permutation(len(table)), rules)
    assert sorted(set(classes)) == list(range(count))
    for index in range(count):
        codes = [np.sort(column.codes[classes == index]) for column in columns]
        size = codes[0].size
        assert size >= k
        if strict:
            cuts = [cut for values in codes for cut in np.flatnonzero(np.diff(values)) + 1]
            assert all(min(cut, size - cut) < k for cut in cuts)
        else:
            assert size < 2 * k or all(values[0] == values[-1] for values in codes)


@pytest.mark.thorough
@settings(max_examples=30, deadline=None)
@CASES
def test_every_allowed_cut_is_made(table: pd.DataFrame, k: int, strict: bool) -> None:
    check_every_allowed_cut_is_made(table, k, strict)


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@CASES
def test_every_allowed_cut_is_made_in_many_tables(table: pd.DataFrame, k: int, strict: bool) -> None:
    check_every_allowed_cut_is_made(table, k, strict)


def test_relaxed_cut_falls_among_ties() -> None:
    table = pd.DataFrame({"a": [1, 1, 1, 1, 1, 1, 1, 2, 2]})
    records = Microdata(frame=table, quasi_identifiers=("a",))
    strict = Mondrian(k=3).apply(records, np.random.default_rng(0)).frame["a"]
    assert strict.tolist() == ["[1,2]"] * 9
    relaxed = Mondrian(k=3, strict=False).apply(records, np.random.default_rng(0)).frame["a"]
    assert sorted(relaxed) == ["1"] * 6 + ["[1,2]"] * 3
    assert relaxed.tolist()[-2:] == ["[1,2]"] * 2


def test_worked_example() -> None:
    table = pd.DataFrame(
        {
            "name": list("abcdef"),
            "age": [20, 60, 21, 61, 22, 62],
            "job": ["x", "y", "x", "z", "x", "z"],
            "ill": list("uvwuvw"),
        }
    )
    records = Microdata(frame=table, identifiers=("name",), quasi_identifiers=("age", "job"), sensitive=("ill",))
    frame = Mondrian(k=3).apply(records, np.random.default_rng(0)).frame
    assert list(frame.columns) == ["age", "job", "ill"]
    assert frame["age"].tolist() == ["[20,22]", "[60,62]"] * 3
    assert frame["job"].tolist() == ["x", "{z|y}"] * 3
    assert frame["ill"].tolist() == list("uvwuvw")


@pytest.mark.thorough
def test_split_with_the_largest_gain_is_taken() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        table = pd.DataFrame({"a": rng.integers(0, 9, 12).astype(float), "b": rng.integers(0, 5, 12).astype(float)})
        records = Microdata(frame=table, quasi_identifiers=("a", "b"))
        k = 5
        released = Mondrian(k=k).apply(records, rng).frame
        shares = table / (table.max() - table.min())
        best = max(_gain(shares[name], cut, k) for name in table for cut in shares[name].unique())
        cells = {tuple(row) for row in released.to_numpy()}
        if best == -np.inf:
            assert len(cells) == 1
            continue
        expected = [
            {tuple(_interval(table[name][side]) for name in table) for side in (shares[n] <= cut, shares[n] > cut)}
            for n in table
            for cut in shares[n].unique()
            if np.isclose(_gain(shares[n], cut, k), best)
        ]
        assert cells in expected


def _interval(values: pd.Series) -> str:
    low, high = values.min(), values.max()
    return f"{low:g}" if low == high else f"[{low:g},{high:g}]"


def _gain(values: pd.Series, cut: float, k: int) -> float:
    left, right = values[values <= cut], values[values > cut]
    if min(len(left), len(right)) < k:
        return -np.inf
    return len(values) * np.ptp(values) - len(left) * np.ptp(left) - len(right) * np.ptp(right)


def test_hierarchy_and_order_keep_neighbours_together() -> None:
    jobs = ["nurse", "clerk", "doctor", "typist"] * 3
    rows = [["nurse", "health"], ["clerk", "office"], ["doctor", "health"], ["typist", "office"]]
    with_hierarchy = Microdata(
        frame=pd.DataFrame({"job": jobs}),
        quasi_identifiers=("job",),
        hierarchies={"job": TableHierarchy(rows)},
    )
    cells = set(Mondrian(k=6).apply(with_hierarchy, np.random.default_rng(0)).frame["job"])
    assert cells == {"{nurse|doctor}", "{clerk|typist}"}
    ordered = Microdata(
        frame=pd.DataFrame({"size": ["L", "S", "M", "XL"] * 3}),
        quasi_identifiers=("size",),
        domains={"size": CategoricalDomain(("S", "M", "L", "XL"), ordered=True)},
    )
    assert set(Mondrian(k=6).apply(ordered, np.random.default_rng(0)).frame["size"]) == {"{S|M}", "{L|XL}"}


def test_missing_values_are_a_category_and_suppress_what_they_meet() -> None:
    table = pd.DataFrame({"a": [np.nan, np.nan, 1.0, 2.0, 9.0, 9.0], "b": ["x", None, "x", "x", "x", "x"]})
    records = Microdata(frame=table, quasi_identifiers=("a", "b"))
    frame = Mondrian(k=2).apply(records, np.random.default_rng(0)).frame
    assert frame["a"].isna().tolist() == [True, True, False, False, False, False]
    assert frame["a"].tolist()[2:] == ["[1,2]", "[1,2]", "9", "9"]
    assert frame["b"].tolist() == ["*", "*", "x", "x", "x", "x"]


def test_a_column_without_values_and_constant_columns_stay() -> None:
    table = pd.DataFrame({"empty": [np.nan] * 4, "constant": ["x"] * 4, "n": [1, 1, 5, 5]})
    frame = Mondrian(k=2).apply(Microdata(table, quasi_identifiers=tuple(table)), np.random.default_rng(0)).frame
    assert frame["empty"].isna().all()
    assert frame["constant"].tolist() == ["x"] * 4
    assert frame["n"].tolist() == ["1", "1", "5", "5"]


def test_chosen_columns_limit_work_and_guarantee() -> None:
    table = pd.DataFrame({"a": [1, 2, 3, 4], "b": [4, 3, 2, 1]})
    records = Microdata(frame=table, quasi_identifiers=("a", "b"))
    defense = Mondrian(k=2, columns=["a"])
    assert defense.guarantee(records).k is None
    assert "b" in defense.guarantee(records).statement
    assert defense.apply(records, np.random.default_rng(0)).frame["b"].tolist() == [4, 3, 2, 1]


@pytest.mark.parametrize("k", [0, -1, 2.0, True, "5"])
def test_refuses_k(k: object) -> None:
    with pytest.raises(ValueError, match="k must be an integer"):
        Mondrian(k=k)  # type: ignore[arg-type]


def test_refuses_what_does_not_fit_the_records() -> None:
    records = Microdata(frame=pd.DataFrame({"a": [1.0, 2.0]}), quasi_identifiers=("a",))
    rng = np.random.default_rng(0)
    for refused in (Mondrian(k=3).apply, lambda table, _: Mondrian(k=3).guarantee(table)):
        with pytest.raises(ValueError, match="k = 3 for n = 2"):
            refused(records, rng)
    with pytest.raises(ValueError, match="k = 1 for n = 0"):
        Mondrian(k=1).apply(records.take([]), rng)
    with pytest.raises(ValueError, match="no released column 'z'"):
        Mondrian(k=1, columns=["z"]).apply(records, rng)
    with pytest.raises(ValueError, match="strict"):
        Mondrian(k=1, strict="yes")  # type: ignore[arg-type]
    infinite = Microdata(
        pd.DataFrame({"a": [1.0, np.inf]}), quasi_identifiers=("a",), domains={"a": NumericDomain(0, 9)}
    )
    with pytest.raises(ValueError, match="'a'"):
        Mondrian(k=1).apply(infinite, rng)
    unknown = Microdata(
        pd.DataFrame({"a": ["x", "y"]}), quasi_identifiers=("a",), domains={"a": CategoricalDomain(("x",))}
    )
    with pytest.raises(ValueError, match="column 'a', row 1: unknown category; known are x"):
        Mondrian(k=1).apply(unknown, rng)


@pytest.mark.thorough
@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=5), min_size=1, max_size=30))
def test_distinct_sequences(slices: list[list[int]]) -> None:
    starts = np.cumsum([0, *(len(part) for part in slices[:-1])])
    which, sequences = distinct_sequences(np.concatenate(slices), starts, 5)
    assert [sequences[index].tolist() for index in which] == slices
    assert len(sequences) == len({tuple(part) for part in slices})
    assert all(a.tolist() != b.tolist() for a, b in combinations(sequences, 2))


@pytest.mark.thorough
def test_loss_on_adult() -> None:
    records = Microdata(load("adult").records.frame, quasi_identifiers=QUASI, sensitive=("salary-class",))
    domains = {name: records.domain(name) for name in QUASI}
    # The best of three other Python implementations under the same scorer: .0384 and .0834.
    for k, peer in ((5, 0.0384), (10, 0.0834)):
        released = Mondrian(k=k).apply(records, np.random.default_rng(0)).frame
        assert k_anonymity(released, QUASI) >= k
        assert normalized_certainty_penalty(released, domains) <= peer


@pytest.mark.parametrize("representative", ["mean", "median", "mode"])
def test_classes_may_be_released_as_representatives(representative):
    records = people(200, generator(0, "people"), missing=True)
    release = Mondrian(k=7, representative=representative).apply(records, np.random.default_rng(0))
    assert k_anonymity(release.frame, records.quasi_identifiers) >= 7
    assert not any(holds_generalized(release.frame[name]) for name in records.quasi_identifiers)
    assert release.frame["illness"].tolist() == records.frame["illness"].tolist()
    with pytest.raises(ValueError, match="representative"):
        Mondrian(representative="middle")


def test_a_lectures_group_is_released_as_its_means() -> None:
    frame = pd.DataFrame({"age": [45, 47, 52], "income": [500, 520, 480]})
    records = Microdata(frame, quasi_identifiers=("age", "income"))
    release = Mondrian(k=2, representative="mean").apply(records, np.random.default_rng(0))
    assert release.frame.to_numpy().tolist() == [[48, 500]] * 3
