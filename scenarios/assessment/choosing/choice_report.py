"""The report of a choice: the best settings, what each costs, and the front of utility against risk."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import numpy as np

from defenses.base import Guarantee
from leaderboard import Exposure, Lines, Section, Series, StatedGuarantee, Table, guarantee_tables
from leaderboard.pages import Value, counted, exact, number
from leaderboard.results import goal_words, label
from leaderboard.statistics.play_bounds import IF_PLAYS_VARY, clean_plays, level_of_each, to_be_sure
from metrics.columns import Domain
from metrics.table_utility import headline_utility
from scenarios.assessment.choosing.choice import BASELINE, ERROR, USELESS, Choice, Finalist, front
from scenarios.assessment.choosing.column_costs import column_costs
from scenarios.assessment.choosing.goals import REAL_ROWS, SYNTHETIC, is_of
from scenarios.assessment.evaluation.evaluation_setting import EvaluationSetting
from scenarios.assessment.evaluation.row_origin import holding_share
from scenarios.assessment.reporting.findings import LITTLE, class_findings
from scenarios.running.plan import NamedMethod
from scenarios.tables import Note
from scenarios.tables.review import RowsOfPeople, counted_cells, guarantee_to_people, hidden_differences

# What a setting does to the whole table, which no play shows: classes, columns, and numbers inside bins.


@dataclass(frozen=True)
class Effect:
    """What one release of the whole table does.

    - costs: What happened to each column, in words.
    - classes: Risks of the classes of people alike by title, as a report counts them; none for synthetic rows.
    - hidden: Warnings of columns that differ inside their public bins, which utility does not see.
    - utility: Utility of the release, as `tokumei utility` measures it without held-out people.
    """

    costs: Mapping[str, str] = field(default_factory=dict)
    classes: Mapping[str, float] = field(default_factory=dict)
    hidden: tuple[Note, ...] = ()
    utility: float | None = None

    def above(self, bound: float) -> dict[str, float]:
        """Risks of classes above a bound: a report on the release calls them above the threshold."""
        return {title: risk for title, risk in self.classes.items() if risk > bound}


@dataclass(frozen=True)
class WholeTable:
    """Releases the whole table by settings, each once.

    - setting: The table, the seed of each release, and the measure of its utility.
    - sensitive: Sensitive columns that are asked about.
    - bound: Bound of the worst advantage, in (0, 1).
    """

    setting: EvaluationSetting
    sensitive: tuple[str, ...]
    bound: float
    _effects: dict[str, Effect] = field(default_factory=dict, init=False, repr=False)

    def effect(self, entry: NamedMethod) -> Effect:
        """The effect of a setting."""
        name = label(entry.name, entry.parameters)
        if name not in self._effects:
            self._effects[name] = self._measured(entry)
        return self._effects[name]

    def refused(self, entry: NamedMethod) -> bool:
        """Whether a report on a release of the whole table would call its classes above the bound."""
        return bool(self.effect(entry).above(self.bound))

    def _measured(self, entry: NamedMethod) -> Effect:
        setting, written = self.setting, self.setting.dataset.written
        records = setting.dataset.records
        release = entry.method.apply(records, np.random.default_rng(setting.seed))
        frame = release.frame
        released = [name for name in records.quasi_identifiers if name in frame]
        classes = {}
        if released and len(frame) and is_of(entry, REAL_ROWS):
            sensitive = {name: setting.domains[name] for name in self.sensitive if name in frame}
            person = records.person if setting.repeats else None
            known = person is not None and bool((release.origin >= 0).all())
            people = setting.people[release.origin] if known else None
            holding = holding_share(frame[released], records.frame, setting.domains, release.origin)
            found = class_findings(
                frame, released, sensitive, self.bound, counts=True, people=people, person=person, holding=holding
            )
            classes = {finding.title: finding.value for finding in found if finding.status != LITTLE}
        numbers: dict[str, Domain] = {
            name: records.domain(name) for name in frame.columns if written.dates(name) is None
        }
        costs = column_costs(records, release, written.date_units)
        cells = counted_cells(frame, numbers)
        hidden = hidden_differences(counted_cells(records.frame, cells), cells, numbers)
        utility, _ = headline_utility(setting.utility(setting.domains).score(release.analyst_table))
        return Effect(costs, classes, tuple(hidden), max(0.0, utility))


COMMANDS = "Commands"
"""Title of the section of commands, which a terminal shows unbroken."""
CONTROL = "others.csv"
"""Name of the control group's file in commands."""
HELD_BACK = (
    "people who are not in the table, such as those whom `tokumei split` held back; files of --truth are as secret as "
    "the table"
)
NO = "no: classes"
"""What the table says of a setting whose classes a report would refuse."""
_DIFFERENCE = (
    "`tokumei report` judges one release of the whole file by one control group. It may find more or less than these "
    "plays, and it decides about that release."
)


