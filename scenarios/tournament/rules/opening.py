"""Opening a tournament: the draw of records for each team, the folder, and the page of rules in it."""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.random import Generator

from defenses.base import Hierarchy, IntervalHierarchy, Microdata, TableHierarchy
from leaderboard.results.goals import goal_words
from metrics.columns import PRIVATE, CategoricalDomain, Domain, Integers, NumericDomain, Sentence, format_number, refuse
from metrics.table_utility import prediction_target
from scenarios.games.decoys import NearGroups, group_size
from scenarios.running.methods import find, summary
from scenarios.tables import Dataset, declaration, generator, read_bytes, shortened
from scenarios.tables.reading import ColumnForm, DateForm, GroupLabels, WrittenCells, integer_cell
from scenarios.tables.review.rows_of_people import drawn_rows
from scenarios.tournament.rules.contest import Contest, ListedMeasure, read_contest
from scenarios.tournament.rules.folder import (
    PUBLIC,
    Tournament,
    csv_bytes,
    file_hashes,
    new_folder,
    toml_bytes,
    write_whole,
)
from scenarios.tournament.rules.languages import listed_word, said_in
from scenarios.tournament.rules.log import Log
from scenarios.tournament.rules.settings import (
    FILE,
    PUBLISH_EVERY,
    QUOTA,
    Phase,
    Settings,
    alike,
    checked_title,
    local_text,
    moment,
    team_name,
    tournament_title,
)

# Rules page in every team's folder.


def rules(settings: Settings, records: Microdata, written: WrittenCells, *, classifier: bool) -> str:
    """The rules of a tournament as Markdown: files, phases, scoring, columns."""
    phases = [
        Sentence(
            "| {phase} | {end} | {local} |",
            phase=Sentence("anonymize again") if phase is Phase.ANONYMIZE_AGAIN else phase,
            end=end.isoformat(sep=" "),
            local=local_text(end),
        )
        for phase, end in settings.ends
    ]
    talks = [
        Sentence("| presentations | {end} | {local} |", end=end.isoformat(sep=" "), local=local_text(end))
        for end in map(datetime.fromisoformat, filter(None, [settings.present_until]))
    ]
    columns = [
        Sentence(
            "| `{name}` | {values} |",
            name=name,
            values=_described(records.domain(name), settings.decimals.get(name, 0), written.dates(name)),
        )
        for name in records.released_columns
    ]
    again = (
        Sentence(
            "\nThere are two rounds. After the first one the candidate files are published. Knowing yours, you may "
            "submit\nanother table. Your last valid table counts.\n"
        )
        if settings.rounds == 2
        else ""
    )
    provisional = Sentence.joined(" ", list(filter(None, (_PROVISIONAL, settings.publication))))
    values = {
        "title": settings.title,
        "originals": settings.originals,
        "candidates": settings.candidates,
        "decoys": settings.candidates - settings.originals,
        "similar": Sentence("people like your originals")
        if settings.decoys == "hard"
        else Sentence("other people drawn at random"),
        "phases": Sentence.joined("\n", [*phases, *talks]),
        "columns": Sentence.joined("\n", columns),
        "again": again,
        "row_chance": f"1/{settings.candidates}",
        "member_chance": f"{settings.originals / settings.candidates:.3g}",
        "quota": f"{settings.quota >> 20} MiB" if settings.quota % (1 << 20) == 0 else f"{settings.quota:,} bytes",
        "classifier": _classifier(records) if classifier else "",
        "overall": _OVERALL[settings.ranking],
        "provisional": _HIDDEN if settings.hide_standings else provisional,
    }
    return Sentence.joined("\n\n", [_worded(one, settings.rules, records, values) for one in PAGE.split("\n\n")])


def _worded(paragraph: str, contest: Contest, records: Microdata, values: Mapping[str, Any]) -> str:
    """A paragraph of the page, which is an entry of the catalogues, or what a contest says in its place."""
    if paragraph.startswith("## Scores") and contest.listed:
        return _listed(contest)
    if paragraph.startswith("**Success**") and contest.question:
        return _questions(contest, records, values)
    return Sentence(paragraph, **values)


