"""Pseudonymization."""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd
import pytest
from defense_tools import apply

from defenses import Microdata, Pipeline, Pseudonymization, Rounding
from defenses.base import RecordsInMemory


def named(**columns):
    frame = pd.DataFrame({"name": ["Ann", "Bob", "Ann", None], "friend": ["Bob", "Cy", "Ann", "Bob"], **columns})
    return Microdata(frame, identifiers=("name", "friend"), quasi_identifiers=tuple(columns))


def test_pseudonyms_replace_identifiers():
    records = named(age=[1, 2, 3, 4])
    release = apply(Pseudonymization(), records)
    assert list(release.frame.columns) == ["name", "friend", "age"]
    name, friend = release.frame["name"], release.frame["friend"]
    assert name[0] == name[2] == friend[2] != name[1]
    assert name[1] == friend[0] == friend[3]
    assert name.isna().tolist() == [False, False, False, True]
    assert name.dropna().str.fullmatch("p[0-9a-f]{32}").all()
    assert release.frame["age"].tolist() == [1, 2, 3, 4]
    assert release.origin.tolist() == [0, 1, 2, 3]
    originals = {"Ann", "Bob", "Cy"}
    assert originals.isdisjoint([*name, *friend])
    assert set(apply(Pseudonymization(), records, seed=1).frame["friend"]).isdisjoint(friend)
    only = apply(Pseudonymization(columns=["friend"]), records)
    assert list(only.frame.columns) == ["friend", "age"]


def test_pseudonyms_follow_from_a_secret_key():
    records = named(age=[1, 2, 3, 4])
    plan = Pseudonymization().fit(RecordsInMemory(records), np.random.default_rng(5))
    assert len(bytes.fromhex(plan.key)) == 32
    assert plan.key not in repr(plan)
    (block,) = RecordsInMemory(records).pseudonyms(["name"], plan.key)
    assert block["name"].tolist() == [
        b"p" + hashlib.sha256(f"{plan.key}{name}".encode()).hexdigest()[:32].encode() if name else b""
        for name in records.frame["name"]
    ]
    unkeyed = {f"p{hashlib.sha256(name.encode()).hexdigest()[:32]}" for name in ("Ann", "Bob", "Cy")}
    assert unkeyed.isdisjoint(apply(Pseudonymization(), records).frame["friend"])


def test_pseudonyms_come_first_in_a_pipeline():
    records = named(age=[1, 2, 3, 4])
    steps = [Pseudonymization(columns=["name"]), Rounding(base=2, columns=["age"])]
    release = apply(Pipeline(steps=steps), records)
    assert release.frame["age"].tolist() == [0, 2, 4, 4]
    assert release.frame["name"].notna().sum() == 3
    for late in (Pseudonymization(), Pseudonymization(columns=["name"])):
        with pytest.raises(ValueError, match="first step"):
            apply(Pipeline(steps=[Rounding(), late]), records)
    with pytest.raises(ValueError, match="'age' is no identifier of the table; identifiers are name, friend"):
        apply(Pseudonymization(columns=["age"]), records)
    with pytest.raises(ValueError, match="columns must be"):
        Pseudonymization(columns=["name", "name"])
    with pytest.raises(ValueError, match="at least one"):
        Pseudonymization(columns=[])
    missing = Microdata(pd.DataFrame({"name": [None, None]}), identifiers=("name",))
    assert apply(Pseudonymization(), missing).frame["name"].isna().all()
