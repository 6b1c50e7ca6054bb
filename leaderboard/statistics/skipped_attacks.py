"""Attacks that were not played because they do not apply, and why: fewer attacks flatter a defense."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from leaderboard.pages.report import Table, report_to_markdown, report_to_terminal, table_sections
from leaderboard.statistics.pairs import Pair

TITLE = "Attacks that were not played"
COLUMNS = ("why", "attacks", "on defenses")


def skip_tables(pairs: Sequence[Pair]) -> dict[str, list[Table]]:
    """Tables of the attacks that were skipped, by scenario; none for a scenario in which every attack was played.

    Parameters
    ----------
    pairs : sequence of Pair
        The matrix.

    Returns
    -------
    dict of str to list of Table
        One table for each scenario, with a row for each reason and set of attacks.

    Examples
    --------
    >>> from leaderboard import Result, matrix
    >>> common = {"key": "1" * 64, "scenario": "mine", "defense": "Shuffle", "play": 0}
    >>> skipped = Result(attack="Bayes", status="skipped", reason="the release discloses no channel", **common)
    >>> [table] = skip_tables(matrix([skipped]))["mine"]
    >>> table.rows
    [('the release discloses no channel', 'Bayes', 'Shuffle')]
    """
    reasons: dict[str, dict[tuple[str, str], set[str]]] = defaultdict(lambda: defaultdict(set))
    for pair in pairs:
        if pair.status == "skipped":
            reasons[pair.scenario][pair.reason, pair.defense].add(pair.attack)
    tables = {}
    for scenario, skipped in reasons.items():
        # Defenses on which the same attacks were skipped share a row.
        rows: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
        for (reason, defense), attacks in skipped.items():
            rows[reason, tuple(sorted(attacks))].append(defense)
        listed = [(why, ", ".join(attacks), ", ".join(sorted(of))) for (why, attacks), of in sorted(rows.items())]
        note = "A defense on which fewer attacks were played looks safer than it is."
        tables[scenario] = [Table(TITLE, COLUMNS, listed, note=note)]
    return tables


def skips_to_terminal(pairs: Sequence[Pair], width: int = 120) -> str:
    """Skipped attacks as plain text of at most `width` characters a line; empty if there are none."""
    return report_to_terminal(table_sections(skip_tables(pairs)), width)


def skips_to_markdown(pairs: Sequence[Pair]) -> str:
    """Skipped attacks as Markdown; empty if there are none."""
    return report_to_markdown(table_sections(skip_tables(pairs)))
