"""The downcoding game: recover the exact values behind generalized cells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks import Claims, ValueClaims
from defenses import MicrodataRelease
from metrics import Scores, equivalence_classes, read_cells
from metrics.columns import Integers, require
from scenarios.games.control_group import ControlGroupGame
from scenarios.games.people import Drawn
from scenarios.games.questions.question import Question, controlled


class CellQuestion(Question):
    """Which exact value is behind every generalized cell of a quasi-identifier; the adversary knows nobody in clear."""

    takes: ClassVar[Mapping[str, type[Claims]]] = {"downcoding": ValueClaims}
    names_people: ClassVar[bool] = False

    def score(self, people: Drawn, published: MicrodataRelease, claims: ValueClaims, rng: Generator) -> Scores:
        """Count correct values.

        - returns: ``downcoding``: share of the generalized cells of known origin whose value is claimed correctly;
          chance is the same share for values drawn from the auxiliary population. Measures: ``risk``, ``risk_low``,
          ``risk_high``: the rate after control. All are None if no cell is generalized.

        Raises ValueError if the claims are not about the released rows, each once.
        """
        frame, has_origin = published.frame, published.origin >= 0
        require(
            np.array_equal(claims.about, np.arange(len(frame))),
            f"the claims must be about the {len(frame)} released rows, each once",
        )
        names = [name for name in people.records.quasi_identifiers if name in frame.columns]
        classes = equivalence_classes(frame, names)
        correct = guessed = trials = 0
        for name in names:
            cells = read_cells(frame[name], people.auxiliary.domain(name))
            rows = np.flatnonzero(has_origin & ~cells.plain[cells.codes])
            truth = people.records.frame[name].iloc[published.origin[rows]]
            guess = _drawn_values(cells.contains, cells.codes[rows], people.auxiliary.frame[name], rng)
            trials += rows.size
            if name in claims.values:
                correct += overlap(classes[rows], claims.values[name].iloc[rows], truth)
            guessed += overlap(classes[rows], guess, truth)
        return controlled("downcoding", correct, trials, guessed, trials)


class CellDowncoding(ControlGroupGame):
    """Downcoding: the adversary claims the exact value behind every generalized cell of a quasi-identifier.

    The rows of an equivalence class are indistinguishable. In every class and column the claimed values are therefore
    compared with the true ones as multisets. Suppressed cells count as generalized. The chance level draws each value
    from the auxiliary population, among the values that the cell covers.

    Parameters
    ----------
    records, originals, strangers, auxiliary, attacker_knows
        See `ControlGroupGame`; the strangers are used only to measure utility.

    Notes
    -----
    The attack is called `attacks.Downcoding`. Command line and reports look up games and attacks by class name, so the
    names must differ.

    References
    ----------
    Cohen (2022), Attacks on deidentification's defenses, section 3.
    """

    question = CellQuestion()


def overlap(classes: Integers, claimed: pd.Series[Any], truth: pd.Series[Any]) -> int:
    """Number of claimed values that are correct, as multisets within each class; missing values do not count."""
    count = len(classes)
    numeric = pd.api.types.is_numeric_dtype(truth)
    both = [pd.to_numeric(part) if numeric else part.astype(object) for part in (claimed, truth)]
    codes, distinct = pd.factorize(pd.concat(both, ignore_index=True), use_na_sentinel=True)
    keys = pd.factorize(np.where(codes < 0, -1, np.tile(classes, 2) * max(1, len(distinct)) + codes))
    total = len(keys[1])
    present = codes >= 0
    claims = np.bincount(keys[0][:count][present[:count]], minlength=total)
    truths = np.bincount(keys[0][count:][present[count:]], minlength=total)
    return int(np.minimum(claims, truths).sum())


def _drawn_values(contains: Any, codes: Integers, people: pd.Series[Any], rng: Generator) -> pd.Series[Any]:
    """Draw for each row one of people's values that its cell covers, missing if it covers none; shape (rows,)."""
    share = people.dropna().value_counts()
    covered = contains(share.index.to_numpy()) * share.to_numpy()
    cumulative = np.cumsum(covered, axis=1)[codes] if share.size else np.zeros((codes.size, 0))
    total = cumulative[:, -1] if share.size else np.zeros(codes.size)
    positions = (cumulative <= (rng.random(codes.size) * total)[:, None]).sum(axis=1)
    guess = share.index.to_series().reset_index(drop=True).reindex(np.where(total > 0, positions, -1))
    return guess.reset_index(drop=True)