def _classifier(records: Microdata) -> str:
    """The rule about the classifier; empty if no column can be predicted."""
    domains = {name: records.domain(name) for name in records.released_columns}
    target = prediction_target(records.sensitive, domains)
    if target is None:
        return ""
    return Sentence(
        "  - How well a classifier that is trained on it predicts `{target}` of the people in `others.csv`, compared\n"
        "    with a classifier that is trained on your originals.\n",
        target=target,
    )


def _listed(contest: Contest) -> str:
    """The rule about utility where the contest lists its measures."""
    source = Sentence("The rules follow {source}.\n\n", source=contest.source) if contest.source else ""
    return Sentence(
        "## Scores\n{source}**Utility** is the {combination} of the following numbers. Each is 1 for the originals. "
        "Unless\nit says otherwise, it is 0 for tables whose rows are all equal.\n{measures}",
        source=source,
        combination=COMBINATION_WORDS[contest.utility],
        measures=Sentence.joined("\n", list(map(_measure, contest.measure))),
    )


def _questions(contest: Contest, records: Microdata, values: Mapping[str, Any]) -> str:
    """The rule about the success of attacks where the contest lists its questions."""
    lines = [Sentence("**Success** of an attack is that in the following question in which its advantage is largest.")]
    for question, title, name in contest.asked(records):
        given = question.get_params()
        rate, off = given.get("false_positive_rate", 0), given.get("tolerance", 0)
        within = Sentence(", give or take {off:g}", off=off) if off else ""
        control = Sentence("the decoys most like them" if given.get("matched") else "the decoys")
        paragraph = QUESTIONS[type(question).__name__, bool(rate)]
        what = Sentence(
            paragraph,
            **{**values, "rate": f"{100 * rate:g} %", "hidden": contest.hidden(records)},
            within=within,
            control=control,
        )
        goal = listed_word(goal_words(title))
        if name:
            what = Sentence("the same, asked of {stratum} alone.", stratum=contest.strata[name].words)
        lines.append(Sentence("- *{goal}*: {what}", goal=goal, what=what))
    return Sentence.joined("\n", lines)


def _measure(one: ListedMeasure) -> str:
    """A measure as a line of the rules."""
    name = one.use.partition(":")[2]
    what = Sentence("class `{name}` in `{file}`, which is in your folder", name=name, file=one.file)
    if not one.file:
        paragraph = summary(find(one.use, "measures")).rstrip(".")
        what = Sentence(paragraph)
    given = ", ".join(f"{name} = {value}" for name, value in (one.model_extra or {}).items())
    raw = "" if one.anchored else Sentence("as it is, so tables of equal rows may have more than 0")
    parts = Sentence.joined("; ", list(filter(None, (what, given, raw))))
    return Sentence("- *{measure}*: {parts}.", measure=one.shown, parts=parts)


def _described(domain: Domain, decimals: int, dates: DateForm | None) -> str:
    if dates is not None and isinstance(domain, NumericDomain):
        return Sentence(
            "dates from {bounds}; ranges as `[...,...]`, or by their names such as `2024-03`",
            bounds=dates.bounds(domain),
        )
    if isinstance(domain, CategoricalDomain):
        categories = ", ".join(f"`{category}`" for category in domain.categories)
        return Sentence(
            "one of {categories}, in this order" if domain.ordered else "one of {categories}", categories=categories
        )
    ends = {"low": format_number(domain.low), "high": format_number(domain.high)}
    if domain.integer:
        return Sentence("integers from {low} to {high}", **ends)
    return Sentence(
        "numbers with at most {decimals} digit after the point from {low} to {high}"
        if decimals == 1
        else "numbers with at most {decimals} digits after the point from {low} to {high}",
        decimals=decimals,
        **ends,
    )


