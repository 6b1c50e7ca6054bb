"""Pages of a Codabench bundle, from the guides for hosts and teams."""

from __future__ import annotations

import re
from importlib import resources

from scenarios.tournament.rules.folder import Tournament

TITLES = {
    "Submitting": "pages/submitting.md",
    "Rules": "pages/rules.md",
    "Playing": "pages/playing.md",
    "What the scores mean": "pages/scores.md",
}
"""File of each page by its title."""


def pages(tournament: Tournament, share: float) -> dict[str, str]:
    """Content of each page, the terms and the host's steps by the name of its file.

    Parameters
    ----------
    tournament : Tournament
        The tournament.
    share : float
        Share of each table's rows that counts.

    Raises
    ------
    ValueError
        If no team's folder has the rules.
    """
    host, team = _guide("HOST.md"), _guide("TEAM.md")
    rules = next(
        (path for name in tournament.settings.teams if (path := tournament.team_folder(name) / "RULES.md").is_file()),
        None,
    )
    if rules is None:
        raise ValueError(f"{tournament.folder / 'teams'}: RULES.md is missing from the teams' folders; put it back")
    counted = "all rows and membership" if share == 1 else f"a secret {share:.0%} of each table's rows, not membership"
    scores = [section(host, title) for title in ("What the scores mean", "Tricks that do not win")]
    return {
        "pages/submitting.md": _text("SUBMITTING.md").replace("COUNTED", counted),
        "pages/rules.md": rules.read_text(encoding="utf-8"),
        "pages/playing.md": team.replace(section(team, "On the site"), ""),
        "pages/scores.md": "\n".join(scores),
        "terms.md": _text("TERMS.md"),
        "README.md": _text("STEPS.md"),
    }


def section(text: str, title: str) -> str:
    """A section of a Markdown text with its heading, up to the next heading of its level.

    Raises
    ------
    ValueError
        If there is no such section.
    """
    match = re.search(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if match is None:
        raise ValueError(f"the guide has no section {title!r}")
    return match[0]


def _guide(name: str) -> str:
    return (resources.files("scenarios.tournament") / name).read_text(encoding="utf-8")


def _text(name: str) -> str:
    return (resources.files("scenarios.tournament.codabench") / name).read_text(encoding="utf-8")
