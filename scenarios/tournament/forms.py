"""Forms that the teams' tables must have."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from scenarios.files.toml_file import read_bytes
from scenarios.tables.dataset import Dataset, check_named, columns_frame, load_table
from scenarios.tables.declared_roles import read_roles
from scenarios.tables.roles import Roles
from scenarios.tables.text_table import text_table
from scenarios.tournament.settings import Settings
from scenarios.tournament.sheets import Form


class Forms:
    """Forms of tables whose originals have the same roles.

    If the roles declare every domain, forms differ only in the columns with missing values. All else is then read once,
    which takes most of the time.

    Parameters
    ----------
    roles : Path
        Roles and public domains of the columns.
    settings : Settings
        Number of originals, and decimals.
    """

    def __init__(self, roles: Path, settings: Settings) -> None:
        self._roles, self._settings = roles, settings
        self._read: tuple[bytes, Roles, Form] | None = None
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

    def _form(self, originals: Path) -> Form:
        content = read_bytes(self._roles)
        if self._read is None or self._read[0] != content:
            dataset = load_table(originals, self._roles)
            form = form_of(dataset, self._settings)
            if not dataset.inferred:
                self._read = content, read_roles(self._roles, content=content), form
            return form
        _, roles, form = self._read
        columns, _ = text_table(originals, read_bytes(originals), roles)
        check_named(roles, columns, originals, self._roles)
        values = columns_frame({name: columns[name] for name in form.domains}, dict(form.domains))
        return replace(form, with_missing=frozenset(values.columns[values.isna().any()]))


def form_of(originals: Dataset, settings: Settings) -> Form:
    """Form that a table of these originals must have."""
    records = originals.records
    domains = {name: records.domain(name) for name in records.released_columns}
    missing = frozenset(name for name in domains if records.frame[name].isna().any())
    return Form(domains, settings.originals, settings.decimals, missing, originals.written)