_HIDDEN = Sentence("Standings are shown once the tournament is closed.")
_PROVISIONAL = Sentence(
    "Until the close, standings and reports are provisional. They count a secret share of each table's rows, half\n"
    "unless the host chose another share, and not membership. The final standings count all rows and membership."
)
COMBINATION_WORDS = {"mean": Sentence("mean"), "product": Sentence("product"), "minimum": Sentence("minimum")}
"""What pages call each way in which measures are combined."""
QUESTIONS = {
    ("RowQuestion", False): "the share of right answers among the released rows that stem from an original; its chance "
    "level is {row_chance}.\n"
    "  The highest share counts of the origins that the team declares and of two assignments by the host.",
    ("MemberQuestion", False): "the share of originals among the {originals} candidates of highest confidence; its "
    "chance level is\n  {member_chance}.",
    (
        "MemberQuestion",
        True,
    ): "the share of originals whose confidence exceeds that of all but {rate} of the decoys; "
    "its chance level is {rate}.",
    ("AttributeQuestion", False): "the share of originals whose `{hidden}` you name{within}; its chance level is the "
    "share of {control}\n  whose value you name, too. Candidate files lack this column. Put the value into the column "
    "`value` beside\n  `candidate_row`; `released_row` may be empty there. It counts from the close on.",
    ("LinkQuestion", False): "the share of originals whose two halves you join; its chance level is the same share of "
    "the decoys.\n  `TEAM_candidate.csv` has one half of each candidate, `TEAM_second.csv` the other one in another "
    "order. Name the\n  row of the second file in the column `second_row`, beside the released row that joins both. It "
    "counts from the\n  close on.",
}
"""What is asked, by question and by whether it has a false-positive rate."""
PAGE = """# Rules: {title}

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

{overall} A team that handed in nothing comes last. So does a disqualified team: its files do not count for anybody.

{provisional}

`tokumei tournament check TEAM_anonymized.csv --original TEAM_original.csv` shows whether your file is valid. It shows
its utility exactly as the host will compute it, and the success of the baseline attacks against it. For this,
`tournament.toml` must be beside your originals, as in your folder.
"""


_OVERALL = {
    "ranks": Sentence(
        """Teams are ranked in both. Equal scores share a rank, and a missing score ranks last. The overall rank is
by the sum of both ranks. Of teams with equal sums, the higher defense comes first, then the higher attack, then the
higher utility; if all are equal, they share the rank."""
    ),
    "score": Sentence(
        """The overall rank is by defense + attack; equal sums share it. A table or attacks that are missing count
0, and so does the table of your originals, since an attack finds everybody in it. A baseline attack that fails on your
table, or takes too long, counts as if it had found everybody."""
    ),
}
OTHERS = 1000
"""Largest number of other people whose records every team may study."""
MOST_DECIMALS = 6
_WIDE_COMMAS = str.maketrans({"\N{FULLWIDTH COMMA}": ",", "\N{IDEOGRAPHIC COMMA}": ","})
"""Commas of Japanese keyboards, which separate nothing in a file of teams."""


def read_teams(path: Path) -> dict[str, str]:
    """Read teams from a text file, one per line: a name and, after a comma or tab, the title of the team.

    Empty lines and text after ``#`` are ignored.
    """
    try:
        lines = read_bytes(path).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        number = error.object[: error.start].count(b"\n") + 1
        raise ValueError(f"{path}, line {number}: is no UTF-8 text; save the file as UTF-8") from None
    teams: dict[str, str] = {}
    for line in lines:
        name, _, title = line.partition("#")[0].strip().replace("\t", ",", 1).partition(",")
        if not name and not title:
            continue
        try:
            name = team_name(name.strip())
            given = checked_title(title, name, {**dict.fromkeys(teams, ""), **teams}) if title.strip() else ""
        except ValueError as error:
            raise ValueError(f"{path}: {error}{_title_hint(name)}") from None
        refuse(
            any(title and alike(title) == alike(name) for title in teams.values()),
            f"{path}: {name!r} is the title of another team",
        )
        refuse(
            name.casefold() in map(str.casefold, teams),
            f"{path}: team {name!r} is listed twice (names must differ in more than case)",
        )
        teams[name] = given
    refuse(len(teams) < 2, f"{path}: names {len(teams)} teams; a tournament needs at least two, one per line")
    return teams


