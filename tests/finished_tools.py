"""People for finished releases: records, others, and their roles, as files."""

import numpy as np

from scenarios.assessment.evaluation.control_people import read_control
from scenarios.assessment.evaluation.evaluation_setting import EvaluationSetting
from scenarios.running.methods.invented_people import people
from scenarios.tables.dataset import load_table
from scenarios.tables.released import as_csv
from scenarios.tables.roles import read_roles
from scenarios.tables.seeds import generator

ROLES = """
identifiers = ["name"]
quasi_identifiers = ["age", "city", "grade"]
sensitive = ["illness"]
unprotected = ["income"]
[columns.age]
type = "number"
integer = true
low = 18
high = 95
cuts = [30, 45, 60, 75]
[columns.income]
type = "number"
low = 0
high = 200000
cuts = [1000, 2000, 4000]
[columns.city]
type = "category"
categories = ["{cities}"]
[columns.grade]
type = "category"
categories = ["{grades}"]
ordered = true
[columns.illness]
type = "category"
categories = ["{illnesses}"]
"""


def few_attacks(monkeypatch):
    """Have evaluations of this process play one attack on each question, which takes a third of the time of all."""
    from attacks import (
        MajorityInClass,
        MarginalLikelihoodRatio,
        MultivariateSinglingOut,
        NearestRowLinkability,
        SweeneyJoin,
    )

    one_of_each = (
        SweeneyJoin(),
        MarginalLikelihoodRatio(rounds=1),
        MajorityInClass(),
        MultivariateSinglingOut(),
        NearestRowLinkability(),
    )
    for name, attacks in {"ATTACKS": one_of_each, "COSTLY_ROWS": ()}.items():
        monkeypatch.setattr(f"scenarios.assessment.evaluation.posed_questions.{name}", attacks)


def write_people(folder, count=120, others=120, columns=None):
    """Write people.csv, others.csv and roles.toml; returns the frame of all, records first."""
    frame = people(count + others, generator(0, "finished people")).frame
    frame = frame if columns is None else frame[columns]
    frame.iloc[:count].to_csv(folder / "people.csv", index=False)
    frame.iloc[count:].to_csv(folder / "others.csv", index=False)
    texts = {
        f"{plural}": '", "'.join(sorted(frame[name].dropna().unique()))
        for plural, name in (("cities", "city"), ("grades", "grade"), ("illnesses", "illness"))
    }
    (folder / "roles.toml").write_text(ROLES.format(**texts))
    return frame


def setting_of(folder, *, control=True, **options):
    """The setting of the people that `write_people` wrote."""
    dataset = load_table(folder / "people.csv", folder / "roles.toml")
    roles = read_roles(folder / "roles.toml")
    people_outside = read_control(folder / "others.csv", dataset, roles) if control else (None, "")
    return EvaluationSetting(dataset, roles, *people_outside, **options)


def finished(setting, frame, name="released.csv"):
    """A frame of released cells, read as a file."""
    return setting.read(name, as_csv(frame).encode())


def released_by(setting, defense, seed=0):
    """Cells that a defense releases, in the order of the records."""
    return defense.apply(setting.records, np.random.default_rng(seed)).frame
