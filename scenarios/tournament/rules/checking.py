"""Check of a team's table from its own files: validity, utility, and success of the baseline attacks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from defenses.base import Microdata
from leaderboard.pages import counted, text_table
from leaderboard.results.goals import goal_words
from metrics.columns import Floats, Integers, Sentence, refuse
from metrics.profile import original_profile, profile, record_similarity
from scenarios.games import GivenPeople
from scenarios.games.decoys import NearGroups
from scenarios.tables import generator, json_text, load_table, read_bytes, read_toml
from scenarios.tournament.rules.folder import Tournament, originals_of
from scenarios.tournament.rules.opening import decimals
from scenarios.tournament.rules.scoring import AttackedTable, baseline_name, house_attacks, seed_name
from scenarios.tournament.rules.settings import FILE, Settings
from scenarios.tournament.rules.sheets import (
    ORIGINAL_ROW,
    Asked,
    Sheet,
    form_of,
    notes_on,
    read_answers,
    read_sheet,
    read_submission,
)
from scenarios.tournament.rules.standings import AttackOutcome, best_outcome
from scenarios.tournament.rules.submission_utility import Originals, RecordCosts, SubmissionUtility

# Whether a table's rows resemble the originals that its team declares as theirs.

_LEAST_GAIN = 0.02
"""Smallest gain of the host's assignment in similarity that tells rows apart."""
_LEAST_SHARE = 0.15
"""Share of this gain below which the declared originals resemble the rows like any others: on 100 bank records, wrong
orders had at most 0.08, and defenses with the right one 0.29, unless they kept less than a third of the values."""


@dataclass(frozen=True)
class OriginFit:
    """Mean similarity of a table's rows to originals, in [0, 1].

    Attributes
    ----------
    declared : float
        To the originals that the team declares as theirs.
    overall : float
        To all originals.
    assigned : float
        To the originals that a one-to-one assignment gives them.
    """

    declared: float
    overall: float
    assigned: float

    @classmethod
    def of(cls, originals: Originals, sheet: Sheet, assigned: Integers) -> OriginFit:
        """Fit of a table, given the host's assignment of its rows; -1 is a row without an original."""
        similarity = record_similarity(
            original_profile(originals.frame, originals.domains),
            profile(sheet.frame, originals.domains),
            originals.domains,
        )
        # Rows without a declared original say nothing about the others.
        rows = np.flatnonzero(sheet.origin >= 0)
        if not rows.size:
            return cls(1.0, 1.0, 1.0)
        return cls(
            _mean(similarity, sheet.origin, rows),
            float(similarity[:, rows].mean()),
            _mean(similarity, assigned, rows),
        )

    def words(self) -> str:
        """A warning in one line; empty if the declared originals fit."""
        gain = self.assigned - self.overall
        if gain < _LEAST_GAIN or self.declared - self.overall >= _LEAST_SHARE * gain:
            return ""
        return Sentence(
            "warning: rows resemble the originals that {column} names no more than all others (similarity "
            "{declared:.3f} and {overall:.3f}; other origins reach {assigned:.3f}); is {column} in the order of the "
            "rows?",
            column=ORIGINAL_ROW,
            declared=self.declared,
            overall=self.overall,
            assigned=self.assigned,
        )


def _mean(similarity: Floats, origin: Integers, rows: Integers) -> float:
    """Mean similarity of some rows to their origins; those without one are left out."""
    with_one = rows[origin[rows] >= 0]
    return float(similarity[origin[with_one], with_one].mean()) if with_one.size else 0.0


NO_SETTINGS = (
    f"note: there is no {FILE} beside the originals, so the host's utility may differ; copy it from the team's folder"
)


