"""Rules of a contest: which utility measures count, and how they combine."""

from __future__ import annotations

import hashlib
import math
import sys
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import numpy as np
from pydantic import ConfigDict, Field

from defenses.base import Microdata
from leaderboard.results.goals import goal_words
from metrics.columns import Booleans, Sentence, refuse, refuse_any, require
from metrics.ranking import resolves_rate
from scenarios.games import SIDES, LinkQuestion, Question, two_halves
from scenarios.games.people import Drawn
from scenarios.games.questions.attribute_question import information
from scenarios.running.methods import build
from scenarios.tables.near_names import suggestion
from scenarios.tables.toml.toml_file import TomlTable, read_bytes, read_toml
from scenarios.tournament.rules.measures import Combination


class Entry(TomlTable):
    """A method of a contest; further keys are its parameters.

    Parameters
    ----------
    use : str
        Name of the method, or ``module:Class``.
    """

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    use: str

    @property
    def file(self) -> str:
        """Name of the file with a class of the host's own; empty for a class that is built in."""
        module, colon, _ = self.use.partition(":")
        return f"{module}.py" if colon else ""

    def built(self, folder: Path, package: str) -> Any:
        """The method; that of the host's own is read from its file in a folder."""
        use = _loaded(folder / self.file, self.use) if self.file else self.use
        return build({"use": use, **(self.model_extra or {})}, package)


class ListedMeasure(Entry):
    """A utility measure of a contest.

    Parameters
    ----------
    use : str
        See `Entry`.
    name : str
        What boards call it; by default the name of its class.
    anchored : bool
        Whether the best that a table without information reaches counts as 0.
    """

    name: str = ""
    anchored: bool = True

    @property
    def shown(self) -> str:
        """What boards call it."""
        return self.name or self.use.rpartition(":")[2]


class ListedQuestion(Entry):
    """A question of a contest.

    Parameters
    ----------
    use : {"RowQuestion", "MemberQuestion", "AttributeQuestion", "LinkQuestion"}
        See `Entry`. The column of an attribute question is left out of the published candidate files, and a link
        question cuts them into two files.
    strata : list of str
        Names of the strata in which it is asked apart from the question about everybody.
    """

    use: Literal["RowQuestion", "MemberQuestion", "AttributeQuestion", "LinkQuestion"]
    strata: list[str] = Field(default_factory=list)


class Stratum(TomlTable):
    """Candidates about whom a question is asked apart: the rarest, or those with some values of a column.

    Parameters
    ----------
    rarest : float
        Share of the candidates whose values are the rarest together; 0 if a column says who belongs to it.
    column : str
        The column.
    values : list of str
        Its categories; of a column of numbers, `low` and `high` are the ends instead.
    """

    rarest: float = Field(default=0.0, ge=0, lt=1)
    column: str = ""
    values: list[str] = Field(default_factory=list)
    low: float | None = None
    high: float | None = None

    @property
    def words(self) -> str:
        """Who belongs to it, as the end of a sentence."""
        if self.rarest:
            share = self.rarest
            return Sentence("the {share:.0%} of the candidates whose values are the rarest together", share=share)
        wanted = Sentence.joined(" or ", self.values)
        if not self.values:
            wanted = Sentence("from {low} to {high}", low=self.low, high=self.high)
        return Sentence("the candidates with `{column}` {wanted}", column=self.column, wanted=wanted)

    def holds(self, people: Drawn) -> Booleans:
        """Whether each candidate belongs to it, shape (candidates,)."""
        candidates, records = people.candidates, people.records
        if self.rarest:
            codes = {name: records.domain(name).codes(candidates[name]) for name in records.released_columns}
            # The information of a value in bits is larger, the fewer candidates have it.
            bits = sum(information(one, records.domain(name).size)[one] for name, one in codes.items())
            return np.asarray(bits >= np.quantile(bits, 1 - self.rarest))
        column = candidates[self.column]
        if self.values:
            return column.isin(self.values).to_numpy()
        low, high = (end if given is None else given for given, end in ((self.low, -np.inf), (self.high, np.inf)))
        return column.between(low, high).to_numpy()


def _loaded(path: Path, use: str) -> str:
    """Name of a class in a file, which is loaded under a name that no other module has."""
    name = f"{path.stem}_{hashlib.sha256(read_bytes(path)).hexdigest()[:16]}"
    if name not in sys.modules:
        module = sys.modules[name] = ModuleType(name)
        try:
            SourceFileLoader(name, str(path)).exec_module(module)
        except BaseException as error:
            del sys.modules[name]
            raise ValueError(f"{path}: cannot be imported ({type(error).__name__}: {error})") from None
    return f"{name}:{use.partition(':')[2]}"


BEFORE = [ListedMeasure(use="TableStatistics"), ListedMeasure(use="RecordSimilarity")]
"""Measures of tournaments that list none."""


