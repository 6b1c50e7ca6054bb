"""Base of games about candidates in clear."""

from __future__ import annotations

from defenses.base import Microdata
from metrics.columns import check_integer, require
from scenarios.games.table_game import QuestionGame


class CandidatesGame(QuestionGame):
    """Abstract game on a released table about candidates in clear; a subclass draws them.

    Parameters
    ----------
    records : Microdata
        The population; at least one column is not an identifier.
    auxiliary, held_out : int
        Size of the auxiliary population, and number of people who test classifiers trained on the release. A small
        population gives fewer.
    attacker_knows : {"mechanism", "nothing"}
        See `TableGame`.

    Raises
    ------
    ValueError
        If a parameter is refused.
    """

    def __init__(self, *, records: Microdata, auxiliary: int, held_out: int, attacker_knows: str) -> None:
        check_integer("auxiliary", auxiliary, low=0)
        check_integer("held_out", held_out, low=0)
        super().__init__(records=records, attacker_knows=attacker_knows)
        require(records.released_columns, "records: every column is an identifier, so nothing would be released")
        self.auxiliary = auxiliary
        self.held_out = held_out
