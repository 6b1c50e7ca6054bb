"""Hard decoys: the people most like the originals."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from defenses.base.microdata import Microdata


class NearestPeople:
    """Nearest people of a population by Gower distance over all released columns.

    Parameters
    ----------
    records : Microdata
        The population; numbers are scaled by their range in it.
    """

    def __init__(self, records: Microdata) -> None:
        numbers, categories = [], []
        for name in records.released_columns:
            column = records.frame[name]
            if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
                values = column.to_numpy(dtype=float, na_value=np.nan)
                absent = np.isnan(values)
                span = np.nanmax(values) - np.nanmin(values) if not absent.all() else 0.0
                # A missing number lies one range beyond the largest: at least as far away as any two values.
                scaled = (values - np.nanmin(values)) / span if span else np.zeros(values.size)
                numbers.append(np.where(absent, 2.0, scaled))
            else:
                categories.append(pd.factorize(column.astype(object), use_na_sentinel=False)[0])
        self.numbers = np.column_stack(numbers) if numbers else np.zeros((len(records), 0))
        self.categories = np.column_stack(categories).astype(float) if categories else np.zeros((len(records), 0))

    def nearest(
        self, people: NDArray[np.intp], pool: NDArray[np.intp], count: int, reserve: int = 50
    ) -> NDArray[np.intp]:
        """Choose `count` of the pool, for each of the people in turn the nearest not yet chosen.

        Parameters
        ----------
        people, pool : ndarray of int
            Positions in the population, disjoint.
        count : int
            At most the pool's size.
        reserve : int
            How many neighbours to know of each person beyond its share, for when others took them.

        Notes
        -----
        Exact equals of a person are not its decoys, unless nobody else is left.
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
