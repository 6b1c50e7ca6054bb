"""A board in Python: its results as data frames, pictures, pages and tables."""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import leaderboard as lb
from leaderboard import BaselineDifference, Change, Earlier, GateCheck, Pair, Row, StatedGuarantee
from leaderboard.pages import StandalonePicture, pictures_of, place_title, text_table
from leaderboard.results.result import FAILURES, Result, label
from leaderboard.results.version import version
from metrics.columns import refuse, require, write_atomically
from scenarios.running.display import short_reason, trial_name
from scenarios.running.methods.methods import defense_kinds, one_liners

if TYPE_CHECKING:
    import pandas as pd


# Names of methods as tables show them: a user's class by its class name, where that says which class it is.

PARTS = (
    *("defense", "parameters", "base_defense", "base_parameters"),
    *("attack", "attack_parameters", "baseline", "baseline_parameters"),
)
"""Fields that name methods, alone or among their parameters."""


One = TypeVar("One", Result, StatedGuarantee, Change, BaselineDifference)
Other = TypeVar("Other", Change, BaselineDifference)


def shown_board(
    results: Sequence[Result], guarantees: Sequence[StatedGuarantee] = ()
) -> tuple[list[Result], list[StatedGuarantee]]:
    """Results and guarantees of a board with ``module:Class`` shortened to the class name where that is not ambiguous.

    A name stays as it is if another method on the board has its class name, or a method that Tokumei exports. Files for
    programs (CSV, JSON) and the database keep the stored names.

    Examples
    --------
    >>> from leaderboard import Result
    >>> common = {"key": "1" * 64, "scenario": "bank", "play": 0}
    >>> results, _ = shown_board([Result(defense=name, **common) for name in ("mine:Rounded", "mine:Mondrian")])
    >>> [result.defense for result in results]
    ['Rounded', 'mine:Mondrian']
    """
    names = class_names(results)
    return _all_renamed(results, names), _all_renamed(guarantees, names)


def shown_rows(rows: Sequence[Other]) -> list[Other]:
    """Rows of a comparison with the names that tables show, as `shown_board` has them."""
    return _all_renamed(rows, class_names(rows))


def class_names(named: Iterable[Result | Change | BaselineDifference]) -> dict[str, str]:
    """Class name of each method ``module:Class`` whose class name no other method has, by stored name."""
    owners: dict[str, set[str]] = defaultdict(set)
    for name in {name for one in named for name in _names_in(one)}:
        owners[name.rpartition(":")[2]].add(name)
    taken = {name for package in ("defenses", "attacks") for name in importlib.import_module(package).__all__}
    return {
        name: short
        for short, (name, *others) in ((short, sorted(names)) for short, names in owners.items())
        if name != short and not others and short not in taken
    }


def _names_in(one: Any) -> Iterator[str]:
    for part in PARTS:
        value = getattr(one, part, None)
        if isinstance(value, str):
            yield value
        else:
            yield from _used(value)


def _used(value: Any) -> Iterator[str]:
    """Names of methods among parameters: values of ``use``."""
    if isinstance(value, Mapping) and "use" in value:
        yield str(value["use"])
    parts = list(value.values()) if isinstance(value, Mapping) else value
    for part in parts if isinstance(parts, list | tuple) else ():
        yield from _used(part)


def _all_renamed(group: Sequence[One], names: Mapping[str, str]) -> list[One]:
    return [_renamed(one, names) for one in group] if names else list(group)


def _renamed(one: One, names: Mapping[str, str]) -> One:
    present = {part: getattr(one, part) for part in PARTS if getattr(one, part, None)}
    changes: dict[str, Any] = {
        part: names.get(value, value) if isinstance(value, str) else _with_names(value, names)
        for part, value in present.items()
    }
    return replace(one, **changes)


def _with_names(value: Any, names: Mapping[str, str]) -> Any:
    """Parameters whose methods are renamed."""
    if isinstance(value, Mapping):
        return {
            key: names.get(part, part) if key == "use" and isinstance(part, str) else _with_names(part, names)
            for key, part in value.items()
        }
    return [_with_names(part, names) for part in value] if isinstance(value, list | tuple) else value


# The HTML page of a board, with descriptions of all its methods.


