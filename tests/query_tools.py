"""Queries that read a table once, for tests that ask the same questions of one table thousands of times."""

from defenses.base.queries import Condition, EdgeCount, column_queries
from defenses.base.queries.query import Query


def read_tables_once(monkeypatch):
    """Remember which records a query selects, the graph that it reads, and the numbers and codes of a column.

    All depend on the query and the table alone, neither of which a release changes. Noise is drawn anew each time.
    """
    graph_query = next(one for one in EdgeCount.__mro__ if "graph" in vars(one))
    for owner, name in (
        (Query, "selected"),
        (Condition, "holds"),
        (graph_query, "graph"),
        (column_queries, "codes"),
        (column_queries, "numbers"),
    ):
        monkeypatch.setattr(owner, name, _remembering(getattr(owner, name)))


def _remembering(read):
    answers = {}

    def remembered(*arguments):
        # The arguments are kept, so that no other objects get their ids.
        key = tuple(map(id, arguments))
        if key not in answers:
            answers[key] = arguments, read(*arguments)
        return answers[key][1]

    return remembered
