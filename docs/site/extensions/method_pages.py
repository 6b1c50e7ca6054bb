"""Writes a page for each method, metric, data set and scenario, and the indexes by family."""

import tomllib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import board_data
import board_pictures
import catalog
from catalog import Entry
from docstring_text import rest
from page_run import SITE

INTRODUCTIONS = {
    "defenses": "A defense turns records into a release. Each page states its guarantee, its parameters, and how it "
    "did on the standing board.",
    "mechanisms": "Mechanisms of central and local differential privacy, of which defenses and curators are made.",
    "attacks": "An attack turns a release and knowledge into claims about people. Each page shows how strong it was "
    "against each defense of the standing board.",
    "games": "A game draws people, lets a defense release them, and judges what an attack claims.",
    "experiments": "An experiment measures something else than one release against one attack.",
    "metrics": "Numbers about tables, classes and attacks.",
    "queries": "What ``tokumei ask`` and curators answer.",
    "datasets": "Tables that come with Tokumei, or are made or installed by it.",
    "scenarios": "Scenario files that come with Tokumei: ``tokumei run NAME`` plays one.",
}


def heading(text: str, mark: str = "=") -> list[str]:
    """A title with its underline."""
    return ["", text, mark * max(len(text), 4), ""]


def raw(html: str) -> list[str]:
    """HTML that Sphinx copies into the page."""
    return ["", ".. raw:: html", "", f"   {html}", ""]


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """A list table."""
    lines = ["", ".. list-table::", "   :header-rows: 1", "   :class: board", ""]
    for row in [header, *rows]:
        lines += [f"   {'*' if number == 0 else ' '} - {cell}" for number, cell in enumerate(row)]
    return [*lines, ""]


def link(entry: Entry, text: str = "") -> str:
    """Link to the page of an entry."""
    return f":doc:`{text or entry.name} </{entry.page}>`"


def link_by_name(name: str, kind: str) -> str:
    """Link to a name of a kind, or the name as a literal if it has no page."""
    entry = next((one for one in catalog.entries()[kind] if one.name == name), None)
    return link(entry) if entry else f"``{name}``"


def played() -> dict[str, list[str]]:
    """Scenarios in which each defense, attack, game, experiment and data set occurs, by name."""
    from scenarios.tables.toml.scenario_file import library, scenario_tables

    result: dict[str, list[str]] = defaultdict(list)
    for scenario, path in library().items():
        for name in sorted(_names_in(scenario_tables(path))):
            result[name].append(scenario)
    return result


def _names_in(value: object) -> set[str]:
    """Names of methods and data sets anywhere in the tables of a scenario, except for those that are left out."""
    names: set[str] = set()
    if isinstance(value, dict):
        for key, item in value.items():
            if key in {"use", "dataset"} and isinstance(item, str):
                names.add(item)
            elif key != "left_out":
                names |= _names_in(item)
    elif isinstance(value, list):
        for item in value:
            names |= _names_in(item)
    return names


def left_out() -> dict[str, str]:
    """Why the standing board leaves a method out."""
    from scenarios.tables.toml.scenario_file import library, scenario_tables

    return {name: one["reason"] for one in scenario_tables(library()["arena"])["left_out"] for name in one["use"]}


