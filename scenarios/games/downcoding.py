"""The downcoding game: name finer values than were published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.base.attack import Knowledge
from attacks.base.claims import Claims, ValueClaims
from defenses.base.defense import Defense
from defenses.base.release import MicrodataRelease
from metrics.cells import read_cells
from metrics.classes import equivalence_classes
from metrics.score import Scores
from scenarios.games.control_group import ControlGroupGame, ControlGroupSecret, controlled


class DowncodingGame(ControlGroupGame):
    """The attacker names the exact value behind every generalized cell of a quasi-identifier.

    Rows of a class are alike, so that it does not matter which of them gets which value: in every class and column the
    claimed values are held against the true ones as multisets. Suppressed cells count too. Chance is what is right if
    values are drawn from other people's, those that the cell covers: what a reader guesses who believes that a
    generalized cell says no more than what it covers.

    Parameters
    ----------
    records, originals, strangers, auxiliary, attacker_knows
        See `ControlGroupGame`; the strangers only serve to measure utility.

    References
    ----------
    Cohen (2022), Attacks on deidentification's defenses, section 3.
    """

    takes: ClassVar[Mapping[str, type[Claims]]] = {"downcoding": ValueClaims}

    def knowledge(self, secret: ControlGroupSecret, defense: Defense) -> Knowledge:
        """Hand over other people, and the mechanism where the game discloses it."""
        nobody = secret.records.frame.iloc[:0][list(secret.records.released_columns)]
        return Knowledge(nobody, secret.auxiliary, self.simulation(defense))

    def score(self, secret: ControlGroupSecret, published: MicrodataRelease, claims: Claims, rng: Generator) -> Scores:
        """Count the values that are right.

        Returns
        -------
        Scores
            ``downcoding``: share of the generalized cells of known origin whose value is named; chance is the same for
            values drawn from other people. Measures: ``risk``, ``risk_low``, ``risk_high``: the rate after control. All
            are None if no cell is generalized.

        Raises
        ------
        TypeError
            If the claims are no values.
        ValueError
            If they are not about the released rows.
        """
        guesses: ValueClaims = self.taken(claims)
        frame, known = published.frame, published.origin >= 0
        if not np.array_equal(guesses.about, np.arange(len(frame))):
            raise ValueError(f"the claims must be about the {len(frame)} released rows, each once")
        names = [name for name in secret.records.quasi_identifiers if name in frame.columns]
        classes = equivalence_classes(frame, names)
        right = drawn = trials = 0
        for name in names:
            cells = read_cells(frame[name], self.population.domain(name))
            rows = np.flatnonzero(known & ~cells.plain[cells.codes])
            truth = secret.records.frame[name].iloc[published.origin[rows]]
            guess = _drawn(cells.contains, cells.codes[rows], secret.auxiliary.frame[name], rng)
            trials += rows.size
            if name in guesses.values:
                right += overlap(classes[rows], guesses.values[name].iloc[rows], truth)
            drawn += overlap(classes[rows], guess, truth)
        return controlled("downcoding", right, trials, drawn, trials)


def overlap(classes: NDArray[np.intp], claimed: pd.Series[Any], truth: pd.Series[Any]) -> int:
    """How many claimed values are right, as multisets within each class; missing values are none."""
    count = len(classes)
    numeric = pd.api.types.is_numeric_dtype(truth)
    both = [pd.to_numeric(part) if numeric else part.astype(object) for part in (claimed, truth)]
    codes, distinct = pd.factorize(pd.concat(both, ignore_index=True), use_na_sentinel=True)
    keys = pd.factorize(np.where(codes < 0, -1, np.tile(classes, 2) * max(1, len(distinct)) + codes))
    total = len(keys[1])
    present = codes >= 0
    left = np.bincount(keys[0][:count][present[:count]], minlength=total)
    right = np.bincount(keys[0][count:][present[count:]], minlength=total)
    return int(np.minimum(left, right).sum())


def _drawn(contains: Any, codes: NDArray[np.intp], people: pd.Series[Any], rng: Generator) -> pd.Series[Any]:
    """For each row a value of other people that its cell covers, missing where it covers none; shape (rows,)."""
    values = people.dropna()
    share = values.value_counts()
    covered = contains(share.index.to_numpy()) * share.to_numpy()
    cumulative = np.cumsum(covered, axis=1)[codes] if share.size else np.zeros((codes.size, 0))
    total = cumulative[:, -1] if share.size else np.zeros(codes.size)
    at = (cumulative <= (rng.random(codes.size) * total)[:, None]).sum(axis=1)
    guess = share.index.to_series().reset_index(drop=True).reindex(np.where(total > 0, at, -1))
    return guess.reset_index(drop=True)
