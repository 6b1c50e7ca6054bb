"""Files in the place of methods: a released file is a defense, and a file of answers is an attack."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar, cast

import pandas as pd
from numpy.random import Generator

from attacks.base import Attack, Knowledge, RankedAnswers
from defenses import MicrodataDefense
from defenses.base import Microdata, MicrodataRelease
from metrics.columns import require

Value = TypeVar("Value")


@dataclass(frozen=True, eq=False, repr=False)
class Content(Generic[Value]):
    """What was read from a file; its hash stands for it in names and keys, whatever the file is called.

    Parameters
    ----------
    value : object
        The table or the answers.
    known : str
        Hash of the file's content; by default that of the table is computed when it is asked for.
    """

    value: Value
    known: str = ""

    @cached_property
    def sha256(self) -> str:
        """Hash of the content."""
        return self.known or content_hash(cast("Any", self.value).frame)

    def __repr__(self) -> str:
        return self.sha256

    def item(self) -> str:
        """Return the hash, which describes this parameter of a method."""
        return self.sha256


class ReleasedFile(MicrodataDefense):
    """A table that somebody released, as a defense that gives this table whenever it is asked.

    Parameters
    ----------
    table : Content of MicrodataRelease
        The release, whose rows keep their order; origins are as far as they are known.
    records : Content of Microdata
        The records that it is a release of.

    Examples
    --------
    >>> import numpy as np
    >>> own = Microdata(pd.DataFrame({"age": [21, 35]}))
    >>> release = MicrodataRelease(pd.DataFrame({"age": ["[20,29]", "*"]}), origin=[0, 1])
    >>> file = ReleasedFile.of(release, own)
    >>> file.apply(own, np.random.default_rng(1)).frame["age"].tolist()
    ['[20,29]', '*']
    """

    def __init__(self, *, table: Content[MicrodataRelease], records: Content[Microdata]) -> None:
        self.table = table
        self.records = records

    @classmethod
    def of(cls, release: MicrodataRelease, records: Microdata, sha256: str = "") -> ReleasedFile:
        """The released file of some records, under the hash of the file or else of its cells."""
        return cls(table=Content(release, sha256), records=Content(records))

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Give the table that was read."""
        require(
            records is self.records.value or content_hash(records.frame) == self.records.sha256,
            f"this table was released from other records than these {len(records)}: a released file stands for its own "
            "original table alone",
        )
        return self.table.value


class AnswerFile(Attack):
    """Answers that somebody wrote down about the rows of a release, as an attack that claims them.

    Parameters
    ----------
    answers : Content of RankedAnswers
        The answers, about the rows in the order of the released file.

    Examples
    --------
    >>> import numpy as np
    >>> release = MicrodataRelease(pd.DataFrame({"age": ["[20,29]"]}), origin=[-1])
    >>> candidates = Knowledge(pd.DataFrame({"age": [35, 21]}), Microdata(pd.DataFrame({"age": []})))
    >>> answers = RankedAnswers(targets=1, answers=2, target=[0], answer=[1], score=[0.8])
    >>> AnswerFile(answers=Content(answers, "52ce")).run(release, candidates, np.random.default_rng(1)).answer.tolist()
    [1]
    """

    goal: ClassVar[str] = "reidentification"

    def __init__(self, *, answers: Content[RankedAnswers]) -> None:
        self.answers = answers

    def run(self, release: Any, knowledge: Knowledge, rng: Generator) -> RankedAnswers:
        """Claim the answers.

        Raises
        ------
        ValueError
            If they are about another number of rows or candidates.
        """
        claims, rows, candidates = self.answers.value, len(release.frame), len(knowledge.candidates)
        require(
            (claims.targets, claims.answers) == (rows, candidates),
            f"the answers are about {claims.targets} rows and {claims.answers} candidates, "
            f"there are {rows} and {candidates}",
        )
        return claims


def content_hash(frame: pd.DataFrame) -> str:
    """Hash of a table's columns and rows in their order, 64 hexadecimal digits."""
    columns = "\0".join(map(str, frame.columns))
    return hashlib.sha256(columns.encode() + row_hashes(frame).to_numpy().tobytes()).hexdigest()


def row_hashes(frame: pd.DataFrame) -> pd.Series[int]:
    """A number for each row; equal rows have equal numbers, whether numbers are stored as integers or not."""
    alike = {
        name: column.astype(float if pd.api.types.is_numeric_dtype(column) else str) for name, column in frame.items()
    }
    return pd.util.hash_pandas_object(pd.DataFrame(alike, index=frame.index), index=False)