def _title_hint(name: str) -> str:
    """Where a title belongs that stands in the name of a team; empty for a name of ASCII characters."""
    if name.isascii():
        return ""
    given, _, title = (part.strip() for part in name.translate(_WIDE_COMMAS).partition(","))
    if not title:
        given, title = "", name
    team = given if given.isascii() and given else "kyoto"
    return f"; a title in any script follows a comma, as in {team},{title}"


def open_tournament(
    folder: Path,
    dataset: Dataset,
    teams: Sequence[str],
    *,
    originals: int,
    candidates: int,
    decoys: str,
    rounds: int,
    anonymize_until: str,
    anonymize_again_until: str | None,
    attack_until: str,
    now: datetime,
    seed: int | None = None,
    quota: int = QUOTA,
    hide_standings: bool = False,
    publish_every: int | None = PUBLISH_EVERY,
    freeze: int | None = None,
    ranking: Literal["ranks", "score"] = "score",
    title: str | None = None,
    titles: Mapping[str, str] | None = None,
    contest: Path | None = None,
    present_until: str | None = None,
    language: Literal["en", "ja"] = "en",
) -> Settings:
    """Create the folder of a tournament; `contest` is a file of a contest's rules.

    No two teams share an original or a decoy, and no decoy is any team's original. The other people, whom every team
    may study, are neither originals nor decoys.
    """
    refuse(candidates <= originals, f"--candidates must exceed --originals ({originals}), got {candidates}")
    reason = drawn_rows(dataset.records, "a tournament")
    refuse(reason is not None, str(reason))
    needed, available = len(teams) * candidates, len(dataset.records)
    refuse(
        needed > available,
        f"{len(teams)} teams with {candidates} candidates each need {needed} records, {dataset.name} has {available}",
    )
    if decoys == "hard":
        group_size(originals, candidates)
    refuse(
        folder.exists() and (not folder.is_dir() or any(folder.iterdir())),
        f"{folder} exists already; name a new folder",
    )
    for option, end in (
        ("--anonymize-until", anonymize_until),
        ("--anonymize-again-until", anonymize_again_until),
        ("--attack-until", attack_until),
        ("--present-until", present_until),
    ):
        try:
            moment(end or anonymize_until)
        except ValueError as error:
            raise ValueError(f"{option}: {error}") from None
    records = rounded(dataset.records)
    secret = secrets.randbits(63) if seed is None else seed
    settings = Settings(
        title=(dataset.title or dataset.name) if title is None else tournament_title(title),
        teams=list(teams),
        originals=originals,
        candidates=candidates,
        decoys="hard" if decoys == "hard" else "random",
        rounds=2 if rounds == 2 else 1,
        anonymize_until=anonymize_until,
        anonymize_again_until=anonymize_again_until,
        attack_until=attack_until,
        queries_seed=int(generator(secret, "tournament", "public").integers(2**31)),
        decimals=decimals(records),
        quota=quota,
        hide_standings=hide_standings,
        publish_every=publish_every,
        freeze=freeze,
        ranking=ranking,
        present_until=present_until,
        language=language,
        contest=read_contest(contest, records, candidates - originals) if contest else None,
    )
    _check_phases(settings, now)
    own = {name: read_bytes(contest.parent / name) for name in settings.rules.files} if contest else {}
    with new_folder(folder) as unfinished:
        _fill(unfinished, settings, records, dataset.written, secret, titles or {}, now, own)
        if contest:
            Tournament(unfinished).originals(settings.teams[0]).check_measures(contest)
    return settings


def adopt_hashes(tournament: Tournament, now: datetime) -> int:
    """Log the hashes of a tournament that an earlier version opened; return of how many files.

    What was changed before is not seen, so everybody reads of it.
    """
    with tournament.log.locked():
        _ = tournament.state().phase
        recorded = f"{tournament.folder}: the hashes are recorded already; `verify` compares them"
        refuse(tournament.recorded_files, recorded)
        tournament.check_opening()
        tournament.log.append("adopted", _recorded(tournament.folder, tournament.settings), now)
    return len(tournament.recorded_files)


