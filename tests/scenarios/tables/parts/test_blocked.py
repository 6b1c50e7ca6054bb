"""Defenses applied to random blocks of a table: what the release guarantees is counted in the released file."""

import math
import re
from collections import Counter
from functools import partial

import numpy as np
import pandas as pd
import pytest
from large_tools import unanchored, written_release

import defenses
from defenses import Anatomy, Incognito, KMeansMicroaggregation, MicrodataDefense, Mondrian, Pipeline, Rounding
from defenses.base.defense import released_frame, rowwise_release
from defenses.base.guarantee import Guarantee
from defenses.base.k_anonymous_defense import guarantee_of_parts
from scenarios.running.workers import ordered_work
from scenarios.tables.dataset import load_table
from scenarios.tables.parts.records import large_records

ROLES = """
quasi_identifiers = ["age", "town"]
sensitive = ["ill"]
[columns.age]
type = "number"
integer = true
low = 0
high = 99
hierarchy = { intervals = [[10, 20, 30, 40, 50, 60, 70, 80, 90], [50], []] }
[columns.town]
type = "category"
categories = ["a", "b", "c", "d", "rare"]
hierarchy = { rows = [["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "y", "*"], ["rare", "z", "*"]] }
[columns.ill]
type = "category"
categories = ["flu", "cold", "none"]
ordered = true
"""
ROWS = 900
# Half of the records have one value, so that a block of any draw that ignores values would hold too many of it.
SHARES = {"none": 450, "flu": 300, "cold": 150}


@pytest.fixture(autouse=True)
def plain_utility(monkeypatch):
    """Blocks are compared with the table as a whole by their utility, of which nothing here asks."""
    unanchored(monkeypatch)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("table")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 100, ROWS),
            "town": np.where(np.arange(ROWS) < 3, "rare", rng.choice(list("abcd"), ROWS)),
            "ill": rng.permutation(np.repeat(list(SHARES), list(SHARES.values()))),
        }
    )
    frame.to_csv(folder / "table.csv", index=False)
    (folder / "roles.toml").write_text(ROLES)
    return folder


def released(defense, folder, output, rows=100):
    with large_records(folder / "table.csv", folder / "roles.toml") as records:
        release = written_release(defense, records, output, rows=rows)
        guaranteed = release.guarantee()
    return pd.read_csv(output, dtype=str, keep_default_na=False), guaranteed, release.notes


def counted(frame, columns=("age", "town")):
    """Counts of the sensitive values of each class of equal cells."""
    return [Counter(values) for _, values in frame.groupby(list(columns))["ill"]]


def entropy(counts):
    n = counts.total()
    return math.exp(-sum(c / n * math.log(c / n) for c in counts.values()))


def recursive(counts, c, l):  # noqa: E741
    ranked = sorted(counts.values(), reverse=True)
    return ranked[0] < c * sum(ranked[l - 1 :])


KEPT = [
    ({}, lambda counts: True, ""),
    ({"l": 3}, lambda counts: len(counts) >= 3, "distinct 3-diversity"),
    ({"l": 2.6, "diversity": "entropy"}, lambda counts: entropy(counts) >= 2.6 - 1e-9, "entropy 2.6-diversity"),
    (
        {"l": 2, "diversity": "recursive", "c": 1.02},
        lambda counts: recursive(counts, 1.02, 2),
        "recursive (1.02, 2)-diversity",
    ),
    ({"alpha": 0.5}, lambda counts: max(counts.values()) <= 0.5 * counts.total(), "shares of at most 0.5"),
]


DRAWS = [(True, 100), (False, 137), (False, 900)]
"""Whether cuts are strict, and rows of a block."""


def demands_and_draws():
    """All pairs; in the ring each demand meets the smallest blocks, and two meet one of the other draws each."""
    for number, demand in enumerate(KEPT):
        for draw in DRAWS:
            ring = draw in (DRAWS[0], *DRAWS[number : number + 1])
            marks = [] if ring else [pytest.mark.long]
            yield pytest.param(*draw, *demand, id=f"{demand[2] or 'k'}-{draw[1]}", marks=marks)


