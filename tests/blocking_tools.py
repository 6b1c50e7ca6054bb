"""A table of eight mixed columns, and releases of it in three ways."""

from functools import cache

import numpy as np
import pandas as pd

from attacks.linkage.blocks.run_coded_column import run_coded_column
from attacks.linkage.blocks.sampled_learning import learned_models
from metrics import infer_domain

CATEGORIES = ["sex", "zip", "occupation", "education", "marital"]
RELEASES = ("noise and replacement", "generalized and replaced", "suppressed cells and noise")
"""Ways in which `released` makes a release."""


def people(count, rng):
    """Invented people: forty regions with zip codes of their own, and incomes and occupations that follow education."""
    region = rng.choice(40, count, p=np.random.default_rng(5).dirichlet(np.full(40, 2.0)))
    zips = np.random.default_rng(6).dirichlet(np.ones(50), 40).cumsum(axis=1)
    zipcode = region * 50 + np.minimum((rng.random(count)[:, None] > zips[region]).sum(axis=1), 49)
    age = np.clip(np.round(rng.gamma(4.5, 9.5, count)), 0, 99).astype(int)
    born = 730_000 - 365 * age - rng.integers(0, 365, count)
    education = (rng.random(count)[:, None] > [0.1, 0.3, 0.55, 0.7, 0.85, 0.95]).sum(axis=1)
    jobs = np.random.default_rng(7).dirichlet(np.full(120, 0.6), 7).cumsum(axis=1)
    occupation = np.minimum((rng.random(count)[:, None] > jobs[education]).sum(axis=1), 119)
    income = np.round(np.exp(9.8 + 0.15 * education + 0.5 * rng.normal(size=count)))
    single = np.where(age < 30, 0.8, 0.3)
    marital = (rng.random(count)[:, None] > single[:, None] + [0, 0.1, 0.15]).sum(axis=1)
    return pd.DataFrame(
        {
            "sex": np.array(["f", "m"], dtype=object)[rng.integers(0, 2, count)],
            "age": age,
            "zip": np.array([f"{37 * code:05d}" for code in range(2000)], dtype=object)[zipcode],
            "income": income,
            "occupation": np.array([f"job {code}" for code in range(120)], dtype=object)[occupation],
            "born": born,
            "education": np.array([f"level {code}" for code in range(7)], dtype=object)[education],
            "marital": np.array(["never", "married", "divorced", "widowed"], dtype=object)[marital],
        }
    )


def released(frame, way, rng):
    """Cells of the release of all rows, in one of the ways of `RELEASES`."""
    rows, cells = len(frame), {}
    income = frame["income"]
    if way == RELEASES[0]:
        cells = {name: replaced(frame[name], 0.2, rng) for name in CATEGORIES}
        cells["age"] = np.round(frame["age"] + rng.normal(0, 3, rows))
        cells["income"] = np.round(income + rng.normal(0, 0.1 * income.std(), rows))
        cells["born"] = np.round(frame["born"] + rng.normal(0, 400, rows))
    elif way == RELEASES[1]:
        cells = {name: replaced(frame[name], 0.3, rng) for name in ("occupation", "education", "marital")}
        cells["sex"] = replaced(frame["sex"], 0.1, rng)
        cells["zip"] = sets(frame["zip"])
        cells["age"] = [f"[{age // 5 * 5},{age // 5 * 5 + 4}]" for age in frame["age"].tolist()]
        cells["born"] = [f"[{day // 90 * 90},{day // 90 * 90 + 89}]" for day in frame["born"].tolist()]
        cells["income"] = np.round(income * np.exp(rng.normal(0, 0.05, rows)))
    else:
        cells = {name: suppressed(replaced(frame[name], 0.1, rng), rng) for name in CATEGORIES}
        cells["age"] = suppressed(frame["age"].astype(str).to_numpy(), rng)
        cells["born"] = suppressed(np.round(frame["born"] + rng.normal(0, 60, rows)).astype(str).to_numpy(), rng)
        cells["income"] = np.round(income + rng.normal(0, 0.3 * income.std(), rows))
    return pd.DataFrame(cells)[list(frame.columns)]


def replaced(column, rate, rng):
    """Cells of which some are those of random rows."""
    cells = column.to_numpy().copy()
    hit = rng.random(cells.size) < rate
    cells[hit] = rng.permutation(column.to_numpy())[hit]
    return cells


def suppressed(cells, rng):
    """Cells of which a fifth are suppressed."""
    return np.where(rng.random(len(cells)) < 0.2, "*", cells.astype(object))


def sets(zips):
    """Sets of ten neighbouring zip codes."""
    codes = np.sort(zips.unique())
    names = {
        code: "{" + "|".join(group) + "}" if len(group) > 1 else code
        for group in (codes[start : start + 10].tolist() for start in range(0, codes.size, 10))
        for code in group
    }
    return zips.map(names).to_numpy()


def linked(count, way, seed=1, columns=None):
    """People, their release in random order, and the person of each released row."""
    rng = np.random.default_rng(seed)
    frame = people(count, rng)
    truth = rng.permutation(count)
    cells = released(frame.iloc[truth].reset_index(drop=True), way, rng)
    columns = list(frame.columns) if columns is None else columns
    return frame[columns], cells[columns], truth


@cache
def learned(count, way):
    """Models of all columns, learned from a release of so many people; tests of several files only read them."""
    frame, cells, _ = linked(count, way)
    return learned_models(coded(frame, cells), np.random.default_rng(0)).models


def coded(frame, cells):
    """Both sides of all columns."""
    return [run_coded_column(name, cells[name], frame[name], infer_domain(frame[name])) for name in frame.columns]