@dataclass(frozen=True)
class CheckReport:
    """Validity, utility and defense of a table before it is submitted.

    Attributes
    ----------
    sheet : Sheet
        The table as it would be published.
    utility : SubmissionUtility
        Its utility, with the tournament's settings exactly as the host will compute it. Without other people it lacks
        the classifier.
    outcomes : tuple of AttackOutcome
        Outcomes of the baseline attacks, strongest first; empty if there are no other people for decoys.
    decoys : int
        Number of decoys among the candidates.
    costs : RecordCosts or None
        What each column costs of the utility of the records; None if nothing can be lost.
    fit : OriginFit
        Whether the rows resemble the originals that the table declares as theirs.
    note : str
        Why the host's numbers may differ; empty if the tournament's settings were used.
    """

    sheet: Sheet
    utility: SubmissionUtility
    outcomes: tuple[AttackOutcome, ...]
    decoys: int
    costs: RecordCosts | None
    fit: OriginFit
    note: str = ""

    @property
    def defense(self) -> float | None:
        """Utility x (1 - the largest advantage) against the baseline attacks only; other teams may attack better."""
        return self.utility.counted * (1 - self.outcomes[0].advantage) if self.outcomes else None


def check(path: Path, original: Path, *, roles: Path | None = None, others: Path | None = None) -> CheckReport:
    """Check an anonymized table against its originals."""
    folder = original.parent
    roles = roles or _if_file(folder / "roles.toml")
    others = others or _if_file(folder / "others.csv")
    dataset = load_table(original, roles)
    records = dataset.records
    settings = _settings(folder / FILE, records)
    sheet = read_sheet(path.name, read_submission(path), form_of(dataset, settings))
    people = load_table(others, roles).records if others else None
    report = measured(sheet, records, people, settings, folder)
    return report if _if_file(folder / FILE) else replace(report, note=NO_SETTINGS)


def check_answers(path: Path, released: Path, candidates: Path) -> tuple[str, ...]:
    """Check a correspondence table before it is submitted; the settings beside it say what a contest asks."""
    rows, people = (len(load_table(one).records) for one in (released, candidates))
    file, own = path.parent / FILE, next(path.parent.glob("*_original.csv"), None)
    asked = Asked()
    if own and file.is_file() and (settings := read_toml(file, read_bytes(file), Settings)).rules.cuts:
        dataset = load_table(own, path.parent / "roles.toml")
        asked = Asked.of(settings.rules, dataset.records, form_of(dataset, settings))
    return notes_on(read_answers(path.name, read_submission(path), rows, people, asked))


def measured(
    sheet: Sheet, records: Microdata, people: Microdata | None, settings: Settings, folder: Path
) -> CheckReport:
    """Utility of a valid table, and outcomes of the baseline attacks on it; `folder` has the host's own measures."""
    scale = originals_of(records, settings.queries_seed, people, settings.rules, folder)
    utility = scale.utility(sheet.frame, sheet.origin)
    costs = scale.record_costs(sheet.frame, sheet.origin)
    if people is None:
        assigned = scale.best_origin(sheet.frame, generator(0, "check", "map"))
        return CheckReport(sheet, utility, (), 0, costs, OriginFit.of(scale, sheet, assigned))
    origins = scale.origins(sheet.origin, sheet.frame, generator(0, "check", "map"))
    outcomes, count = _outcomes(sheet, records, people, settings, origins)
    strongest = tuple(sorted(outcomes, key=lambda one: -one.advantage))
    return CheckReport(sheet, utility, strongest, count, costs, OriginFit.of(scale, sheet, origins["assigned"]))


def _if_file(path: Path) -> Path | None:
    return path if path.is_file() else None


def _settings(path: Path, records: Microdata) -> Settings:
    """The tournament's settings; without a file, those of a tournament with these originals and as many decoys."""
    if path.is_file():
        settings = read_toml(path, read_bytes(path), Settings)
        refuse(
            settings.originals != len(records),
            f"{path}: expects {settings.originals} originals, but there are {len(records)}",
        )
        return settings
    end = "2100-01-01T00:00:00+00:00"
    return Settings(
        title="",
        teams=["a", "b"],
        originals=len(records),
        candidates=2 * len(records),
        anonymize_until=end,
        attack_until=end,
        queries_seed=0,
        decimals=decimals(records),
    )