@dataclass(frozen=True)
class Source:
    """The table and the roles file that a choice is about."""

    table: str
    roles: Path | None

    def defend(self, entry: NamedMethod, number: int) -> str:
        """The command that releases the whole table by the setting of a number, from 1."""
        files = [shlex.quote(self.table), *self._roles(), "-o", _released(number), *_truth(entry, number)]
        return " ".join(["tokumei defend", entry.name, *_parameters(entry), *files])

    def report(self, entry: NamedMethod, number: int, bound: float) -> str:
        """The command that reports on that release, with the number of releases that are judged until then."""
        files = [
            shlex.quote(self.table),
            _released(number),
            *self._roles(),
            "--control",
            CONTROL,
            *_truth(entry, number),
        ]
        releases = ["--releases", str(number)] if number > 1 else []
        method = ["--defense", entry.name, *_parameters(entry)]
        rest = ["--threshold", repr(bound), *method, *releases, "-o", f"report-{number}.html"]
        return " ".join(["tokumei report", *files, *rest])

    def _roles(self) -> list[str]:
        return [] if self.roles is None else ["--roles", shlex.quote(str(self.roles))]


def _released(number: int) -> str:
    return f"released-{number}.csv"


def _truth(entry: NamedMethod, number: int) -> list[str]:
    """The file by which a report measures who a row belongs to; a synthetic row belongs to nobody."""
    return [] if is_of(entry, SYNTHETIC) else ["--truth", f"who-{number}.csv"]


def _parameters(entry: NamedMethod) -> list[str]:
    """The options that repeat a setting; JSON writes the portfolio's numbers as TOML does."""
    written = {name: one if isinstance(one, str) else json.dumps(one) for name, one in entry.parameters.items()}
    return [f"-p {shlex.quote(f'{name}={text}')}" for name, text in written.items()]


def choice_sections(
    choice: Choice,
    bound: float,
    people: int,
    source: Source,
    guarantees: Sequence[StatedGuarantee] = (),
    only: Sequence[str] = (),
    effects: Mapping[str, Effect] = MappingProxyType({}),
    of_people: Sequence[str] = (),
) -> list[Section]:
    """Sections of the report.

    - bound: Bound of the worst advantage.
    - people: Number of people in a release.
    - guarantees: What each finalist guarantees on the whole table.
    - only: Kinds of settings that were asked for; all if there is none.
    - effects: What a release of the whole table does, by the finalist's label.
    - of_people: What the numbers are to people who have several rows (`people_warnings`); none where a row is a person.
    """
    best = _best(choice, bound, f"{people:,} released people", only, effects)
    rows = [(one,) for one in of_people]
    unit = [Section("People", tables=(Table("What these numbers are to people", ("of rows and people",), rows),))]
    covered = [Section("Guarantees", tables=tuple(tables)) for tables in guarantee_tables(guarantees).values()]
    return [
        best,
        *(unit if of_people else ()),
        *covered,
        *_classes(bound, effects),
        *_commands(choice, bound, source),
        *_costs([*(one.entry for one in choice.finalists), *filter(None, [choice.nearest])], effects),
        *_front(choice, bound),
    ]


def people_warnings(rows: RowsOfPeople | None, guaranteed: Mapping[str, Guarantee]) -> list[str]:
    """What the numbers of a choice are to people who have several rows: what is counted, and what they are guaranteed.

    - rows: Numbers of rows and people of the table, if a person has several rows.
    - guaranteed: What each finalist guarantees, by its label.
    """
    if rows is None:
        return []
    words = [f"{name}: {one}" for name, guarantee in guaranteed.items() for one in guarantee_to_people(guarantee, rows)]
    return [
        str(Note("plays of people", (rows.person,), {"rows": rows.words})),
        "classes of the whole table count people",
        *words,
    ]


def class_warnings(bound: float, effects: Mapping[str, Effect]) -> list[str]:
    """One sentence for each finalist whose classes say more than the bound, which the attacks need not show."""
    above = {
        name: [f"{title[0].lower()}{title[1:]}, {number(risk)}" for title, risk in effect.above(bound).items()]
        for name, effect in effects.items()
    }
    return [
        f"{name}: `tokumei report` will find more than {exact(bound)} in classes of the whole table: {'; '.join(of)}"
        for name, of in above.items()
        if of
    ]


def hidden_warnings(effects: Mapping[str, Effect]) -> list[str]:
    """One sentence for each finalist and column that differs inside its public bins, which utility does not see."""
    return [f"{name}: {warning}" for name, effect in effects.items() for warning in effect.hidden]


