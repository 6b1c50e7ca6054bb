"""Linkage between files: reading a release and the truth about it, and the answer of an attack as a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks import (
    AssignmentLinkage,
    Attack,
    ExpectationMaximizationLinkage,
    FellegiSunter,
    Knowledge,
    LikelihoodAssignment,
    NearestNeighbour,
    RankedAnswers,
    SweeneyJoin,
)
from attacks.linkage.channel_factors import IMPOSSIBLE, outside, stated_domains
from attacks.linkage.likeliest_candidates import TABLE
from attacks.linkage.likelihood_assignment import DENSE
from defenses import Channel, Microdata, MicrodataRelease
from metrics.columns import (
    CategoricalDomain,
    Domain,
    Integers,
    NumericDomain,
    errors_at,
    named_categories,
    refuse,
    require,
)
from scenarios.tables.dataset import check_named, inferred_domain
from scenarios.tables.note import Note, of_file
from scenarios.tables.reading import (
    HINT,
    TextColumn,
    WrittenCells,
    category_note,
    number_note,
    other_spellings,
    read_text_table,
    readable_columns,
    rows_from_one,
)
from scenarios.tables.released import input_path, released_columns, text_frame
from scenarios.tables.review import doubtful_columns, numbers_of
from scenarios.tables.roles import declared_domain, read_roles
from scenarios.tables.toml.toml_file import read_bytes, read_text

# The attacker's table of candidates, with the domains of its columns.


def candidates_beside(
    released: pd.DataFrame, path: Path, roles: Path | None, channel: Channel | None
) -> tuple[pd.DataFrame, Knowledge, list[Note], Integers]:
    """Read the candidates that a released table is compared with: cells, knowledge, notes, and their people's numbers.

    A column's domain is that of the channel. Without one, it is that of the roles file. Without either, it is inferred
    from the candidates. Categories that only the release names are added to an inferred
    domain. A candidate may have values outside the channel's domain, which no released person has. The domain is then
    extended to include them.
    """
    declared = read_roles(roles)
    columns, reading, _ = read_text_table(path, read_bytes(path), declared)
    notes = of_file(path, reading)
    shared = [str(name) for name in released.columns if name in columns]
    lacking = [str(name) for name in released.columns if name not in columns]
    if declared.person is not None and declared.person not in columns:
        notes.append(Note("answers about rows", (declared.person,)))
    # Both tables may lack identifiers.
    other_roles = {column: key for column, key in declared.named().items() if column not in declared.identifiers}
    check_named(other_roles, [*columns, *lacking], roles, f"{path} or the released table, which have")
    require(shared, f"{path}: has none of the released columns, which are {', '.join(lacking)}")
    if lacking:
        notes.append(Note("lacking in candidates", tuple(lacking)))
    stated = stated_domains(channel)
    written = WrittenCells.of(declared, roles).with_dates(columns)
    cells = written.read({name: TextColumn.of_values(str(name), released[name]) for name in released.columns})
    domains, inferred = {}, []
    for name in shared:
        described = declared.columns.get(name)
        domain = stated.get(name) or declared_domain(described)[0]
        if domain is None:
            domain, words = inferred_domain(name, columns[name], described)
            domain = written.extended(name, domain)
            if isinstance(domain, CategoricalDomain):
                cells[name], respelled = other_spellings(name, cells[name], domain)
                notes += respelled
                named = named_categories(text_frame({name: cells[name]})[name])
                domain = replace(domain, categories=tuple(sorted({*domain.categories, *named})))
            inferred.append(Note("domain of candidates", (name,), {"domain": words}))
        domains[name] = with_values_of(domain, columns[name]) if name in stated else domain
    complete = [name for name in shared if not columns[name].missing_rows]
    fitted = {name: domain for name, domain in domains.items() if name not in stated}
    readable, suppressed = readable_columns(cells, fitted, complete, "candidate")
    read, frame = text_frame(readable), pd.DataFrame({name: columns[name].values(domains[name]) for name in shared})
    notes += suppressed
    for name, domain in domains.items():
        # Categories outside a declared domain are read as suppressed, and only their own texts tell why.
        texts = read[name] if isinstance(domain, NumericDomain) else text_frame({name: cells[name]})[name]
        notes += _unknown(texts, frame[name], domain, "" if roles is not None else f"; {HINT}")
    notes += inferred
    known = [name for name in shared if name not in declared.sensitive]
    notes += doubtful_columns({name: columns[name] for name in shared}, frame, declared, known, None)
    outsiders = {name: int(outside(stated[name], frame[name]).sum()) for name in shared if name in stated}
    notes += [
        Note("candidates outside", (name,), {"outside": count, "candidates": len(frame)})
        for name, count in outsiders.items()
        if count
    ]
    return read, Knowledge(frame, Microdata(frame.iloc[:0], domains=domains)), notes, _whose(columns, declared.person)


def _whose(columns: Mapping[str, TextColumn], person: str | None) -> Integers:
    """Number of the person of each candidate, shape (candidates,); each is a person of its own if no column says."""
    if person is None or person not in columns:
        return np.arange(next(iter(columns.values())).rows)
    return numbers_of(pd.Series(columns[person].text_values(), dtype=object).str.strip())


def _unknown(cells: pd.Series[Any], values: pd.Series[Any], domain: Domain, hint: str) -> list[Note]:
    """A note on released categories that no candidate has, or numbers outside their range."""
    if isinstance(domain, NumericDomain):
        with rows_from_one("released ", hint):
            return number_note(cells, domain, values, "candidate")
    return category_note(cells, set(values.dropna().unique()), "candidate", hint)


def with_values_of(domain: Domain, column: TextColumn) -> Domain:
    """A domain, extended by the values of a column that lie outside it."""
    if isinstance(domain, NumericDomain):
        numbers = column.numbers
        low, high = np.nanmin(numbers, initial=domain.low), np.nanmax(numbers, initial=domain.high)
        return replace(domain, low=float(low), high=float(high))
    unseen = sorted(set(column.texts.to_pylist()) - set(domain.categories))
    return replace(domain, categories=(*domain.categories, *unseen))


# Pairs of rows and candidates up to which confidences are learned for attacks that state none; about 8 GB.
MOST_LEARNED = 50_000_000


def read_release(
    released: str, candidates: str, roles: Path | None, channel: str | None
) -> tuple[MicrodataRelease, Knowledge, list[str], Integers]:
    """Read a released table and the candidates for its rows, with the number of the person of each candidate."""
    disclosed = None if channel is None else _read_channel(Path(channel))
    declared = read_roles(roles)
    file = input_path(released)
    columns, notes = released_columns(file, read_bytes(file), declared, declared.named())
    frame, knowledge, candidate_notes, whose = candidates_beside(
        text_frame(columns), input_path(candidates), roles, disclosed
    )
    release = MicrodataRelease(frame, np.full(len(frame), -1), disclosed)
    notes = [*of_file(file, notes), *candidate_notes, *_rows_without_candidate(release, knowledge)]
    return release, knowledge, [*map(str, notes)], whose


def _read_channel(path: Path) -> Channel:
    text = read_text(path, read_bytes(path))
    with errors_at(path, (TypeError, ValueError)):
        return Channel.from_toml(text)


def _rows_without_candidate(release: MicrodataRelease, knowledge: Knowledge) -> list[Note]:
    """A note that counts released rows with likelihood 0 under every candidate, by the channel.

    Their people are no candidates, or the channel belongs to another release. Large tables get no note: the likelihoods
    of all pairs would take too long.
    """
    rows = len(release.frame)
    if release.channel is None or not 0 < rows * len(knowledge.candidates) <= DENSE:
        return []
    best = LikelihoodAssignment().evidence(release, knowledge, np.random.default_rng(0)).max(axis=1)
    impossible = int((best <= IMPOSSIBLE).sum())
    return [Note("rows of nobody", numbers={"rows": impossible, "all": rows})] if impossible else []


def read_truth(path: Path, rows: int, candidates: int) -> Integers:
    """Read the true candidate of each released row, by `tokumei defend --truth`, shape (rows,); -1 for none."""
    columns = read_text_table(path, read_bytes(path)).columns
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


# Gain in the expected share of right answers from which another attack is named.
STRONGER = 0.05
# Attacks that use no channel.
WITHOUT_CHANNEL = (
    AssignmentLinkage,
    ExpectationMaximizationLinkage,
    FellegiSunter,
    NearestNeighbour,
    SweeneyJoin,
)


def stronger_attacks(
    attack: Attack, claims: RankedAnswers, answer: pd.DataFrame, release: MicrodataRelease, knowledge: Knowledge
) -> list[str]:
    """Notes that name an attack that finds more in this release, or that uses its channel.

    Parameters
    ----------
    attack : Attack
        The attack that was asked for.
    claims, answer : RankedAnswers, DataFrame
        Its claims, and their `answer_table`.
    release, knowledge : MicrodataRelease, Knowledge
        The release under attack, and the attacker's knowledge.
    """
    name, rows, people = type(attack).__name__, claims.targets, claims.answers
    if release.channel is not None and isinstance(attack, WITHOUT_CHANNEL):
        return [f"{name} makes no use of --channel; LikelihoodAssignment and BlockedLinkage do"]
    # Where rows outnumber candidates, no expected share can be stated.
    if release.channel is None and claims.confidence is None and 0 < rows <= people and rows * people <= TABLE:
        learned = ExpectationMaximizationLinkage().posterior(release, knowledge, np.random.default_rng(0))
        expected, stated = (float(part.sum()) / rows for part in (learned.max(axis=1), answer["confidence"]))
        if expected >= stated + STRONGER:
            return [f"GroupLinkage is expected to find {expected:.1%} of the rows, these answers {stated:.1%}"]
    return []


def answer_table(
    claims: RankedAnswers, release: MicrodataRelease, knowledge: Knowledge, rng: Generator
) -> pd.DataFrame:
    """The best candidate of each released row that is answered, with the probability that it is right.

    Positions count from 0; the probability is NaN where none can be stated.
    """
    first = np.flatnonzero(claims.ranking(rng) == 0)
    first = first[np.argsort(claims.target[first])]
    row, candidate = claims.target[first], claims.answer[first]
    if claims.confidence is not None:
        confidence = claims.confidence[first]
    elif claims.targets * claims.answers <= MOST_LEARNED:
        confidence = ExpectationMaximizationLinkage().confidences(release, knowledge, row, candidate, rng)
    else:
        confidence = np.full(row.size, np.nan)
    return pd.DataFrame({"released_row": row, "candidate_row": candidate, "confidence": np.round(confidence, 6)})