def board_page(
    results: Sequence[Result], guarantees: Sequence[StatedGuarantee] = (), earlier: Sequence[Earlier] = ()
) -> str:
    """HTML page of a board with at least one result, of what the guarantees cover, and of what the board leaves out.

    - guarantees: What the defenses guarantee.
    - earlier: Results of earlier versions of methods, which the board leaves out.
    """
    results, guarantees = shown_board(results, guarantees)
    names = {name for result in results for name in _method_names(result)}
    about = {
        "scenario": ", ".join(sorted({result.scenario for result in results})),
        "plays": str(1 + max(result.play for result in results)),
        "version": f"tokumei {version()}",
        "played": max(result.created for result in results)[:10],
    }
    settings = lb.exposures(results)
    return lb.render_page(
        lb.rank(results),
        lb.matrix(results),
        about,
        one_liners(names),
        kinds=defense_kinds(names),
        exposures=settings,
        summary=lb.summary_tables(results, settings) if lb.needs_summary(results) else None,
        guarantees=guarantees,
        earlier=earlier,
    )


def _method_names(result: Result) -> Iterator[str]:
    """Names of the defense, of the steps of a pipeline, and of the attack."""
    yield result.defense
    if result.attack:
        yield result.attack
    for step in result.parameters.get("steps", []):
        yield step["use"]


# Failures of a board, which print as a line each.


class FailureList(list[Result]):
    """Results that failed. The list prints their names and reasons; each result holds its whole traceback in `reason`.

    Examples
    --------
    >>> from leaderboard import Result
    >>> result = Result(key="1" * 64, scenario="bank", defense="Mondrian", attack="RMIA", play=0, status="timeout")
    >>> FailureList([result])
    timeout: bank: Mondrian against RMIA, play 0
    >>> FailureList()
    no failures
    """

    def lines(self) -> list[str]:
        """Status, scenario, name and reason of each."""
        return [
            f"{result.status}: {result.scenario}: {trial_name(result)}"
            + (f": {short_reason(result.reason)}" if result.reason else "")
            for result in self
        ]

    def __repr__(self) -> str:
        return "\n".join(self.lines()) or "no failures"


