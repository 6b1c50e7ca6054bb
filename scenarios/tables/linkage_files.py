"""Linkage between files: reading a release and the truth about it, and the answer of an attack as a table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks import ExpectationMaximizationLinkage, Knowledge, LikelihoodAssignment, RankedAnswers
from attacks.linkage.channel_factors import IMPOSSIBLE
from attacks.linkage.likelihood_assignment import DENSE
from attacks.linkage.linkage_answers import matching_posterior
from defenses import Channel, MicrodataRelease
from metrics.columns import Floats, Integers, refuse
from scenarios.tables.candidate_table import candidates_beside
from scenarios.tables.reading.text_table import text_table
from scenarios.tables.released import input_path, text_frame
from scenarios.tables.roles import read_roles
from scenarios.tables.toml.toml_file import read_bytes, read_text

# Pairs of rows and candidates up to which confidences are learned for attacks that state none; about 8 GB.
MOST_LEARNED = 50_000_000


def read_release(
    released: str, candidates: str, roles: Path | None, channel: str | None
) -> tuple[MicrodataRelease, Knowledge, list[str]]:
    """Read a released table and the candidates for its rows.

    Parameters
    ----------
    released, candidates : str
        CSV or Parquet files; ``-`` is standard input.
    roles : Path, optional
        Roles file of the original table.
    channel : str, optional
        TOML file of the release's channel.

    Returns
    -------
    release : MicrodataRelease
        The released cells as text, of unknown origin.
    knowledge : Knowledge
        What the attacker knows; see `candidates_beside`.
    notes : list of str
        What was inferred, and how many released rows stem from no candidate under the channel.

    Raises
    ------
    ValueError
        If a file cannot be read, or the tables do not fit each other.
    """
    disclosed = None if channel is None else _read_channel(Path(channel))
    declared = read_roles(roles)
    columns, notes = text_table(input_path(released), read_bytes(input_path(released)), declared, released=True)
    frame, knowledge, candidate_notes = candidates_beside(text_frame(columns), input_path(candidates), roles, disclosed)
    release = MicrodataRelease(frame, np.full(len(frame), -1), disclosed)
    notes = [*notes, *candidate_notes, *_rows_without_candidate(release, knowledge)]
    if declared.person is not None:
        notes.append(
            f"rows are counted, not people ({declared.person}): an answer that names another row of the same person "
            "is not called right; `tokumei report --truth` counts people"
        )
    return release, knowledge, notes


def _read_channel(path: Path) -> Channel:
    text = read_text(path, read_bytes(path))
    try:
        return Channel.from_toml(text)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None


def _rows_without_candidate(release: MicrodataRelease, knowledge: Knowledge) -> list[str]:
    """A note that counts released rows with likelihood 0 under every candidate, by the channel.

    Their people are no candidates, or the channel belongs to another release. Large tables get no note: the likelihoods
    of all pairs would take too long.
    """
    rows = len(release.frame)
    if release.channel is None or not 0 < rows * len(knowledge.candidates) <= DENSE:
        return []
    best = LikelihoodAssignment().evidence(release, knowledge, np.random.default_rng(0)).max(axis=1)
    impossible = int((best <= IMPOSSIBLE).sum())
    return [f"by the channel {impossible} of {rows} released rows stem from no candidate"] if impossible else []


def read_truth(path: Path, rows: int, candidates: int) -> Integers:
    """Read the true candidate of each released row, as `tokumei defend --truth` writes it.

    Parameters
    ----------
    path : Path
        CSV or Parquet file with the columns ``released_row`` and ``record``.
    rows, candidates : int
        Number of released rows and of candidates.

    Returns
    -------
    ndarray of int, shape (rows,)
        Position of the candidate, -1 where the row stems from none.

    Raises
    ------
    ValueError
        If a column is missing, a position does not exist, or a released row is named twice or not at all.
    """
    columns, _ = text_table(path, read_bytes(path))
    for name in ("released_row", "record"):
        refuse(name not in columns, f"{path}: there is no column {name!r}; it has {', '.join(columns)}")
    row, record = (columns[name].number_rows() for name in ("released_row", "record"))
    for name, positions, lowest, count in (("released_row", row, 0, rows), ("record", record, -1, candidates)):
        wrong = ~((positions >= lowest) & (positions < count) & (positions == np.floor(positions)))
        if wrong.any():
            raise ValueError(
                f"{path}, row {int(wrong.argmax()) + 1}: {name} must be an integer in {lowest}..{count - 1}; "
                "released rows and records are counted from 0 in this column"
            )
    refuse(np.unique(row).size < row.size, f"{path}: a released row stands twice")
    refuse(row.size < rows, f"{path}: is about {row.size} released rows, of which there are {rows}")
    truth = np.full(rows, -1, dtype=np.intp)
    truth[row.astype(np.intp)] = record.astype(np.intp)
    return truth


def answer_table(
    claims: RankedAnswers, release: MicrodataRelease, knowledge: Knowledge, rng: Generator
) -> pd.DataFrame:
    """The best candidate of each released row that is answered, with its confidence.

    Parameters
    ----------
    claims : RankedAnswers
        The attack's claims. If they state no confidence, `ExpectationMaximizationLinkage` learns one for tables of at
        most `MOST_LEARNED` pairs.
    release : MicrodataRelease
        The release.
    knowledge : Knowledge
        The candidates.
    rng : Generator
        Breaks ties.

    Returns
    -------
    DataFrame
        Columns ``released_row``, ``candidate_row`` and ``confidence``: positions counted from 0, and the probability
        that the answer is right, NaN where none can be stated.
    """
    first = np.flatnonzero(claims.ranking(rng) == 0)
    first = first[np.argsort(claims.target[first])]
    row, candidate = claims.target[first], claims.answer[first]
    if claims.confidence is not None:
        confidence = claims.confidence[first]
    elif claims.targets * claims.answers <= MOST_LEARNED:
        confidence = _learned_confidence(release, knowledge, rng)[row, candidate]
    else:
        confidence = np.full(row.size, np.nan)
    return pd.DataFrame({"released_row": row, "candidate_row": candidate, "confidence": np.round(confidence, 6)})


def _learned_confidence(release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> Floats:
    evidence = ExpectationMaximizationLinkage().evidence(release, knowledge, rng)
    return np.asarray(np.clip(matching_posterior(evidence), 0, 1))
