"""Labels of a hierarchy's groups, by which releases name the groups."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from defenses.base.hierarchy import TableHierarchy
from metrics.cells import SUPPRESSED

_ELEMENT = re.compile(r"(?:\\.|[^\\|])+")
_NUMBER_LIKE = re.compile(r"[+-]?([\d.,]*\d[\d.,]*([eE][+-]?\d+)?|nan|inf(inity)?)", re.IGNORECASE)
OTHER_READING = "would be read as something else"
MOST_SHOWN = 3


@dataclass(frozen=True)
class GroupLabels:
    """Labels of the groups of a declared hierarchy.

    Parameters
    ----------
    rows : tuple of tuple of str
        Rows of the hierarchy: a value, then its groups from fine to coarse.
    cells : mapping of str to str
        The cell that each usable label stands for.
    labels : mapping
        The label of each group with two values or more, except ``*``, by the key of its cell.
    notes : tuple of str
        Labels that are not used, with reasons.
    """

    rows: tuple[tuple[str, ...], ...]
    cells: Mapping[str, str]
    labels: Mapping[str | frozenset[str], str]
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls, rows: Sequence[Sequence[str]], hierarchy: TableHierarchy, *, text: bool, reserved: Collection[str]
    ) -> GroupLabels:
        """Collect the labels that a reader cannot misunderstand.

        Parameters
        ----------
        rows : sequence of sequence of str
            Rows of the hierarchy.
        hierarchy : TableHierarchy
            The hierarchy of these rows.
        text : bool
            Whether the values are categories, as opposed to numbers.
        reserved : collection of str
            Texts that have a meaning of their own: further categories, and missing values.

        Notes
        -----
        A label is not used if it names two groups, is a value or reserved, or follows the grammar of cells. Labels of
        numbers must not look like numbers. A group that is a single value is written as that value.
        """
        meanings: dict[str, dict[str, int]] = {}
        leaves = np.array([row[0] for row in rows], dtype=object)
        for level in range(1, hierarchy.height + 1):
            codes, cells = hierarchy.group(leaves, level)
            groups, first, sizes = np.unique(codes, return_index=True, return_counts=True)
            for group, row, size in zip(groups.tolist(), first.tolist(), sizes.tolist(), strict=True):
                cell = cells[group]
                meanings.setdefault(str(rows[row][level]), {})[SUPPRESSED if cell is None else cell] = size
        values = {*map(str, leaves), *reserved}
        usable: dict[str, str] = {}
        labels: dict[str | frozenset[str], str] = {}
        unused: dict[str, list[str]] = {}
        for label, groups_of in meanings.items():
            reason = _refusal(label, groups_of, values, text=text)
            if reason is None:
                ((cell, size),) = groups_of.items()
                usable[label] = cell
                if size > 1 and cell != SUPPRESSED:
                    # Levels come from fine to coarse, so the finest label of a group stays.
                    labels.setdefault(_key(cell), label)
            elif reason:
                unused.setdefault(reason, []).append(label)
        return cls(tuple(tuple(map(str, row)) for row in rows), usable, labels, tuple(_unused_notes(unused)))

    def write(self, cell: Any) -> Any:
        """Label of a cell that equals a group, and other cells as they are."""
        return self.labels.get(_key(cell), cell) if isinstance(cell, str) else cell

    def read(self, text: str) -> str:
        """Cell that a label stands for, and other texts as they are."""
        return self.cells.get(text, text)


def _refusal(label: str, groups: Mapping[str, int], values: Collection[str], *, text: bool) -> str | None:
    """Reason why a label is not used, empty if there is nothing to say; None if it is used."""
    if label == SUPPRESSED and list(groups) == [SUPPRESSED]:
        return ""
    if not label.strip() or label.startswith(("[", "{", SUPPRESSED)) or "\\" in label:
        return OTHER_READING
    if not text and _NUMBER_LIKE.fullmatch(label.strip()):
        return "" if list(groups) == [label] else OTHER_READING
    if label in values or label.strip() in values:
        return "" if list(groups) == [label] else "is also a value or stands for a missing one"
    return "names two groups or more" if len(groups) > 1 else None


def _unused_notes(unused: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for reason, labels in unused.items():
        listed = ", ".join(map(repr, labels[:MOST_SHOWN]))
        more = f" and {len(labels) - MOST_SHOWN} more" if len(labels) > MOST_SHOWN else ""
        ends = "each " * (len(labels) > 1) + reason
        yield f"releases do not use the hierarchy's label {listed}{more}, which {ends}"


def _key(cell: str) -> str | frozenset[str]:
    """A cell, or the elements of a set of values, whose order does not matter."""
    if not (cell.startswith("{") and cell.endswith("}")):
        return cell
    elements = _ELEMENT.findall(cell[1:-1])
    distinct = frozenset(elements)
    # An empty element stands for the missing value, which no group holds.
    complete = sum(map(len, elements)) + len(elements) - 1 == len(cell) - 2
    return distinct if complete and max(Counter(elements).values(), default=0) == 1 else cell