@pytest.mark.thorough
@pytest.mark.parametrize(("strict", "rows", "demand", "holds", "words"), list(demands_and_draws()))
def test_blocks_of_mondrian_keep_every_printed_number(table, tmp_path, strict, rows, demand, holds, words):
    defense = Mondrian(k=4, strict=strict, **demand)
    frame, guaranteed, _ = released(defense, table, tmp_path / "out.csv", rows=rows)
    classes = counted(frame)
    assert len(frame) == ROWS
    assert len(classes) > 5
    assert guaranteed.k == 4 <= min(counts.total() for counts in classes)
    assert guaranteed.l == demand.get("l")
    assert words in guaranteed.statement
    assert all(map(holds, classes))
    in_memory = defense.guarantee(load_table(table / "table.csv", table / "roles.toml").records)
    assert str(guaranteed) == str(in_memory)
    assert guaranteed.statement == f"{in_memory.statement}; made in random blocks of about {rows} rows"


@pytest.mark.thorough
@pytest.mark.parametrize("distance", ["equal", "ordered"])
def test_closeness_holds_in_each_block_alone_and_is_not_guaranteed(table, tmp_path, distance):
    defense = Mondrian(k=4, strict=False, l=2, t=0.1, distance=distance)
    frame, guaranteed, _ = released(defense, table, tmp_path / "out.csv")
    assert (guaranteed.k, guaranteed.l, guaranteed.t) == (4, 2, None)
    assert guaranteed.statement == (
        "4-anonymity, distinct 2-diversity over age, town; made in random blocks of about 100 rows, each of which "
        f"alone has 0.1-closeness with {distance} distances"
    )
    classes = counted(frame)
    assert min(map(len, classes)) >= 2
    if distance == "equal":
        # The classes of some block are farther from the whole table than from their block.
        far = [
            sum(abs(counts[value] / counts.total() - share / ROWS) for value, share in SHARES.items()) / 2
            for counts in classes
        ]
        assert max(far) > 0.1


@pytest.mark.thorough
@pytest.mark.parametrize("rows", [100, pytest.param(450, marks=pytest.mark.long)])
def test_blocks_of_a_pipeline_guarantee_nothing(table, tmp_path, rows):
    """In one table, too: a later step may undo what an earlier one guarantees."""
    steps = [Rounding(base=10, columns=["age"]), Mondrian(k=4, l=2)]
    _, guaranteed, _ = released(Pipeline(steps=steps), table, tmp_path / "out.csv", rows=rows)
    assert str(guaranteed) == "none"
    assert guaranteed.statement == f"none: made in random blocks of about {rows} rows, each as a table of its own"


