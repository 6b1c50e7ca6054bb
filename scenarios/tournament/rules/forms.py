"""Forms that the teams' tables must have."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from scenarios.tables.dataset import Dataset, load_table
from scenarios.tables.toml.toml_file import read_bytes
from scenarios.tournament.rules.log import own_files
from scenarios.tournament.rules.settings import Settings
from scenarios.tournament.rules.sheets import Form


class Forms:
    """Forms of tables whose originals have the same roles.

    If the roles declare every domain, forms differ only in the columns with missing values. All else is then made once,
    which takes nearly all of the time.

    Parameters
    ----------
    roles : Path
        Roles and public domains of the columns.
    settings : Settings
        Number of originals, and decimals.
    """

    def __init__(self, roles: Path, settings: Settings) -> None:
        self._roles, self._settings = roles, settings
        self._shared: tuple[bytes, Form] | None = None
        self._known: dict[Path, tuple[object, Form]] = {}

    def of(self, originals: Path) -> Form:
        """Form of the table of these originals.

        Raises
        ------
        ValueError
            If a file cannot be read or does not fit the roles.
        """
        stamp = tuple((status.st_mtime_ns, status.st_size) for status in (originals.stat(), self._roles.stat()))
        known = self._known.get(originals)
        if known is None or known[0] != stamp:
            known = self._known[originals] = stamp, self._form(originals)
        return known[1]

    @own_files()
    def _form(self, originals: Path) -> Form:
        roles = read_bytes(self._roles)
        if self._shared is not None and self._shared[0] == roles:
            incomplete = _incomplete(read_bytes(originals), self._shared[1].domains)
            if incomplete is not None:
                return replace(self._shared[1], with_missing=incomplete)
        dataset = load_table(originals, self._roles)
        form = form_of(dataset, self._settings)
        self._shared = None if dataset.inferred else (roles, form)
        return form


def _incomplete(originals: bytes, columns: Collection[str]) -> frozenset[str] | None:
    """Columns with an empty field in a file that the tournament wrote; None if it does not look like one."""
    try:
        header, *rows = csv.reader(io.StringIO(originals.decode(), newline=""), strict=True)
    except (ValueError, csv.Error):
        return None
    # The line of a single column that is empty is blank.
    rows = [row or [""] for row in rows]
    if not rows or not set(columns) <= set(header) or any(len(row) != len(header) for row in rows):
        return None
    empty = {name for name, cells in zip(header, zip(*rows, strict=True), strict=True) if "" in cells}
    return frozenset(empty & set(columns))


def form_of(originals: Dataset, settings: Settings) -> Form:
    """Form that a table of these originals must have."""
    records = originals.records
    domains = {name: records.domain(name) for name in records.released_columns}
    with_missing = frozenset(name for name in domains if records.frame[name].isna().any())
    return Form(domains, settings.originals, settings.decimals, with_missing, originals.written)
