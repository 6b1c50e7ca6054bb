"""The settings that `tokumei choose` plays on a table, and the people whom each play draws from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from leaderboard.results.result import label
from metrics.columns import refuse, require, unchanged_cells
from scenarios.assessment.choosing.goals import QUESTIONS, is_of
from scenarios.running.methods.methods import build, find
from scenarios.running.plan import NamedMethod, Plan, plan_from_tables
from scenarios.tables import Dataset, generator, scenario_path, scenario_tables
from scenarios.tables.review.households import Units

SCENARIO = "portfolio"
MOST, FEWEST = 1000, 20
"""Number of people in a release: the default for large tables, and the least."""


@dataclass(frozen=True)
class Portfolio:
    """A plan of settings that fit a table.

    - plan: Games, settings and attacks; its number of plays and its attacks change from round to round.
    - notes: What is not asked or not played, and why.
    """

    plan: Plan
    notes: tuple[str, ...]

    @property
    def goals(self) -> frozenset[str]:
        """Goals that are asked about; attacks may be scored for others beside."""
        return frozenset(goal for game in self.plan.games for goal in game.takes)

    @property
    def people(self) -> int:
        """Number of people in a release."""
        return int(self.plan.games[0].originals)  # type: ignore[attr-defined]  # the game is SharedPeople


def read_portfolio(
    dataset: Dataset,
    *,
    goals: Sequence[str] = (),
    people: int | None = None,
    keep: Sequence[str] = (),
    only: Sequence[str] = (),
    seed: int = 1,
) -> Portfolio:
    """The portfolio for a table.

    - goals: Goals of the attacks, keys of `QUESTIONS`. By default all that can be asked about the table.
    - people: Number of people in a release, and of people who are not in it. By default two fifths of the table, at
      most `MOST`.
    - keep: Columns that a release must hold unchanged.
    - only: Kinds of settings to play (`scenarios.assessment.choosing.goals.KINDS`). By default all.

    A ValueError is raised if the table is too small for a goal, a column does not exist, or no setting fits.
    """
    records = dataset.records
    for name in keep:
        records.check_released("--keep", name)
    sizes = _sizes(Units.of(records), people)
    asked, notes = _questions(dataset, goals, sizes["originals"])
    path = scenario_path(SCENARIO)
    tables = scenario_tables(path)
    tables["scenario"]["seed"] = seed
    tables["scenario"]["game"] |= {**sizes, "question": asked}
    pursued = {goal for name in asked for goal in _class_attribute(name, "questions", "takes")}
    tables["attack"] = [
        attack for attack in tables["attack"] if _class_attribute(attack["use"], "attacks", "goal") in pursued
    ]
    plan = plan_from_tables(path, tables, dataset)
    if only:
        wanted = tuple(entry for entry in plan.defenses if any(is_of(entry, kind) for kind in only))
        plan = replace(plan, defenses=wanted)
    fitting, misfits = _fitting(plan, keep)
    require(fitting, f"no setting of the portfolio fits the table: {'; '.join(misfits)}")
    return Portfolio(replace(plan, defenses=fitting), (*notes, *misfits))


def _class_attribute(name: str, package: str, attribute: str) -> Any:
    """An attribute of the class that a package exports by a name."""
    return getattr(find(name, package), attribute)


def _sizes(units: Units, people: int | None) -> dict[str, int]:
    """Parameters of the game for a table; what originals and others leave is halved for the two other groups."""
    size, of = units.size, units.words
    refuse(size < FEWEST * 5 // 2, f"the table has {of}; {FEWEST * 5 // 2} are needed to release one part of them")
    people = min(MOST, 2 * size // 5) if people is None else people
    require(
        FEWEST <= people <= size // 2,
        f"--people must be from {FEWEST} to {size // 2}, half of the table's {of}, got {people}",
    )
    rest = min(people, (size - 2 * people) // 2)
    return {"originals": people, "others": people, "auxiliary": rest, "held_out": rest}


def _questions(dataset: Dataset, goals: Sequence[str], people: int) -> tuple[list[str], list[str]]:
    """Questions that can be asked, and a note for each that cannot.

    A ValueError is raised if a goal that was named cannot be asked about, or none can.
    """
    asked, notes = [], []
    for goal in dict.fromkeys(goals or QUESTIONS):
        try:
            build({"use": QUESTIONS[goal]}, "questions").check(dataset.records, people, people)
        except ValueError as error:
            if goals:
                raise ValueError(f"--goal {goal}: {error}") from None
            notes.append(f"{goal} are not asked about: {error}")
        else:
            asked.append(QUESTIONS[goal])
    require(asked, f"nothing can be asked about this table: {'; '.join(notes)}")
    return asked, notes


def _fitting(plan: Plan, keep: Sequence[str]) -> tuple[tuple[NamedMethod, ...], list[str]]:
    """Settings that can release the people of the first play with the columns to keep, and notes on the others."""
    secret: Any = plan.games[0].draw(generator(plan.seed, plan.name, "draw", 0))
    fitting, reasons = [], defaultdict(set)
    for entry in plan.defenses:
        try:
            entry.method.check(secret.records)
            entry.method.guarantee(secret.records)
            changed = _changed(entry, secret.records, keep, plan) if keep else []
        except ValueError as error:
            reasons[str(error)].add(label(entry.name, entry.parameters))
            continue
        if changed:
            reasons[f"changes {', '.join(changed)}"].add(label(entry.name, entry.parameters))
        else:
            fitting.append(entry)
    left_out = [f"not played: {', '.join(sorted(names))}: {why}" for why, names in sorted(reasons.items())]
    return tuple(fitting), left_out


def _changed(entry: NamedMethod, records: Any, keep: Sequence[str], plan: Plan) -> list[str]:
    """Columns to keep that a release does not hold as they are, in its analysts' table."""
    release = entry.method.apply(records, generator(plan.seed, plan.name, "keep", 0))
    table, origin = release.analyst_table, release.origin
    if (origin < 0).any():
        return list(keep)
    return [
        name
        for name in keep
        if name not in table.columns
        or not unchanged_cells(records.frame[name].iloc[origin], table[name], records.domain(name)).all()
    ]
