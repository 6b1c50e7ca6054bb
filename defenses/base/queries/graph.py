"""Queries about a graph whose records are pairs of persons: who is a friend of whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from defenses.base.microdata import Microdata
from defenses.base.queries.query import Query
from metrics.columns import CategoricalDomain, Floats, Integers64, refuse, refuse_any, require


@dataclass(frozen=True, eq=False)
class _GraphQuery(Query):
    """Base class of queries about a graph.

    A record is a pair of persons with a value that says whether they are joined. The persons are the declared
    categories of both columns. Pairs that no record holds are not joined.

    - source, target: Columns of the two persons.
    - tie, joined: Column that says whether they are joined, and the value that means so.
    """

    source: str = "user"
    target: str = "other"
    tie: str = "friend"
    joined: str = "yes"

    @property
    def subjects(self) -> tuple[str, ...]:
        """The three columns."""
        return self.source, self.target, self.tie

    def graph(self, records: Microdata) -> tuple[Integers64, int]:
        """Return the edges, shape (edges, 2), and the public number of persons.

        Raises ValueError if a column is missing, persons have no declared categories, both columns declare other
        persons, or a pair is joined twice.
        """
        import pandas as pd

        columns = records.frame.columns
        refuse_any(
            [name for name in self.subjects if name not in columns],
            lambda name: f"there is no column {name!r} of a graph; the table has {', '.join(map(str, columns))}",
        )
        persons, others = (records.domains.get(name) for name in (self.source, self.target))
        if not isinstance(persons, CategoricalDomain) or not isinstance(others, CategoricalDomain):
            raise ValueError(f"columns {self.source!r} and {self.target!r} must declare the persons as categories")
        require(
            set(persons.categories) == set(others.categories),
            f"columns {self.source!r} and {self.target!r} must declare the same persons",
        )
        index = pd.Index(persons.categories)
        rows = self.selected(records) & (records.frame[self.tie] == self.joined).to_numpy(dtype=bool)
        ends = [
            index.get_indexer(pd.Index(records.frame[name].to_numpy(dtype=object)[rows])) for name in self.subjects[:2]
        ]
        edges = np.sort(np.column_stack(ends).astype(np.int64), axis=1)
        refuse(
            (edges < 0).any() or (edges[:, 0] == edges[:, 1]).any(),
            "a pair names an undeclared person, or one person twice",
        )
        require(len(np.unique(edges, axis=0)) >= len(edges), "each pair of persons must be joined at most once")
        return edges, len(index)


@dataclass(frozen=True, eq=False)
class EdgeCount(_GraphQuery):
    """Number of edges of a graph."""

    def exact(self, records: Microdata) -> float:
        """Return the number of edges."""
        return float(len(self.graph(records)[0]))


@dataclass(frozen=True, eq=False)
class DegreeCounts(_GraphQuery):
    """Number of persons with 0, 1, ... friends; the last count is of those with `bound` or more.

    - bound: Largest degree with a bin of its own, at least 1.
    - present: Whether only persons whom a record names are counted. By default all declared persons are.
    """

    bound: int = 8
    present: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse(
            isinstance(self.bound, bool) or not isinstance(self.bound, int) or self.bound < 1,
            f"bound must be an integer of at least 1, got {self.bound!r}",
        )

    def exact(self, records: Microdata) -> Floats:
        """Return the counts, shape (bound + 1,)."""
        edges, persons = self.graph(records)
        degrees = np.bincount(edges.ravel(), minlength=persons)
        counts = np.bincount(np.minimum(degrees, self.bound), minlength=self.bound + 1).astype(float)
        counts[0] -= self.absent(records)
        return counts

    def absent(self, records: Microdata) -> int:
        """Number of declared persons who are not counted: those whom no record names."""
        if not self.present:
            return 0
        declared = records.domain(self.source)
        assert isinstance(declared, CategoricalDomain)  # noqa: S101 (`graph` refuses any other)
        return len(declared.categories) - len(set(records.frame[self.source]).union(records.frame[self.target]))


@dataclass(frozen=True, eq=False)
class TriangleCount(_GraphQuery):
    """Number of triangles of a graph: three persons of whom each two are joined."""

    def exact(self, records: Microdata) -> float:
        """Return the number of triangles."""
        return triangles_of(*self.graph(records))


def triangles_of(edges: Integers64, persons: int) -> int:
    """Number of triangles of a graph, shape (edges, 2): the trace of the cubed adjacency matrix, divided by 6."""
    friends = np.zeros((persons, persons))
    friends[edges[:, 0], edges[:, 1]] = friends[edges[:, 1], edges[:, 0]] = 1
    return round(float(((friends @ friends) * friends).sum()) / 6)