class MethodPages:
    """All generated pages of one language.

    Parameters
    ----------
    folder : Path
        Root of the language's sources.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._played = played()
        self._left_out = left_out()
        self._formulas = tomllib.loads((SITE / "formulas.toml").read_text(encoding="utf-8"))
        unknown = set(self._formulas) - set(catalog.paths())
        if unknown:
            raise ValueError(f"formulas.toml: nothing is named {', '.join(sorted(unknown))}")

    def write(self) -> None:
        """Write all pages."""
        for kind, found in catalog.entries().items():
            for entry in found:
                self._write(entry.page, self._page(entry))
            self._write(f"methods/{kind}/index", self._index(kind, found))
        lines = [*heading("Methods"), "Every page is generated from the code and from the published board.", ""]
        lines += [".. toctree::", "   :maxdepth: 1", "", *(f"   {kind}/index" for kind in catalog.KINDS), ""]
        self._write("methods/index", lines)

    def _write(self, page: str, lines: list[str]) -> None:
        path = self._folder / f"{page}.rst"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def _index(self, kind: str, found: list[Entry]) -> list[str]:
        lines = [*heading(catalog.KINDS[kind]), INTRODUCTIONS[kind], ""]
        groups: dict[str, list[Entry]] = defaultdict(list)
        order = [title for package in catalog.API_PACKAGES for title in catalog.families(package)]
        for entry in found:
            groups[entry.family].append(entry)
        for title in sorted(groups, key=lambda one: order.index(one) if one in order else -1):
            lines += heading(title, "-") if title else []
            lines += table(["name", "what it is"], [[link(one), self._summary(one)] for one in groups[title]])
        return [*lines, ".. toctree::", "   :hidden:", "", *(f"   {entry.name}" for entry in found), ""]

    def _summary(self, entry: Entry) -> str:
        if entry.thing is not None:
            return rest(catalog.first_line(entry.thing), entry.thing)
        if entry.kind == "scenarios":
            return self._scenario(entry.name)["scenario"].get("title", "")
        from scenarios.datasets import load

        return load(entry.name).title

    @staticmethod
    def _scenario(name: str) -> dict:
        from scenarios.tables.toml.scenario_file import library, scenario_tables

        return scenario_tables(library()[name])

    def _page(self, entry: Entry) -> list[str]:
        lines = heading(entry.name)
        if entry.kind == "datasets":
            return [*lines, *_dataset(entry.name), *self._occurrences(entry)]
        if entry.kind == "scenarios":
            return [*lines, *self._scenario_page(entry.name)]
        package, _, name = entry.path.rpartition(".")
        where = f" of the family *{entry.family.partition(':')[0]}*" if entry.family else ""
        lines += [f"{catalog.KINDS[entry.kind][:-1].replace('rie', 'ry')}{where}.", ""]
        if entry.name in self._formulas:
            lines += [".. math::", "", f"   {self._formulas[entry.name]}", ""]
        is_class = isinstance(entry.thing, type)
        lines += [f".. {'autoclass' if is_class else 'autofunction'}:: {package}.{name}"]
        if own := _own_members(entry.thing) if is_class else []:
            lines += [f"   :members: {', '.join(own)}"]
        lines += ["", *self._on_the_board(entry), *self._occurrences(entry), *_conformance(entry)]
        return lines

    def _on_the_board(self, entry: Entry) -> list[str]:
        if entry.kind == "defenses" and any(point.family == entry.name for point in board_data.points()):
            return [*_board_heading(), *_defense_lines(entry.name)]
        if entry.kind == "attacks" and not board_data.by_attack(entry.name).empty:
            return [*_board_heading(), *_attack_lines(entry.name)]
        if entry.name in self._left_out:
            reason = rest(self._left_out[entry.name])
            return [*heading("On the standing board", "-"), f"The board leaves it out. {reason}", ""]
        return []

    def _occurrences(self, entry: Entry) -> list[str]:
        names = self._played.get(entry.name, [])
        if not names or entry.kind in {"metrics", "queries", "mechanisms"}:
            return []
        links = ", ".join(link_by_name(name, "scenarios") for name in names)
        return [*heading("Scenarios", "-"), f"It occurs in {links}.", ""]

    def _scenario_page(self, name: str) -> list[str]:
        from scenarios.tables.toml import library

        tables = self._scenario(name)
        lines = [tables["scenario"].get("title", ""), "", ".. code-block:: console", "", f"   $ tokumei run {name}", ""]
        names = _names_in(tables)
        for kind in ("games", "experiments", "datasets", "defenses", "attacks"):
            if links := [link(one) for one in catalog.entries()[kind] if one.name in names]:
                lines += [f"{catalog.KINDS[kind]}: {', '.join(links)}.", ""]
        text = library()[name].read_text(encoding="utf-8")
        lines += [*heading("The file", "-"), ".. code-block:: toml", ""]
        return [*lines, *(f"   {line}" if line else "" for line in text.split("\n")), ""]


def _own_members(thing: type) -> list[str]:
    """Public methods and properties of a class that its bases do not define and its docstring names."""
    inherited = {name for base in thing.__mro__[1:] for name in vars(base)}
    text = thing.__doc__ or ""
    return [
        name
        for name, value in vars(thing).items()
        if f"`{name}`" in text and name not in inherited and getattr(value, "__doc__", None)
    ]


def _board_heading() -> list[str]:
    facts = board_data.record()
    plays = max(facts["plays"].values())
    text = (
        f"The :doc:`arena </methods/scenarios/arena>`, played {plays} times on each data set with version "
        f"{facts['version']}, recorded on {facts['played'][:10]}. Success, chance and advantage are explained in "
        ":doc:`/start`."
    )
    return [*heading("On the standing board", "-"), text, ""]


def _defense_lines(name: str) -> list[str]:
    lines = raw(f'<div class="run-picture">{board_pictures.curve(name)}</div>')
    mine = [point for point in board_data.points() if point.family == name]
    mine.sort(key=lambda one: (one.scenario, one.advantage))
    rows = [
        [
            point.scenario.removeprefix("arena on "),
            f"``{point.setting}``" if point.setting else "default",
            rest(point.guarantee),
            f"{point.utility:.2f}",
            f"{point.advantage:.2f}",
            f"{min(point.upper, 1):.2f}",
            link_by_name(point.attack, "attacks"),
        ]
        for point in mine
    ]
    lines += table(
        ["data", "setting", "guarantee", "utility", "worst advantage", "at most (95 %)", "worst attack"], rows
    )
    lines += [*heading("Attacks against it", "-"), "Advantage over all settings of the board, largest first.", ""]
    found = board_data.against_defense(name)
    rows = [
        [link_by_name(attack, "attacks"), f"{row['max']:.2f}", f"{row['mean']:.2f}"] for attack, row in found.iterrows()
    ]
    return lines + table(["attack", "largest", "mean"], rows)


def _attack_lines(name: str) -> list[str]:
    worst, total = board_data.worst_count(name)
    lines = [f"It was the worst attack on {worst} of {total} settings.", ""]
    lines += raw(f'<div class="run-picture">{board_pictures.strip(name)}</div>')
    lines += ["Advantage against each defense, over all its settings.", ""]
    rows = [
        [link_by_name(defense, "defenses"), *(f"{row[column]:.2f}" for column in ("max", "mean", "min"))]
        for defense, row in board_data.by_attack(name).iterrows()
    ]
    return lines + table(["defense", "largest", "mean", "smallest"], rows)


def _conformance(entry: Entry) -> list[str]:
    """Checks of the conformance suite that apply to a defense or attack."""
    if entry.kind not in {"defenses", "attacks"}:
        return []
    from scenarios.checks.conformance.suite import checks

    titles = [f"- {rest(title)}" for title, _ in checks(entry.thing)]
    intro = f"The tests of every version run these checks; so does ``tokumei check {entry.name}``."
    return [
        *heading("Conformance", "-"),
        ".. folded:: " + f"{len(titles)} checks",
        "",
        f"   {intro}",
        "",
        *(f"   {title}" for title in titles),
        "",
    ]


def _dataset(name: str) -> list[str]:
    """Title, source, licence, size and columns of a data set."""
    from scenarios.datasets import load
    from scenarios.tables.review.summary import ColumnSummary, summary

    try:
        dataset = load(name)
    except ValueError as error:
        return [str(error), ""]
    facts = [f"{len(dataset.records):,} records", f"Licence: {dataset.licence}"]
    lines = [rest(dataset.title), "", rest(dataset.citation), "", *(f"- {rest(fact)}" for fact in facts)]
    rows = [[rest(str(value)) or "-" for value in row] for row in summary(dataset)]
    return [
        *lines,
        *heading("Columns", "-"),
        *table([field.replace("_", " ") for field in ColumnSummary._fields], rows),
    ]
