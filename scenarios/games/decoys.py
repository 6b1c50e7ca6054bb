"""Hard decoys: people who resemble the originals."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from defenses.base.microdata import Microdata


class NearestPeople:
    """Nearest neighbours in a population by Gower's distance over all released columns.

    Parameters
    ----------
    records : Microdata
        The population. Each numeric column is scaled by its range.
    """

    def __init__(self, records: Microdata) -> None:
        numbers, categories = [], []
        for name in records.released_columns:
            column = records.frame[name]
            if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
                values = column.to_numpy(dtype=float, na_value=np.nan)
                absent = np.isnan(values)
                span = np.nanmax(values) - np.nanmin(values) if not absent.all() else 0.0
                # A missing number is coded as 2, so that its distance to any value is at least the range of the column.
                scaled = (values - np.nanmin(values)) / span if span else np.zeros(values.size)
                numbers.append(np.where(absent, 2.0, scaled))
            else:
                categories.append(pd.factorize(column.astype(object), use_na_sentinel=False)[0])
        self.numbers = np.column_stack(numbers) if numbers else np.zeros((len(records), 0))
        self.categories = np.column_stack(categories).astype(float) if categories else np.zeros((len(records), 0))

    def nearest(
        self, people: NDArray[np.intp], pool: NDArray[np.intp], count: int, reserve: int = 50
    ) -> NDArray[np.intp]:
        """Choose `count` of the pool: each person in turn gets the nearest one that is still free.

        Parameters
        ----------
        people, pool : ndarray of int
            Positions in the population, disjoint.
        count : int
            Number of people to choose, at most the pool's size.
        reserve : int
            Number of neighbours to search for each person beyond its share, in case other people take them first.

        Returns
        -------
        ndarray of int, shape (count,)
            Positions in the population.

        Notes
        -----
        A record that equals a person's record exactly becomes its decoy only if no other record is left.
        """
        distance = self._distance(people, pool)
        distance[distance < 1e-12] = np.inf
        depth = min(pool.size, -(-count // people.size) + reserve)
        near = np.argpartition(distance, depth - 1, axis=1)[:, :depth]
        near = np.take_along_axis(
            near, np.take_along_axis(distance, near, axis=1).argsort(axis=1, kind="stable"), axis=1
        )
        free = np.ones(pool.size, dtype=bool)
        chosen = []
        for turn in range(count):
            person = turn % people.size
            left = near[person][free[near[person]] & np.isfinite(distance[person, near[person]])]
            pick = int(left[0]) if left.size else int(np.argmin(np.where(free, distance[person], np.inf)))
            if not free[pick]:
                pick = int(np.flatnonzero(free)[0])
            free[pick] = False
            chosen.append(pick)
        return pool[chosen]

    def _distance(self, people: NDArray[np.intp], pool: NDArray[np.intp]) -> NDArray[np.float64]:
        from scipy.spatial.distance import cdist

        distance = np.zeros((people.size, pool.size))
        if self.numbers.shape[1]:
            distance += cdist(self.numbers[people], self.numbers[pool], "cityblock")
        if self.categories.shape[1]:
            distance += self.categories.shape[1] * cdist(self.categories[people], self.categories[pool], "hamming")
        return distance