def _classes(bound: float, effects: Mapping[str, Effect]) -> list[Section]:
    """Risks that are counted in the classes of a release."""
    rows = [(name, title, risk) for name, effect in effects.items() for title, risk in effect.classes.items()]
    if not rows:
        return []
    note = "Counted in one release of the whole table, as `tokumei report` counts them. The plays do not test them."
    table = Table("Classes of people alike in the whole table", ("setting", "finding", "risk"), rows, 2, note)
    return [Section("Classes", tuple(f"{one}." for one in class_warnings(bound, effects)), (table,))]


def commands(choice: Choice, bound: float, source: Source) -> list[tuple[str, str, str]]:
    """Label of each finalist, the command that releases the whole table by it, and the one that reports on it.

    Finalists whose classes a report would refuse have none. Where no finalist meets the bound, the nearest setting has.
    """
    offered = [one.entry for one in choice.finalists if not one.refused]
    if choice.nearest is not None and _label(choice.nearest) not in map(_label, offered):
        offered.append(choice.nearest)
    return [
        (_label(entry), source.defend(entry, number), source.report(entry, number, bound))
        for number, entry in enumerate(offered, start=1)
    ]


def verdict(choice: Choice, bound: float, only: Sequence[str] = ()) -> str:
    """The outcome in one sentence."""
    meeting = [one for one in choice.finalists if one.meets]
    if meeting:
        best = _label(meeting[0].entry)
        kept = _utility(meeting[0].exposure)
        useless = f", but it keeps nearly nothing (utility {number(kept)})" if kept < USELESS else ""
        keep = "keeps" if len(meeting) == 1 else "keep"
        how = "for sure" if all(one.sure for one in meeting) else "in these plays"
        within = f"{len(meeting)} of {counted(len(choice.finalists), 'finalist')} {keep} within {exact(bound)} {how}"
        return f"{within}; the most useful is {best}{useless}"
    none = f"none of {', '.join(only)} meets" if only else "none meets"
    if choice.finalists:
        # Plays do not change the classes of the whole table.
        helps = choice.ended_early and not all(one.refused for one in choice.finalists)
        more = "; more time (--budget) means more plays" if helps else ""
        return f"{none} the bound {exact(bound)} in these plays{_nearest(choice)}{more}"
    early = "; the budget ended the choice early, and --budget gives more" if choice.ended_early else ""
    return f"{none} the bound {exact(bound)}{_nearest(choice)}{early}"


def nearest_words(choice: Choice, bound: float) -> list[str]:
    """What the nearest setting that a report would not refuse reaches, and what it costs; none if a finalist meets."""
    near = choice.nearest
    if near is None or any(one.meets for one in choice.finalists):
        return []
    one = next(one for one in choice.measured if _name(one) == _label(near))
    best = max(choice.measured, key=_utility)
    return [
        f"{_label(near)} is the nearest setting that `tokumei report` would not refuse by its classes: utility "
        f"{number(_utility(one))} beside {number(_utility(best))} of {_name(best)}, advantage at most "
        f"{number(_upper(one))} while choosing, where {exact(bound)} was asked; its commands follow"
    ]


def _nearest(choice: Choice) -> str:
    """The useful setting of the smallest upper bound, in words.

    Fresh plays replace what was measured of a finalist while choosing. They may have been too few for a small bound, so
    that a setting that is no finalist had a smaller one; then both are named.
    """
    bounds = [(one.upper, _label(one.entry), one) for one in choice.finalists if one.upper is not None]
    played = {name for _, name, _ in bounds}
    # A setting that keeps nothing helps nobody, however small its bound.
    kept = [bound for bound in bounds if _utility(bound[2].exposure) >= USELESS] or bounds
    fresh = [(upper, name, one.refused) for upper, name, one in kept]
    useful = [one for one in choice.measured if _utility(one) >= USELESS and one.defense != BASELINE]
    others = front([one for one in useful if _name(one) not in played])[:1]
    if not fresh:
        nearest = (f"{_name(one)}, at most {number(_upper(one))} while choosing" for one in others)
        return "".join(f"; the nearest useful one is {words}" for words in nearest)
    upper, name, refused = min(fresh)
    words = f"{name}, at most {number(upper)}"
    words += " in plays, but its classes in the whole table say more" if refused else ""
    nearer = [f"{_name(one)}, at most {number(_upper(one))}" for one in others if _upper(one) < upper]
    if nearer:
        return f"; the nearest on fresh plays is {words}; while choosing, in fewer plays or attacks, it was {nearer[0]}"
    return f"; the nearest is {words}"


