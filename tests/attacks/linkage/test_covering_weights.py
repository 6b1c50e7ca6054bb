"""Weights of overlapping cells: kept values show as each of them in its observed share."""

import numpy as np
import pandas as pd
import pytest

from attacks import Knowledge
from attacks.base.sides import shared_columns
from attacks.linkage.blocks.column_mixture import ColumnMixture
from attacks.linkage.blocks.run_coded_column import run_coded_column
from attacks.linkage.fitting.column_tables import ColumnTables
from defenses import Microdata, MicrodataRelease
from metrics import CategoricalDomain, NumericDomain

AGES, JOBS = NumericDomain(0, 99, integer=True), CategoricalDomain(tuple("abcdefgh"))


def generalized(values, domain, rng):
    """Half of the cells are kept, three tenths become tens or halves of the domain, a fifth is suppressed."""
    if isinstance(domain, NumericDomain):
        wide = [f"[{value // 10 * 10},{value // 10 * 10 + 9}]" for value in values]
    else:
        wide = ["{a|b|c|d}" if value in "abcd" else "{e|f|g|h}" for value in values]
    return np.where(
        rng.random(len(values)) < 0.5, values.astype(str), np.where(rng.random(len(values)) < 0.6, wide, "*")
    )


@pytest.mark.parametrize(("domain", "values"), [(AGES, np.arange(100)), (JOBS, np.array(list("abcdefgh")))])
def test_a_kept_value_shows_as_each_kind_of_cell_in_its_observed_share(domain, values):
    # 8,000 rows: the standard deviation of a share is at most .006 over all, so .03 exceeds four.
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"x": np.repeat(values, 8000 // values.size)})
    released = pd.DataFrame({"x": generalized(people["x"].to_numpy(), domain, rng)})
    release = MicrodataRelease(released, np.full(len(released), -1))
    (column,) = shared_columns(release, Knowledge(people, Microdata(people, domains={"x": domain})))
    given_kept = ColumnTables.start(column).given_kept
    wide, suppressed = ~column.cells.plain & ~column.cells.suppressed, column.cells.suppressed
    assert given_kept.sum(axis=0) == pytest.approx(1)
    assert given_kept[column.cells.plain].sum(axis=0).mean() == pytest.approx(0.5, abs=0.03)
    assert given_kept[wide].sum(axis=0).mean() == pytest.approx(0.3, abs=0.03)
    assert given_kept[suppressed].sum(axis=0).mean() == pytest.approx(0.2, abs=0.03)


def test_large_tables_share_sets_and_plain_categories_alike():
    # Standard deviations as above.
    rng = np.random.default_rng(0)
    people = pd.Series(np.repeat(list("abcdefgh"), 1000), name="x")
    column = run_coded_column("x", pd.Series(generalized(people.to_numpy(), JOBS, rng), name="x"), people, JOBS)
    model = ColumnMixture(column)
    positions = np.arange(8)
    parts = model.parts(np.arange(column.cells)[:, None], positions[None, :]).kept / model.shares[0]
    covered = np.array([column.covers(np.full(8, cell), positions).sum() for cell in range(column.cells)])
    assert [parts[covered == size].sum(axis=0).mean() for size in (1, 4, 8)] == pytest.approx([0.5, 0.3, 0.2], abs=0.03)


def test_values_that_are_always_suppressed_are_learned():
    people = pd.DataFrame({"x": np.repeat(list("abcd"), [400, 300, 200, 20])})
    released = people.assign(x=people["x"].where(people["x"] != "d", "*"))
    release = MicrodataRelease(released, np.full(len(released), -1))
    (column,) = shared_columns(
        release, Knowledge(people, Microdata(people, domains={"x": CategoricalDomain(tuple("abcd"))}))
    )
    given_kept = ColumnTables.start(column).given_kept
    star = column.cells.suppressed
    assert given_kept[star][:, column.values == "d"] == pytest.approx(1)
    assert given_kept[star][:, column.values != "d"].max() < 0.06


def test_cells_that_no_candidate_has_are_left_out():
    people = pd.DataFrame({"x": list("aabb")})
    released = pd.DataFrame({"x": ["a", "*", "h", "{g|h}"]})
    release = MicrodataRelease(released, np.full(4, -1))
    (column,) = shared_columns(release, Knowledge(people, Microdata(people, domains={"x": JOBS})))
    tables = ColumnTables.start(column)
    assert np.isfinite(tables.given_kept).all()
    assert (tables.given_kept[2:] == 0).all()
    assert tables.given_kept.sum(axis=0) == pytest.approx(1)