def _outcomes(
    sheet: Sheet, records: Microdata, people: Microdata, settings: Settings, origins: Mapping[str, np.ndarray]
) -> tuple[list[AttackOutcome], int]:
    """Outcomes of the baseline attacks on the table with the originals among decoys, and the number of decoys."""
    rng = generator(0, "check", "decoys")
    count = min(settings.candidates - settings.originals, len(people))
    together = records.with_frame(pd.concat([records.frame, people.frame[records.frame.columns]], ignore_index=True))
    own, pool = np.arange(len(records)), len(records) + np.arange(len(people))
    group = 1 + count // len(records)
    if settings.decoys == "hard" and group > 1:
        # The originals and the others are both random draws from the population: mixed, they can be grouped anew.
        mixed = rng.permutation(len(together) - len(together) % group)
        near = NearGroups(together.take(mixed), group)
        decoys = mixed[near.decoys(np.argsort(mixed)[own], rng)]
    else:
        decoys = rng.choice(pool, count, replace=False)
    order = rng.permutation(len(records) + decoys.size)
    auxiliary = together.take(np.setdiff1d(pool, decoys))
    attacked = AttackedTable.of(
        sheet.frame, GivenPeople(records, together.take(decoys), auxiliary, order, rng), settings.rules
    )
    outcomes = []
    for attack in house_attacks(settings.rules):
        name = baseline_name(attack)
        claims = attacked.claims(attack, generator(0, "check", seed_name(name)))
        outcomes.append(
            best_outcome(name, attacked.scores(claims, origins, (0, "check", "score", seed_name(name))).goals)
        )
    return outcomes, decoys.size


# Check report of a table as text and JSON.


def check_report_to_terminal(report: CheckReport) -> str:
    """Check report as plain text."""
    utility = report.utility
    parts = ", ".join(f"{name} {value:.3f}" for name, value in (utility.listed or utility.components).items())
    how = f"the smaller one of two: of the table {utility.table:.3f} ({parts}), of the records {utility.record:.3f}"
    how = f"made of {parts}" if utility.listed else how
    rows = [
        [one.attacker, goal_words(one.goal), *(f"{value:.3f}" for value in (one.success, one.chance, one.advantage))]
        for one in report.outcomes
    ]
    lines = [
        f"valid: {counted(len(report.sheet.frame), 'row')}",
        f"utility {utility.counted:.3f}, {how}",
        *filter(None, (report.note, report.costs.words() if report.costs else "", report.fit.words())),
    ]
    if rows:
        table = text_table(("attack", "best at", "success", "chance", "advantage"), rows)
        end = f"defense {report.defense:.3f} against these attacks, with {report.decoys} decoys from others.csv; the "
        lines += ["", table, "", f"{end}tournament uses other decoys, and teams may attack better"]
    else:
        lines.append(
            "no attack was played and no classifier tested: there is no others.csv in the folder of the originals "
            "(--others names another file)"
        )
    return "\n".join(lines)


def check_report_to_json(report: CheckReport) -> str:
    """Check report as JSON."""
    utility = report.utility
    content = {
        "rows": len(report.sheet.frame),
        "utility": utility.counted,
        "utility_table": utility.table,
        "utility_record": utility.record,
        "components": utility.components,
        "measures": utility.listed,
        "record_costs": report.costs and {**report.costs.columns, "originals without a row": report.costs.left_out},
        "dearest": report.costs.words() if report.costs else "",
        "warning": report.fit.words(),
        "note": report.note,
        "decoys": report.decoys,
        "defense": report.defense,
        "attacks": [
            {
                "attack": one.attacker,
                "goal": one.goal,
                "success": one.success,
                "chance": one.chance,
                "advantage": one.advantage,
            }
            for one in report.outcomes
        ],
    }
    return json_text(content)


# Preview of a table before its team submits it: utility, and the built-in attacks with decoys of its own.


def preview(tournament: Tournament, team: str, name: str, data: bytes) -> CheckReport:
    """Check a table against its team's originals; nothing is recorded or archived.

    It uses what the team holds itself: its originals, and the people in ``others.csv`` as decoys. The report is the one
    that `scenarios.tournament.rules.checking.check` gives in the team's folder.
    """
    tournament.team_folder(team)
    dataset = tournament.dataset(team)
    sheet = read_sheet(name, data, form_of(dataset, tournament.settings))
    people = tournament.records(others) if (others := tournament.people) is not None else None
    return measured(sheet, dataset.records, people, tournament.settings, tournament.host)
