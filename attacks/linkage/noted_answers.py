"""Ranked answers with notes on how they were found."""

from __future__ import annotations

from dataclasses import dataclass

from attacks.base.claims import RankedAnswers


@dataclass(frozen=True)
class NotedAnswers(RankedAnswers):
    """Ranked answers with notes for the reader.

    Parameters
    ----------
    notes : tuple of str
        How the answers were found.
    """

    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class LearnedAnswers(NotedAnswers):
    """Ranked answers with the columns that were found informative.

    Parameters
    ----------
    informative : tuple of str
        Columns whose values help to link rows, the most informative first.
    """

    informative: tuple[str, ...] = ()
