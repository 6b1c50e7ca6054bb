"""Records that tests of defenses share."""

import numpy as np
import pandas as pd

from defenses.base.hierarchy import Hierarchy, TableHierarchy
from defenses.base.microdata import Microdata
from metrics.columns.domains import CategoricalDomain, NumericDomain

AGE = NumericDomain(17, 90, True, (30, 45, 60))
JOB = CategoricalDomain(("admin.", "blue|collar", "[none]", "*", "tech"))


def people(n=80, seed=0, **changes):
    """Random records of `n` people; `changes` replaces columns."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "name": [f"p{i}" for i in range(n)],
            "age": rng.integers(17, 91, n),
            "job": rng.choice(np.array(JOB.categories, dtype=object), n),
            "note": rng.choice(np.array(["a", "b{c", "d\\e"], dtype=object), n),
            "smokes": rng.random(n) < 0.5,
            "disease": rng.choice(np.array(["flu", "none"], dtype=object), n),
        }
    ).assign(**changes)
    frame.index = np.arange(n)[::-1] + 7
    hierarchies = {
        "age": Hierarchy.from_intervals([[30, 45, 60], [45], []], 17, 90, integer=True),
        "job": TableHierarchy(
            [[job, "office" if job in ("admin.", "tech") else "other", "*"] for job in JOB.categories]
        ),
    }
    roles = (("name",), ("age", "job", "smokes"), ("disease",))
    return Microdata(frame, *roles, {"age": AGE, "job": JOB}, hierarchies)


def table(domains=None, **columns):
    """Microdata of these columns, all of them quasi-identifiers."""
    return Microdata(pd.DataFrame(columns), quasi_identifiers=tuple(columns), domains=domains or {})


def apply(defense, records, seed=0):
    """The release of `records` under a fixed seed."""
    return defense.apply(records, np.random.default_rng(seed))


def public(n=40):
    """Random people whose quasi-identifiers all have a declared domain."""
    records = people(n)
    smokes = CategoricalDomain(("False", "True"))
    return Microdata(
        records.frame, ("name",), ("age", "job", "smokes"), ("disease",), {"age": AGE, "job": JOB, "smokes": smokes}
    )