def _recorded(folder: Path, settings: Settings) -> dict[str, Any]:
    """What the log says of settings and files, by which later changes are noticed."""
    return {"settings": settings.model_dump(mode="json"), "files": file_hashes(folder)}


def _check_phases(settings: Settings, now: datetime) -> None:
    last, name = now, "now"
    for phase in settings.phases[:-1]:
        end = settings.until(phase)
        if end is None:
            raise ValueError("two rounds need --anonymize-again-until, the end of the second one")
        refuse(end <= last, f"phase {phase} must end after {name}, its end is {end.isoformat()}")
        last, name = end, f"phase {phase}"
    early = settings.present_until is not None and datetime.fromisoformat(settings.present_until) <= last
    refuse(early, f"--present-until must be after the end of phase {Phase.ATTACK}, {last.isoformat()}")
    refuse(
        settings.rounds == 1 and settings.anonymize_again_until is not None,
        "--anonymize-again-until is for tournaments of two rounds (--rounds 2)",
    )


def _fill(
    folder: Path,
    settings: Settings,
    records: Microdata,
    written: WrittenCells,
    secret: int,
    titles: Mapping[str, str],
    now: datetime,
    code: Mapping[str, bytes],
) -> None:
    """Write the initial files of a tournament; `code` are the files of the host's own measures."""
    folder.mkdir(mode=0o755)
    resolved = folder.resolve()
    host, columns = resolved / "host", list(records.released_columns)
    for path, mode in (
        (resolved / "public", 0o755),
        (resolved / "teams", 0o755),
        (host, 0o700),
        *((host / name, 0o700) for name in ("originals", "candidates", "submissions")),
    ):
        path.mkdir(mode=mode)
    own, decoys, others = _draw(records, settings, generator(secret, "tournament", "draw"))
    roles = toml_bytes(_roles(records, written))
    study = csv_bytes(written.plain(records.take(others).frame[columns])) if others.size else b""
    settings_file = toml_bytes(settings.model_dump(exclude_none=True))
    page = said_in(settings.language, rules(settings, records, written, classifier=bool(study))).encode()
    answers: dict[str, list[int]] = {}
    for number, team in enumerate(settings.teams):
        table = csv_bytes(written.plain(records.take(own[number]).frame[columns]))
        refuse(
            len(table) > settings.quota,
            f"--quota must hold at least one table: the originals of {team} have {len(table)} bytes, "
            f"got {settings.quota}",
        )
        order = generator(secret, "tournament", "order", team).permutation(settings.candidates)
        answers[team] = np.argsort(order)[: settings.originals].tolist()
        mixed = np.concatenate([own[number], decoys[number]])[order]
        write_whole(host / "originals" / f"{team}_original.csv", table, mode=PRIVATE)
        candidates = csv_bytes(written.plain(records.take(mixed).frame[columns]))
        write_whole(host / "candidates" / f"{team}_candidate.csv", candidates, mode=PRIVATE)
        team_folder = resolved / "teams" / team
        team_folder.mkdir(mode=0o750)
        files = {
            f"{team}_original.csv": table,
            "roles.toml": roles,
            FILE: settings_file,
            "RULES.md": page,
            **code,
        }
        for name, data in files.items() | ({("others.csv", study)} if study else set()):
            write_whole(team_folder / name, data, mode=0o640)
    private = {"roles.toml": roles, "secret.json": json.dumps({"seed": secret, "answers": answers}).encode(), **code}
    for name, data in private.items() | ({("others.csv", study)} if study else set()):
        write_whole(host / name, data, mode=PRIVATE)
    write_whole(resolved / FILE, settings_file, mode=PUBLIC)
    log = Log(host / "log.jsonl")
    with log.locked():
        log.append("opened", {"teams": settings.teams, **_recorded(resolved, settings)}, now)
        for team, title in titles.items():
            if title:
                log.append("titled", {"team": team, "title": title}, now)


