"""Equivalence classes of a finished release, and their measures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from metrics import equivalence_classes
from metrics.classes import rows_in_classes
from metrics.columns import Booleans, Integers
from metrics.risk import GroupRisk
from scenarios.assessment.evaluation.evaluation_setting import EvaluationSetting
from scenarios.assessment.evaluation.row_origin import RowOrigin, groups_of_rows, people_of_rows
from scenarios.tables import PERSON, CodedCells, FinishedTable, ReleasedTable, RiskReport, Roles, risk_report
from scenarios.tables.review import ClassMembers, risk_of_rows


def class_report(
    setting: EvaluationSetting, cells: pd.DataFrame, sensitive: Sequence[str], people: Integers | None
) -> RiskReport:
    """Class measures of original values or released cells, as `tokumei risk` shows them.

    - cells, shape (rows, columns with a role): The values or cells.
    - sensitive: Sensitive columns that were released.
    - people, shape (rows,): The person of each row; None if it is not known.
    """
    records = setting.records
    columns = {name: CodedCells.of_values(cells[name]) for name in (*records.quasi_identifiers, *sensitive)}
    if setting.repeats and people is not None:
        columns[PERSON] = CodedCells.of_values(people)
    roles = Roles(person=records.person if setting.repeats else None)
    return risk_report(ReleasedTable(Path(), columns, records.quasi_identifiers, tuple(sensitive), (), roles, {}))


class FinishedClasses(NamedTuple):
    """Equivalence classes of a release in its quasi-identifiers.

    - inside, shape (rows,): Which rows belong to a class.
    - classes, shape (rows inside,): The class of each of them.
    - people, shape (rows,): The person of each row; None if it is not known.
    - report: Class measures, as `tokumei risk` shows them.
    - groups: Risk of households and other groups, as `tokumei defend` shows it; None if it is not known.
    """

    inside: Booleans
    classes: Integers
    people: Integers | None
    report: RiskReport
    groups: GroupRisk | None

    @property
    def sizes(self) -> Integers:
        """Number of people in each class; of rows if nobody knows whose they are."""
        numbers = np.arange(self.classes.size) if self.people is None else self.people[self.inside]
        return ClassMembers.of(self.classes, numbers).sizes


def released_classes(setting: EvaluationSetting, table: FinishedTable, origin: RowOrigin) -> FinishedClasses | None:
    """Classes of a release, which are computed once; None without quasi-identifiers."""

    def compute() -> FinishedClasses:
        people, cells = people_of_rows(setting, table, origin), table.among_records[list(setting.columns)]
        report = class_report(setting, cells, [name for name in records.sensitive if name in table.frame], people)
        inside = rows_in_classes(cells, quasi)
        classes, group = equivalence_classes(cells[inside], quasi), groups_of_rows(setting, table, origin)
        known = None if group is None or people is None else risk_of_rows(classes, group[inside], people[inside])
        return FinishedClasses(inside, classes, people, report, known)

    records, quasi = setting.records, setting.records.quasi_identifiers
    key = table.sha256, origin.kind, origin.origin.tobytes()
    return setting.kept("classes", key, compute) if quasi else None
