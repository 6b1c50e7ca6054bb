"""Columns by role, for what is said about guarantees."""

import pandas as pd

from defenses import Microdata
from leaderboard.results.guarantees import ROLES
from scenarios.running.plan import column_roles


def test_every_column_has_its_role_and_those_left_out_are_no_identifiers():
    names = ("who", "name", "age", "illness", "income", "note")
    records = Microdata(
        pd.DataFrame({name: [1, 2] for name in names}),
        identifiers=("name", "note"),
        quasi_identifiers=("age",),
        sensitive=("illness",),
        person="who",
    )
    roles = column_roles(records, left_out=["note"])
    assert tuple(roles) == ROLES
    assert list(roles.values()) == [("age",), ("illness",), ("income",), ("name",), ("note",)]