@pytest.mark.thorough
@pytest.mark.parametrize("rows", [100, 137, pytest.param(450, marks=pytest.mark.long)])
def test_anatomy_releases_blocks_of_a_table_that_it_can_release(table, tmp_path, rows):
    frame, guaranteed, notes = released(Anatomy(l=2), table, tmp_path / "out.csv", rows=rows)
    sets = frame["ill"].str.strip("{}").str.split("|")
    assert len(frame) == ROWS
    assert sets.map(len).min() == 2
    assert guaranteed.k is None
    assert guaranteed.statement == (
        f"groups of at least 2 different values of ill, one record each; made in random blocks of about {rows} rows"
    )
    # Each set stands for as many records as it has values, so that each value has its share of them.
    assert all(count % len(cells.split("|")) == 0 for cells, count in frame["ill"].value_counts().items())
    # 450 records of one value are no multiple of 7 blocks, so that some hold too many of it and join others.
    assert len(notes) == 1 + (rows == 137)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("defense", "words"),
    [
        (Anatomy(l=3), "l = 3: one value of column 'ill' occurs in 450 of 900 records, more than one in 3"),
        (Mondrian(k=4, alpha=0.49), "column 'ill': the table as a whole does not have shares of at most 0.49"),
        (Mondrian(k=4, l=4), "l must not exceed the 3 values of column 'ill'"),
    ],
)
def test_what_no_table_of_these_values_can_have_is_refused_as_in_memory(table, tmp_path, defense, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        released(defense, table, tmp_path / "out.csv")
    with pytest.raises(ValueError, match=re.escape(words)):
        defense.check(load_table(table / "table.csv", table / "roles.toml").records)


@pytest.mark.thorough
def test_blocks_that_rounding_spoils_are_joined(table, tmp_path):
    # 900 records in 7 blocks: 450 is no multiple of 7, so that some blocks hold too many of one value.
    frame, guaranteed, notes = released(Mondrian(k=4, alpha=0.5), table, tmp_path / "out.csv", rows=129)
    assert len(frame) == ROWS
    assert all(2 * max(counts.values()) <= counts.total() for counts in counted(frame))
    assert guaranteed.k == 4
    assert re.fullmatch(
        r"\d blocks did not have shares of at most 0.5 and joined another; the largest has about \d+ rows", notes[0]
    )


METHODS = {
    name: {} for name in ("Microaggregation", "KMeansMicroaggregation", "GowerMicroaggregation", "CellSuppression")
} | {"UnivariateMicroaggregation": {"columns": ["age"]}}


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("name", METHODS)
def test_blocks_of_every_other_grouping_keep_the_least_k(table, tmp_path, name):
    frame, guaranteed, _ = released(getattr(defenses, name)(k=4, **METHODS[name]), table, tmp_path / "out.csv")
    columns = METHODS[name].get("columns", ["age", "town"])
    assert min(counts.total() for counts in counted(frame, columns)) >= 4
    assert guaranteed.k == (4 if "columns" not in METHODS[name] else None)
    assert guaranteed.statement.startswith(f"4-anonymity over {', '.join(columns)}")
    assert "made in random blocks of about 100 rows" in guaranteed.statement


@pytest.mark.thorough
@pytest.mark.parametrize("demand", [pytest.param({}, marks=pytest.mark.long), {"l": 2}, {"alpha": 0.7}, {"t": 0.4}])
def test_blocks_of_incognito_guarantee_what_their_suppressed_records_have(table, tmp_path, demand):
    """The three records of a rare town are suppressed; they are fewer than k in their blocks."""
    frame, guaranteed, _ = released(Incognito(k=4, max_suppression=0.05, **demand), table, tmp_path / "out.csv")
    classes = counted(frame)
    assert guaranteed.k <= min(counts.total() for counts in classes)
    assert guaranteed.k < 4
    assert f"{guaranteed.k}-anonymity" in guaranteed.statement
    assert guaranteed.t is None
    if guaranteed.l:
        assert min(map(len, classes)) >= guaranteed.l
    if "shares" in guaranteed.statement:
        assert max(max(counts.values()) / counts.total() for counts in classes) <= 0.7


@pytest.mark.thorough
@pytest.mark.parametrize(
    "defense",
    [Mondrian(k=4, l=2, strict=False), pytest.param(KMeansMicroaggregation(k=4), marks=pytest.mark.long)],
    ids=str,
)
def test_a_release_is_the_same_from_any_number_of_processes(table, tmp_path, defense):
    releases = []
    for processes in (None, 1, 2):
        in_order = map if processes is None else partial(ordered_work.in_order, processes=processes)
        with large_records(table / "table.csv", table / "roles.toml") as records:
            output, truth = tmp_path / f"{processes}.csv", tmp_path / f"{processes}-truth.csv"
            release = written_release(defense, records, output, truth=truth, rows=100, in_order=in_order)
            releases.append((output.read_bytes(), truth.read_bytes(), str(release.guarantee()), release.notes))
    assert releases[0] == releases[1] == releases[2]


class Weakened(MicrodataDefense):
    """Guarantees what it does not state in words."""

    def apply(self, records, rng):
        return rowwise_release(released_frame(records, dict.fromkeys(["age", "town"], "*")), channel=None)

    def guarantee(self, records):
        return Guarantee(k=3, l=2, epsilon=1.0, statement="as its author says")


@pytest.mark.thorough
def test_of_another_methods_numbers_only_k_is_kept_with_a_sentence_of_its_own(table, tmp_path):
    _, guaranteed, _ = released(Weakened(), table, tmp_path / "out.csv")
    assert str(guaranteed) == "k=3"
    assert guaranteed.statement == "3-anonymity over age, town; made in random blocks of about 100 rows"


def test_the_guarantee_of_parts_is_the_weakest(table):
    records = load_table(table / "table.csv", table / "roles.toml").records
    parts = [Mondrian(k=k, l=2, alpha=alpha).guarantee(records) for k, alpha in ((5, 0.8), (3, 0.8), (4, 0.9))]
    guaranteed = guarantee_of_parts(records, parts, "made in parts")
    assert str(guaranteed) == "k=3, l=2"
    assert guaranteed.statement == "3-anonymity, distinct 2-diversity over age, town; made in parts"
    assert str(guarantee_of_parts(records, [*parts, Guarantee(epsilon=1.0)], "made in parts")) == "none"