def _best(choice: Choice, bound: float, released: str, only: Sequence[str], effects: Mapping[str, Effect]) -> Section:
    """Table of the finalists on fresh plays."""
    utility = "utility", "utility of the whole table"
    columns = ("setting", "meets", "rows", "guarantee", *utility, "worst attack", "goal", "advantage", "at most")
    rows = [_row(one, effects.get(_label(one.entry), Effect()).utility) for one in choice.finalists]
    needed = clean_plays(bound, level_of_each(max(1, len(rows)), 1 - ERROR))
    note = (
        f"All numbers are of {counted(choice.plays, 'fresh play')}, each with {released}, but the utility of the whole "
        "table: a number such as k costs more in a play, where it is a larger share of the people. Advantage: the "
        f"largest measured. At most: its upper bound, {IF_PLAYS_VARY}. The probability that a setting is then said "
        f"to meet the bound and does not is at most {exact(ERROR)}. A release that gives much away in few of many "
        f"plays may not show in these: {to_be_sure(needed)}. {_DIFFERENCE}"
    )
    if any(one.refused for one in choice.finalists):
        note += f" {NO}: a class of the whole table says more than the bound, so the report will say so, too."
    meets = any(one.meets for one in choice.finalists)
    title = f"Best settings within {exact(bound)}" if meets else f"Finalists, none within {exact(bound)} in these plays"
    tables = (Table(title, columns, rows, digits=3, note=note),) if rows else ()
    says = verdict(choice, bound, only)
    near = (f"{one}." for one in nearest_words(choice, bound))
    return Section("Choice", (f"{says[0].upper()}{says[1:]}.", *near), tables)


def _commands(choice: Choice, bound: float, source: Source) -> list[Section]:
    rows = commands(choice, bound, source)
    if not rows:
        return []
    columns = ("setting", "release", "report")
    note = f"{CONTROL}: {HELD_BACK}."
    return [Section(COMMANDS, tables=(Table("Release of the whole table, and report", columns, rows, note=note),))]


def _row(one: Finalist, whole: float | None) -> list[Value]:
    exposure = one.exposure
    rows = "synthetic" if is_of(one.entry, SYNTHETIC) else "of people"
    if exposure is None or exposure.utility is None or exposure.overall is None:
        return [_label(one.entry), NO if one.refused else "not played", rows, "", None, whole, "", "", None, None]
    worst = exposure.overall
    how_met = "for sure" if one.sure else "in these plays"
    return [
        _label(one.entry),
        NO if one.refused else how_met if one.meets else "not shown",
        rows,
        exposure.guarantee,
        exposure.utility.value,
        whole,
        label(worst.attack, worst.attack_parameters),
        goal_words(worst.goal),
        max(0.0, worst.advantage),
        one.upper,
    ]


def _costs(entries: Sequence[NamedMethod], effects: Mapping[str, Effect]) -> list[Section]:
    """What each setting does to each column of the whole table."""
    shown = list(dict.fromkeys(_label(one) for one in entries if _label(one) in effects))
    if not shown:
        return []
    columns = list(effects[shown[0]].costs)
    rows = [[column, *(effects[name].costs.get(column, "left out") for name in shown)] for column in columns]
    table = Table("What each setting does to the columns of the whole table", ("column", *shown), rows)
    return [Section("Costs", tuple(f"{one}." for one in hidden_warnings(effects)), (table,))]


def _front(choice: Choice, bound: float) -> list[Section]:
    """Settings that no other one beats, as a table and a picture."""
    best = front(choice.measured)
    if not best:
        return []
    rows: list[list[Value]] = [[_name(one), _utility(one), _upper(one)] for one in best]
    series = [Series("front while choosing", [_upper(one) for one in best], [_utility(one) for one in best])]
    fresh = sorted(
        (one.upper, _utility(one.exposure))
        for one in choice.finalists
        if one.exposure is not None and one.upper is not None
    )
    if fresh:
        x, y = zip(*fresh, strict=True)
        series.append(Series("finalists on fresh plays", x, y))
    inside = sum(_upper(one) <= bound for one in best)
    note = (
        f"Settings measured while choosing: {len(choice.measured)}, most in few plays, which makes their upper bounds "
        f"high; {inside} of this front {'lies' if inside == 1 else 'lie'} within {exact(bound)}. Fresh plays confirm "
        "the finalists, whose numbers differ from those here."
    )
    return [
        Section(
            "Front",
            tables=(
                Table(
                    "Utility against risk while choosing", ("setting", "utility", "advantage at most"), rows, 3, note
                ),
            ),
            lines=(
                Lines(
                    "Utility against risk", "advantage of the worst attack, at most", "utility", tuple(series), "higher"
                ),
            ),
        )
    ]


def _label(entry: NamedMethod) -> str:
    return label(entry.name, entry.parameters)


def _name(exposure: Exposure) -> str:
    return label(exposure.defense, exposure.parameters)


def _utility(exposure: Exposure | None) -> float:
    return 0.0 if exposure is None or exposure.utility is None else exposure.utility.value


def _upper(exposure: Exposure) -> float:
    return 1.0 if exposure.overall is None else min(1.0, exposure.overall.upper)
