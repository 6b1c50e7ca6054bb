"""The rules page that every team finds in its folder."""

from __future__ import annotations

from defenses.base.microdata import Microdata
from metrics.domains import CategoricalDomain, Domain, format_number
from scenarios.tournament.settings import Settings


def rules(settings: Settings, records: Microdata) -> str:
    """The rules of a tournament as Markdown: files, phases, scoring, columns."""
    ends = [("anonymize", settings.anonymize_until), ("attack", settings.attack_until)]
    if settings.rounds == 2:
        ends.insert(1, ("anonymize again", str(settings.anonymize_again_until)))
    phases = "\n".join(f"| {name} | {end.replace('T', ' ')} |" for name, end in ends)
    columns = "\n".join(
        f"| `{name}` | {_described(records.domain(name), settings.decimals.get(name, 0))} |"
        for name in records.released_columns
    )
    again = (
        "\nThere are two rounds: after the first one the candidate files are published, and you may hand in another "
        "table\nknowing yours. Your last valid table counts.\n"
        if settings.rounds == 2
        else ""
    )
    return _TEMPLATE.format(
        title=settings.title,
        originals=settings.originals,
        candidates=settings.candidates,
        decoys=settings.candidates - settings.originals,
        similar="the people most like your originals" if settings.decoys == "hard" else "other people drawn at random",
        phases=phases,
        columns=columns,
        again=again,
        row_chance=f"1/{settings.candidates}",
        member_chance=f"{settings.originals / settings.candidates:.3g}",
    )


def _described(domain: Domain, decimals: int) -> str:
    if isinstance(domain, CategoricalDomain):
        order = ", in this order" if domain.ordered else ""
        return "one of " + ", ".join(f"`{category}`" for category in domain.categories) + order
    places = f"{decimals} digit{'' if decimals == 1 else 's'}"
    digits = "integers " if domain.integer else f"numbers with at most {places} after the point"
    return f"{digits} from {format_number(domain.low)} to {format_number(domain.high)}"


_TEMPLATE = """# Rules: {title}

You hold `original` records of {originals} people. Publish a table of them that is useful and that nobody can trace back
to them; then try to trace the other teams' tables. Files are UTF-8 text with commas between the fields.

| phase | ends (UTC) |
|---|---|
{phases}
{again}
## Your table: `TEAM_anonymized.csv`
- 1 to {originals} rows in any order, with all columns below and the column `original_row`: the row of your
  original (counted from 0) that this row stems from, each at most once, or nothing where it stems from none. The host
  strips that column and shuffles the rows before anybody sees them.
- A cell is a value, an interval `[20,29]` (or `[20,30)` without its upper end), a set `{{a|b}}`, or `*` for any value;
  or nothing, a missing value, in columns where some of your originals have none.
  Text that holds one of `\\ | [ {{ *` has a backslash before each of them.
- Only what a cell says is published, not how it was written.

| column | values |
|---|---|
{columns}

## The attack
Everybody gets each team's table without `original_row` and its candidate file: {candidates} people in clear, your
{originals} originals and {decoys} decoys ({similar}), shuffled. Hand in `TEAM_attack_OTHER.csv` with the columns
`released_row`, `candidate_row` (both counted from 0) and `confidence` (0 to 1): at most one line a released row; leave
out rows that you do not want to answer. Several files about one team: the last valid one counts.

## Scores
**Utility** is the smaller of two, each 0 for a table whose rows are all the same and 1 for the originals:
- *of the table*: the mean of how well it keeps the columns' distributions, the associations between columns and
  counts over ranges (compared in public bins; a generalized cell is spread evenly over what it covers);
- *of the records*: how similar your originals are to the rows that you declare as theirs (numbers by their bins'
  distance, categories equal or not, a generalized cell as similar as what it covers is on average), or to those that
  the host's own assignment gives them, whichever is less. An original without a row counts as if its row were the
  one of all-alike rows.

**Success** of an attack is the larger of
- *rows*: right answers among the released rows that stem from an original; guessing reaches {row_chance}. Right is
  counted by the origins that the team declares and again by the host's own two one-to-one assignments of rows to
  originals (`AssignmentLinkage` and `ExpectationMaximizationLinkage` among your originals alone), and the highest
  counts: declaring false origins gains nothing;
- *members*: originals among the {originals} candidates named most surely; guessing reaches {member_chance}.

Its **advantage** is (success - chance) / (1 - chance), at least 0.

- **Defense** = utility x (1 - the largest advantage of any attacker). The host's own attacks take part.
- **Attack** = mean advantage over the other teams' tables; a table that you did not attack counts 0.

Teams are ranked in both; equal scores share a rank; a missing score ranks last. The overall rank is by the sum of both.

`tokumei tournament check TEAM_anonymized.csv --original TEAM_original.csv` tells whether your file is valid, its
utility exactly as the host will compute it, and how the host's attacks fare against it.
"""