class BoardResult:
    """Results of a run or of a database, as a board.

    A notebook shows it as a table for each scenario and variant. `tokumei.run` and `tokumei.read_board` make it.

    Parameters
    ----------
    results : sequence of Result
        Releases and trials, at most one per release and trial.
    guarantees : sequence of StatedGuarantee
        What the defenses guarantee.
    earlier : sequence of Earlier
        Results of earlier versions of methods, which the board leaves out. The table, the page and Markdown name them.

    Attributes
    ----------
    rows : list of Row
        The board: a row for each defense in each variant of each scenario, best score first.
    pairs : list of Pair
        The matrix: one defense against one attack each.

    Examples
    --------
    >>> from leaderboard import Result
    >>> from metrics import Score
    >>> common = {"scenario": "bank", "defense": "Mondrian", "play": 0}
    >>> scores = {"membership": Score("membership", rate=0.75, chance=0.5, trials=100)}
    >>> release = Result(key="1" * 64, values={"marginals": 0.5}, **common)
    >>> trial = Result(key="2" * 64, attack="NearestNeighbour", scores=scores, **common)
    >>> board = BoardResult([release, trial])
    >>> board.to_frame()[["defense", "utility", "advantage", "score"]].values.tolist()
    [['Mondrian', 0.5, 0.5, 0.25]]
    """

    def __init__(
        self, results: Sequence[Result], guarantees: Sequence[StatedGuarantee] = (), earlier: Sequence[Earlier] = ()
    ) -> None:
        self.results, self.guarantees, self.earlier = list(results), list(guarantees), list(earlier)
        self.rows: list[Row] = lb.rank(self.results)
        self.pairs: list[Pair] = lb.matrix(self.results)

    @property
    def failures(self) -> FailureList:
        """Releases and trials that failed, or ran out of time or memory; the list prints as a line each."""
        return FailureList(result for result in self.results if result.status in FAILURES)

    @cached_property
    def _shown_rows(self) -> list[Row]:
        """Rows with the names that tables show."""
        return lb.rank(shown_board(self.results)[0])

    def to_frame(self) -> pd.DataFrame:
        """The board as a data frame, one row for each defense in each variant.

        Returns
        -------
        DataFrame
            ``label``, the columns of the CSV (``leaderboard.BOARD_COLUMNS``), ``rank``, ``goal`` and ``failures``.
            Parameters are dictionaries; utility, success, chance, advantage and score are shares of 1.
        """
        import pandas as pd

        names = (*lb.BOARD_COLUMNS, "rank", "goal", "failures")
        rows = [(label(row.defense, row.parameters), *(getattr(row, name) for name in names)) for row in self.rows]
        return pd.DataFrame(rows, columns=["label", *names])

    def matrix(self) -> pd.DataFrame:
        """Every defense against every attack, one row for each pair and goal.

        Returns
        -------
        DataFrame
            ``scenario``, ``variant``, ``defense``, ``attack`` (both with parameters), ``goal``, ``success`` with
            ``low`` and ``high``, ``chance``, ``advantage`` (all shares of 1) and ``plays``. Pairs without success have
            one row with the reason in ``status`` and no goal.
        """
        import pandas as pd

        names = ("scenario", "variant", "defense", "attack", "goal", "success", "low", "high", "chance", "advantage")
        rows: list[tuple[Any, ...]] = []
        for pair in self.pairs:
            methods = label(pair.defense, pair.parameters), label(pair.attack, pair.attack_parameters)
            common = (pair.scenario, pair.variant, *methods)
            for goal, success in pair.successes.items():
                rate = success.rate
                numbers = (rate.value, rate.low, rate.high, success.chance, success.advantage)
                rows.append((*common, goal, *numbers, pair.plays, pair.status))
            if not pair.successes:
                rows.append((*common, None, *[None] * 5, pair.plays, pair.status))
        return pd.DataFrame(rows, columns=[*names, "plays", "status"])

    def against(self, baseline: str, *, by_defense: bool = False) -> pd.DataFrame:
        """Success of every attack compared with a baseline, paired by trial (`leaderboard.compare_with_baseline`).

        Parameters
        ----------
        baseline : str
            Name of an attack as the board shows it, such as ``"NearestNeighbour"``. Of several settings, the name
            alone means the one whose parameters all have their defaults.
        by_defense : bool
            Compare on each defense alone; the columns ``defense`` and ``parameters`` say on which.

        Returns
        -------
        DataFrame
            The columns ``leaderboard.BASELINE_COLUMNS``, one row for each other attack and goal. ``low`` and ``high``
            are the ends of the 95 % interval of ``difference``; ``significant`` is corrected for all rows (Holm).

        Raises
        ------
        ValueError
            If no attack has this name, or several settings have it and none of them all defaults.
        """
        import pandas as pd

        rows = lb.compare_with_baseline(self.results, baseline, by_defense=by_defense)
        names = [*lb.BASELINE_COLUMNS, *(lb.DEFENSE_COLUMNS if by_defense else ())]
        return pd.DataFrame([[getattr(row, name) for name in names] for row in rows], columns=names)

    def pictures(self) -> list[StandalonePicture]:
        """Every picture of the board's page, each as one that stands alone."""
        return pictures_of(self.to_html())

    def plot(self, place: str | None = None, *, scale: str = "logit") -> StandalonePicture:
        """Utility against the worst attack's advantage, as the board's page draws it.

        Parameters
        ----------
        place : str, optional
            Scenario and variant, as in ``"bank, decoys=hard"``; the first one by default.
        scale : {"logit", "linear"}
            Scale of the advantage.

        Returns
        -------
        StandalonePicture
            A notebook shows it; `leaderboard.pages.pictures.StandalonePicture.save` writes it as SVG or PNG.

        Raises
        ------
        ValueError
            If there is no such place or scale, or no defense has a score.
        """
        places = list(dict.fromkeys((row.scenario, row.variant) for row in self.rows))
        titles = [place_title(*each) for each in places]
        refuse(scale not in ("logit", "linear"), f"scale must be 'logit' or 'linear', got {scale!r}")
        require(places, "there are no results to plot")
        refuse(
            place is not None and place not in titles,
            f"there are no results of {place!r}; there are some of {'; '.join(titles)}",
        )
        chosen = places[0 if place is None else titles.index(place)]
        results = [result for result in self.results if result.scenario == chosen[0]]
        title = place_title(*chosen)
        for picture in pictures_of(board_page(results)):
            if picture.name.endswith(f"-{scale}") and picture.title.partition(":")[0].endswith(f", {title}"):
                return picture
        raise ValueError(f"no defense of {title} has a score")

    def gate(
        self,
        *,
        min_utility: float | None = None,
        max_success: float | None = None,
        max_advantage: float | Mapping[str, float] | None = None,
    ) -> list[GateCheck]:
        """Compare every defense with bounds; all checks pass only if `tokumei run` with these bounds exits with 0.

        A defense with failed releases or trials has a check that fails, and so has a goal that no attack measured by
        enough trials. Few plays say little about releases that go wrong seldom.

        Parameters
        ----------
        min_utility, max_success : float, optional
            Bounds of utility and of the worst attack's success rate.
        max_advantage : float or mapping of str to float, optional
            Bound of the advantage in all goals together, or bounds by goal (``{"rows": 0.1}``).

        Returns
        -------
        list of GateCheck
            `leaderboard.GateCheck.passed` says whether a bound is met.

        Raises
        ------
        ValueError
            If a bound does not lie between 0 and 1, there is no such goal, a goal is bounded twice, or there are no
            results.
        """
        from leaderboard.results.goals import goal_named
        from leaderboard.statistics.gate import gap_checks
        from scenarios.running.methods.declarations import check_goal_names

        require(self.results, "there are no results to check")
        advantage: dict[str | None, float] = {}
        if isinstance(max_advantage, Mapping):
            for name, bound in max_advantage.items():
                if (goal := goal_named(name)) in advantage:
                    raise ValueError(f"max_advantage bounds {name} twice")
                advantage[goal] = bound
        elif max_advantage is not None:
            advantage = {None: max_advantage}
        check_goal_names(advantage, (goal for result in self.results for goal in result.scores), "max_advantage")
        bounds = lb.GateBounds(min_utility=min_utility, max_success=max_success, max_advantage=advantage)
        return [*gap_checks(self.results, bounds), *lb.gate_checks(self.results, bounds)]

    def to_html(self) -> str:
        """The board as a page that works offline.

        Raises
        ------
        ValueError
            If there are no results.
        """
        require(self.results, "there are no results to show")
        return board_page(self.results, self.guarantees, self.earlier)

    def to_latex(self) -> str:
        """The board as LaTeX tables for the packages booktabs and graphicx."""
        return lb.report_to_latex(lb.board_sections(self._shown_rows))

    def to_markdown(self) -> str:
        """The board as Markdown tables."""
        return lb.report_to_markdown([*lb.board_sections(self._shown_rows), *lb.earlier_sections(self.earlier)])

    def save(self, path: str | Path) -> Path:
        """Write the board as a page (``.html``), LaTeX (``.tex``), Markdown (``.md``), CSV or JSON, by the suffix.

        Raises
        ------
        ValueError
            If the suffix is another one.
        OSError
            If the file cannot be written.
        """
        path = Path(path)
        writers: dict[str, Any] = {
            ".html": self.to_html,
            ".tex": self.to_latex,
            ".md": self.to_markdown,
            ".csv": lambda: lb.board_records(self.rows).csv(),
            ".json": lambda: lb.board_records(self.rows, self.guarantees).json(),
        }
        refuse(path.suffix not in writers, f"a board is written as {', '.join(writers)}; got {path.name!r}")
        # A board holds no records: others may read it as far as the umask lets them.
        write_atomically(path, writers[path.suffix]().encode(), mode=None)
        return path

    def __repr__(self) -> str:
        """The board as the terminal shows it."""
        board = lb.report_to_terminal(lb.board_sections(self._shown_rows)) or "a board without results"
        return "\n\n".join([board, *map(str, self.earlier)])

    def _repr_html_(self) -> str:
        """Tables for a notebook."""
        if not self.rows:
            return "".join(["<p>a board without results</p>", *self._earlier_html])
        parts = []
        for section in lb.board_sections(self._shown_rows):
            (table,) = section.tables
            notes = "<br>".join(map(escape, table.note.splitlines()))
            body = text_table(table.columns, table.texts(), table.align, "html")
            parts.append(f"<h4>{escape(section.title)}</h4>{body}<p><small>{notes}</small></p>")
        return "\n".join([*parts, *self._earlier_html])

    @property
    def _earlier_html(self) -> list[str]:
        """What the board leaves out, for a notebook."""
        return [f"<p><small>{escape(str(one))}</small></p>" for one in self.earlier]
