"""Preview of a table before its team submits it: utility, and the built-in attacks with decoys of its own."""

from __future__ import annotations

from scenarios.tables.dataset import load_table
from scenarios.tournament.rules.checking import CheckReport, measured
from scenarios.tournament.rules.folder import Tournament
from scenarios.tournament.rules.forms import form_of
from scenarios.tournament.rules.sheets import read_sheet


def preview(tournament: Tournament, team: str, name: str, data: bytes) -> CheckReport:
    """Check a table against its team's originals; nothing is recorded or archived.

    It uses what the team holds itself: its originals, and the people in ``others.csv`` as decoys. The report is the one
    that `scenarios.tournament.rules.checking.check` gives in the team's folder.

    Parameters
    ----------
    tournament, team, name, data
        See `submit_content`.

    Raises
    ------
    InvalidFileError
        If the table breaks rules, with all problems.
    ValueError
        If there is no such team.
    """
    tournament.team_folder(team)
    originals, roles = (tournament.unchanged(one) for one in (tournament.original_path(team), tournament.roles_path))
    dataset = load_table(originals, roles)
    sheet = read_sheet(name, data, form_of(dataset, tournament.settings))
    people = tournament.records(others) if (others := tournament.people) is not None else None
    return measured(sheet, dataset.records, people, tournament.settings)