class Contest(TomlTable):
    """Rules of a contest, as the table ``[contest]`` of the settings and a file for ``init --contest`` hold them.

    Parameters
    ----------
    source : str
        Where the rules were published.
    utility : {"mean", "product", "minimum"}
        How the values of the measures become the utility.
    measure : list of ListedMeasure
        Utility measures.
    question : list of ListedQuestion
        Questions that attacks answer, of which the one with the largest advantage counts; rows and members if there
        are none.
    strata : dict of str to Stratum
        Strata by their names.
    """

    source: str = ""
    utility: Combination = "minimum"
    measure: list[ListedMeasure] = Field(default=BEFORE, min_length=1)
    question: list[ListedQuestion] = Field(default_factory=list)
    strata: dict[str, Stratum] = Field(default_factory=dict)

    def __hash__(self) -> int:
        return hash(self.model_dump_json())

    @property
    def listed(self) -> bool:
        """Whether utility is another one than that of tournaments without a contest."""
        return (self.measure, self.utility) != (BEFORE, "minimum")

    @property
    def files(self) -> list[str]:
        """Names of the files with classes of the host's own."""
        return sorted({one.file for one in self.measure if one.file})

    @property
    def cuts(self) -> bool:
        """Whether candidate files lack a column, or are cut into two."""
        return any(one.use in ("AttributeQuestion", "LinkQuestion") for one in self.question)

    def hidden(self, records: Microdata) -> str:
        """The column that attacks infer, which candidate files lack; empty if none is asked about."""
        return records.sensitive[0] if "AttributeQuestion" in [one.use for one in self.question] else ""

    def candidate_columns(self, records: Microdata) -> tuple[list[str], list[str]]:
        """Columns of the published candidate file, and of the second one, which only a question about links makes."""
        shown = [name for name in records.released_columns if name != self.hidden(records)]
        links = [one.built(Path(), "questions") for one in self.question if one.use == "LinkQuestion"]
        first, second = (shown, []) if not links else two_halves(shown)
        if links and links[0].parts:
            first, second = ([name for name in side if name in shown] for side in links[0].columns(records))
        return first, second

    def asked(self, records: Microdata) -> Iterator[tuple[Question, str, str]]:
        """Each question with what its score is called and its stratum; the stratum of everybody has no name.

        Attackers know no more than the candidate files hold.
        """
        files = self.candidate_columns(records)
        for one in self.question:
            question = one.built(Path(), "questions")
            (goal,) = question.takes
            if isinstance(question, LinkQuestion):
                question.set_params(parts=dict(zip(SIDES, files, strict=True)))
            else:
                question.set_params(known=[name for name in question.knows(records) if name in files[0]])
            yield question, goal, ""
            yield from ((question, f"{goal_words(goal)} among {name}", name) for name in one.strata)

    def check_questions(self, records: Microdata, decoys: int) -> None:
        """Check that the questions can be asked about a table and so many decoys."""
        for number, one in enumerate(self.question, start=1):
            place, rate = f"table [question.{number}]", (one.model_extra or {}).get("false_positive_rate")
            few = f"{place}, key 'false_positive_rate': {rate} needs {math.ceil(1 / (rate or 1)) - 1} decoys"
            refuse(rate and not resolves_rate(decoys, rate), f"{few}, there are {decoys} (candidates - originals)")
            for name in one.strata:
                known = suggestion(name, self.strata)
                require(name in self.strata, f"{place}, key 'strata': there is no table [strata.{name}]{known}")
        names = [name for _, name, _ in self.asked(records)]
        refuse_any(
            [name for name in names if names.count(name) > 1],
            lambda name: f"two questions are about {goal_words(name)!r}; their scores would have one name",
        )
        for name, stratum in self.strata.items():
            where = f"table [strata.{name}], key"
            refuse(bool(stratum.rarest) == bool(stratum.column), f"{where} 'rarest': give either it or 'column'")
            columns = ["", *records.released_columns]
            unknown = f"there is no column {stratum.column!r}{suggestion(stratum.column, columns)}"
            require(stratum.column in columns, f"{where} 'column': {unknown}")


def read_contest(path: Path, records: Microdata, decoys: int) -> Contest:
    """Read and check a contest's rules; a class of the host's own stands in a file beside them."""
    contest = read_toml(path, read_bytes(path), Contest)
    shown = [one.shown for one in contest.measure]
    place = ""
    try:
        for kind, listed in (("measure", contest.measure), ("question", contest.question)):
            for number, one in enumerate(listed, start=1):
                place = f"table [{kind}.{number}]: "
                made = one.built(path.parent, f"{kind}s")
                if isinstance(made, Question):
                    made.check(records, decoys, decoys)
        place = ""
        refuse_any(
            [name for name in shown if shown.count(name) > 1],
            lambda name: f"name {name!r} is that of two measures; give one of them another name",
        )
        contest.check_questions(records, decoys)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {place}{error}") from None
    return contest