def _draw(records: Microdata, settings: Settings, rng: Generator) -> tuple[list[Integers], list[Integers], Integers]:
    """Positions of each team's originals, of its decoys, and of the other people, all disjoint."""
    people = rng.permutation(len(records))
    teams = len(settings.teams)
    if settings.decoys == "random":
        originals = np.split(people[: teams * settings.originals], teams)
        decoys = np.split(people[teams * settings.originals : teams * settings.candidates], teams)
    else:
        near = NearGroups(records, group_size(settings.originals, settings.candidates)).groups
        # A toss in each group says who is the original.
        drawn = rng.permuted(near[rng.permutation(len(near))[: teams * settings.originals]], axis=1)
        originals = np.split(drawn[:, 0], teams)
        decoys = [one.ravel() for one in np.split(drawn[:, 1:], teams)]
    return originals, decoys, people[~np.isin(people, np.concatenate([*originals, *decoys]))][:OTHERS]


def rounded(records: Microdata) -> Microdata:
    """Round numbers to `MOST_DECIMALS` decimals, so that the originals themselves obey the rules.

    Public ranges widen to numbers of as many decimals.
    """
    frame, domains, scale = records.frame.copy(), dict(records.domains), 10**MOST_DECIMALS
    for name in records.released_columns:
        domain = records.domain(name)
        if isinstance(domain, NumericDomain) and not domain.integer:
            low, high = math.floor(domain.low * scale) / scale, math.ceil(domain.high * scale) / scale
            domains[name] = replace(domain, low=min(low, domain.low), high=max(high, domain.high))
            frame[name] = frame[name].round(MOST_DECIMALS)
    return replace(records, frame=frame, domains=domains)


def decimals(records: Microdata) -> dict[str, int]:
    """Largest number of decimals in each column of numbers; columns of integers are left out."""
    domains = {name: records.domain(name) for name in records.released_columns}
    return {
        name: _decimals(records.frame[name])
        for name, domain in domains.items()
        if isinstance(domain, NumericDomain) and not domain.integer
    }


def _decimals(column: pd.Series) -> int:
    """Largest number of decimals in a column of numbers, at most `MOST_DECIMALS`."""
    digits = [
        -int(exponent)
        for value in column.dropna().unique().tolist()
        if isinstance(exponent := Decimal(repr(float(value))).normalize().as_tuple().exponent, int)
    ]
    return int(np.clip(max(digits, default=0), 0, MOST_DECIMALS))


def _roles(records: Microdata, written: WrittenCells) -> dict[str, Any]:
    """Content of a roles file: roles, public domains and hierarchies."""
    return {
        "quasi_identifiers": list(records.quasi_identifiers),
        "sensitive": list(records.sensitive),
        "separator": ",",
        "columns": {
            name: _column(records.domain(name), written.columns.get(name))
            | _hierarchy(records.hierarchies.get(name), written.columns.get(name))
            for name in records.released_columns
        },
    }


def _hierarchy(hierarchy: Hierarchy | None, form: ColumnForm | None) -> dict[str, Any]:
    """A column's hierarchy as a part of its table in the roles file; nothing if the column has none."""
    if isinstance(form, DateForm):
        return {"hierarchy": {"calendar": list(form.levels)}} if hierarchy is not None and form.levels else {}
    if isinstance(hierarchy, IntervalHierarchy):
        return {"hierarchy": {"intervals": [list(map(integer_cell, cuts)) for cuts in hierarchy.levels]}}
    if isinstance(hierarchy, TableHierarchy):
        if isinstance(form, GroupLabels):
            return {"hierarchy": {"rows": [list(row) for row in form.rows]}}
        groups = hierarchy.table[:, 1:].astype(str).tolist()
        rows = [[leaf, *row] for leaf, row in zip(hierarchy.leaves, groups, strict=True)]
        return {"hierarchy": {"rows": rows, "labels": False}}
    return {}


def _column(domain: Domain, form: ColumnForm | None) -> dict[str, Any]:
    if isinstance(form, DateForm) and isinstance(domain, NumericDomain):
        return {
            "type": "date",
            "format": form.format.pattern,
            "low": form.iso(domain.low),
            "high": form.iso(domain.high),
            "cuts": [form.iso(cut) for cut in domain.cuts],
        }
    table: dict[str, Any] = shortened(declaration(domain))
    return table
