"""Rules page in every team's folder."""

from __future__ import annotations

from defenses.base import Microdata
from leaderboard.pages.number_text import counted
from metrics.columns import CategoricalDomain, Domain, NumericDomain, format_number
from metrics.table_utility import prediction_target
from scenarios.tables.reading.date_form import DateForm
from scenarios.tables.reading.written_cells import WrittenCells
from scenarios.tournament.rules.settings import Settings, local_text


def rules(settings: Settings, records: Microdata, written: WrittenCells, *, classifier: bool) -> str:
    """The rules of a tournament as Markdown: files, phases, scoring, columns.

    Parameters
    ----------
    settings : Settings
        The public settings.
    records : Microdata
        Gives roles and public domains.
    written : WrittenCells
        Form of dates.
    classifier : bool
        Whether there are other people, who test a classifier.
    """
    phases = "\n".join(
        f"| {str(phase).replace('-', ' ')} | {end.isoformat(sep=' ')} | {local_text(end)} |"
        for phase, end in settings.ends
    )
    columns = "\n".join(
        f"| `{name}` | {_described(records.domain(name), settings.decimals.get(name, 0), written.dates(name))} |"
        for name in records.released_columns
    )
    again = (
        "\nThere are two rounds. After the first one the candidate files are published. Knowing yours, you may submit\n"
        "another table. Your last valid table counts.\n"
        if settings.rounds == 2
        else ""
    )
    return _TEMPLATE.format(
        title=settings.title,
        originals=settings.originals,
        candidates=settings.candidates,
        decoys=settings.candidates - settings.originals,
        similar="people like your originals" if settings.decoys == "hard" else "other people drawn at random",
        phases=phases,
        columns=columns,
        again=again,
        row_chance=f"1/{settings.candidates}",
        member_chance=f"{settings.originals / settings.candidates:.3g}",
        quota=_bytes(settings.quota),
        classifier=_classifier(records) if classifier else "",
        provisional=_HIDDEN if settings.hide_standings else _PROVISIONAL,
    )


def _bytes(number: int) -> str:
    return f"{number >> 20} MiB" if number % (1 << 20) == 0 else f"{number:,} bytes"


def _classifier(records: Microdata) -> str:
    """The rule about the classifier; empty if no column can be predicted."""
    domains = {name: records.domain(name) for name in records.released_columns}
    target = prediction_target(records.sensitive, domains)
    if target is None:
        return ""
    return (
        f"  - How well a classifier that is trained on it predicts `{target}` of the people in `others.csv`, compared\n"
        "    with a classifier that is trained on your originals.\n"
    )


def _described(domain: Domain, decimals: int, dates: DateForm | None) -> str:
    if dates is not None and isinstance(domain, NumericDomain):
        return f"dates from {dates.bounds(domain)}; ranges as `[...,...]`, or by their names such as `2024-03`"
    if isinstance(domain, CategoricalDomain):
        categories = ", ".join(f"`{category}`" for category in domain.categories)
        return f"one of {categories}{', in this order' if domain.ordered else ''}"
    digits = "integers" if domain.integer else f"numbers with at most {counted(decimals, 'digit')} after the point"
    return f"{digits} from {format_number(domain.low)} to {format_number(domain.high)}"


_HIDDEN = "Standings are shown once the tournament is closed."
_PROVISIONAL = (
    "Until the close, standings and reports are provisional. They count a secret share of each table's rows, half\n"
    "unless the host chose another share, and not membership. The final standings count all rows and membership."
)
_TEMPLATE = """# Rules: {title}

You hold the original records of {originals} people. Publish a table of them that is useful and that nobody can trace
back to them. Then try to trace the other teams' tables. Files are UTF-8 text with commas between the fields. The host
keeps at most {quota} of each team's files and refuses what exceeds them; equal files count once.

| phase | ends (UTC) | in the host's zone |
|---|---|---|
{phases}
{again}
## Your table: `TEAM_anonymized.csv`
- 1 to {originals} rows in any order, with all columns below and the column `original_row`. It gives the original
  (counted from 0) from which the row stems, each at most once; it is empty if the row stems from none. The host removes
  that column and shuffles the rows before anybody sees them.
- A cell is a value, an interval `[20,29]` (or `[20,30)` without its upper end), a set `{{a|b}}`, or `*` for any value.
  It may be empty (a missing value) in columns where some of your originals have no value.
  In text, each of `\\ | [ {{ *` has a backslash before it.
- Only the meaning of a cell is published, not its spelling.

| column | values |
|---|---|
{columns}

## The attack
Everybody gets each team's table without `original_row`, and its candidate file. Yours holds {candidates} people in
clear, shuffled: your {originals} originals and {decoys} decoys ({similar}). Submit `TEAM_attack_OTHER.csv` with the
columns `released_row`, `candidate_row` (both counted from 0) and `confidence` (0 to 1). It has at most one line per
released row; leave out rows that you do not want to answer. Without the column `confidence`, all answers are equally
certain. The last valid file about a team counts.

## Scores
**Utility** is the smaller of two numbers. Each is 0 for a table whose rows are all equal, and 1 for the originals.
- *of the table*: the mean of the following parts.
  - How well it preserves the columns' distributions, the associations between columns, and counts over ranges.
    Values are compared in public bins; a generalized cell is spread evenly over the values that it covers.
{classifier}  - A part that your originals themselves are too few to show is left out.
- *of the records*: how similar your originals are to the rows that you declare as theirs. If they are less similar to
  the rows that the host assigns to them, that similarity counts. Numbers are compared by the distance of their bins,
  categories as equal or not. A generalized cell counts with the mean similarity of the values that it covers. An
  original without a row is compared with the row of the table whose rows are all equal.

**Success** of an attack is the larger of
- *rows*: the share of right answers among the released rows that stem from an original; its chance level is
  {row_chance}. Answers are checked against the origins that the team declares. They are also checked against two
  one-to-one assignments of rows to originals by the host: `AssignmentLinkage` and `ExpectationMaximizationLinkage`
  among your originals only. The highest share counts, so declaring false origins gains nothing.
- *members*: the share of originals among the {originals} candidates of highest confidence; its chance level is
  {member_chance}.

Its **advantage** is (success - chance) / (1 - chance), at least 0.

- **Defense** = utility x (1 - the largest advantage of any attacker). The host's baseline attacks take part.
- **Attack** = mean advantage over the other teams' tables; a table that you did not attack counts 0.

Teams are ranked in both. Equal scores share a rank, and a missing score ranks last. The overall rank is by the sum of
both ranks. Of teams with equal sums, the higher defense comes first, then the higher attack, then the higher utility;
if all are equal, they share the rank. A team that handed in nothing comes last. So does a disqualified team: its files
do not count for anybody.

{provisional}

`tokumei tournament check TEAM_anonymized.csv --original TEAM_original.csv` shows whether your file is valid. It shows
its utility exactly as the host will compute it, and the success of the baseline attacks against it. For this,
`tournament.toml` must be beside your originals, as in your folder.
"""
