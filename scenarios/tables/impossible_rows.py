"""Combinations of values that a roles file declares impossible."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from defenses import Microdata, MicrodataDefense, Pipeline
from defenses.synthetic.mixed_column import mixed_column
from defenses.synthetic.row_synthesizer import structural_zeros
from metrics.columns import refuse
from scenarios.tables.note import Note
from scenarios.tables.reading.written_cells import WrittenCells

Rule = Mapping[str, str]
"""A released cell for each of several columns; no row may hold all of them."""


def read_rules(
    rules: Sequence[Rule], records: Microdata, written: WrittenCells, roles: Path | None
) -> tuple[dict[str, str], ...]:
    """Rules of a roles file with cells in the form of the program."""
    result = []
    for number, rule in enumerate(rules, start=1):
        cells = {name: written.cell(name, text) for name, text in rule.items()}
        try:
            for name in cells:
                refuse(
                    name not in records.released_columns,
                    f"no release holds column {name!r}; a rule names columns with a role",
                )
            structural_zeros(records, [cells])
        except ValueError as error:
            words = str(error).removeprefix("structural_zeros: ")
            raise ValueError(f"{roles}, table [[impossible]] {number}: {words}") from None
        result.append(cells)
    return tuple(result)


def with_rules(defense: MicrodataDefense, rules: Sequence[Rule]) -> MicrodataDefense:
    """A defense that obeys rules besides its own, if it has the parameter `structural_zeros`; so do steps of pipelines.

    Other defenses are returned unchanged.
    """
    if not rules:
        return defense
    if type(defense) is Pipeline:
        return Pipeline(steps=[with_rules(step, rules) for step in defense.steps])
    if not takes_rules(defense):
        return defense
    own = list(defense.get_params()["structural_zeros"])
    return defense.clone().set_params(structural_zeros=[*own, *(rule for rule in rules if rule not in own)])


def takes_rules(defense: MicrodataDefense) -> bool:
    """Return whether a defense, or a step of a pipeline, can obey rules."""
    if type(defense) is Pipeline:
        return any(map(takes_rules, defense.steps))
    return "structural_zeros" in defense.parameter_names()


def rule_notes(records: Microdata, rules: Sequence[Rule], written: WrittenCells) -> Iterator[Note]:
    """One note for each rule, with the number of records that hold what it forbids."""
    for zero in structural_zeros(records, rules):
        filled = [name for name in zero.cells if records.frame[name].notna().any()]
        values = {name: mixed_column(records, name).values for name in filled}
        count = int(zero.holds(values).sum()) if values else 0
        holding = f"{count} record{'s' * (count != 1)} hold{'s' * (count == 1)} it" if count else "no record holds it"
        cells = {name: form.write(cell) if (form := written.dates(name)) else cell for name, cell in zero.cells.items()}
        shown = ", ".join(f"{name} = {cell}" for name, cell in cells.items())
        yield Note("impossible", numbers={"cells": shown, "holding": holding})


def ignored_rules(defense: MicrodataDefense, rules: Sequence[Rule], roles: Path | None) -> list[Note]:
    """A note that a release may hold rows that the roles file declares impossible."""
    if not rules or takes_rules(defense):
        return []
    return [Note("impossible in a release", numbers={"method": type(defense).__name__, "roles": roles})]
