"""The training game: what the updates of a model in training give away of the records it is trained on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.base.attack import Knowledge
from attacks.base.claims import Claims, Decisions, ValueClaims
from attacks.training.gradient_inversion import most_common
from defenses.base.defense import Defense
from defenses.base.microdata import Microdata
from defenses.base.parameters import check_integer
from defenses.base.release import TrainingRelease
from defenses.base.training import TrainingEncoding
from metrics.ranking import area_under_curve
from metrics.score import Score, Scores
from scenarios.games.game import Game, Secret, check_attacker_knows


@dataclass(frozen=True)
class TrainingSecret(Secret):
    """Who was drawn.

    Attributes
    ----------
    records : Microdata
        The training records.
    candidates : DataFrame, shape (candidates, columns)
        Members and as many others, shuffled.
    member : ndarray of bool, shape (candidates,)
        Which candidates are training records.
    auxiliary, held_out : Microdata
        Other people: for the attacker, and to test models on.
    """

    records: Microdata = field(repr=False)
    candidates: pd.DataFrame = field(repr=False)
    member: NDArray[np.bool_] = field(repr=False)
    auxiliary: Microdata = field(repr=False)
    held_out: Microdata = field(repr=False)


class Training(Game):
    """A model is trained on records at clients; the server sees what arrives and looks for the records.

    Attacks may claim either of two things, and both kinds play on one board: the cells of every client's records
    (reconstruction), or which of some candidates were trained on (membership).

    Parameters
    ----------
    records : Microdata
        The population; at least four times `members` records.
    members : int
        How many records are trained on, and how many candidates are not among them.
    auxiliary, held_out : int
        How many further people the attacker has for studying, and on how many models are tested; fewer where the
        population runs out (a half of the rest each).
    attacker_knows : {"mechanism", "nothing"}
        Whether attackers may repeat the training on records of their own.

    Raises
    ------
    ValueError
        If a number is out of range or the population too small.

    References
    ----------
    Zhu, Liu and Han (2019) for reconstruction; Nasr, Shokri and Houmansadr (2019) for membership.
    """

    accepts: ClassVar[str] = "training"
    kind: ClassVar[str] = "training"
    takes: ClassVar[Mapping[str, type[Claims]]] = {"reconstruction": ValueClaims, "membership": Decisions}

    def __init__(
        self,
        *,
        records: Microdata,
        members: int = 400,
        auxiliary: int = 1000,
        held_out: int = 4000,
        attacker_knows: str = "mechanism",
    ) -> None:
        check_integer("members", members, low=2)
        check_integer("auxiliary", auxiliary, low=1)
        check_integer("held_out", held_out, low=1)
        check_attacker_knows(attacker_knows)
        if len(records) < 4 * members:
            raise ValueError(f"members: {4 * members} records are needed for {members} members, got {len(records)}")
        self.records = records
        self.members = members
        self.auxiliary = auxiliary
        self.held_out = held_out
        self.attacker_knows = attacker_knows

    def draw(self, rng: Generator, choice: Any = None) -> TrainingSecret:
        """Draw members, as many others, and bystanders, all different records."""
        person_rng, order_rng = rng.spawn(2)
        people = person_rng.permutation(len(self.records))
        count = self.members
        rest = (len(people) - 2 * count) // 2
        auxiliary, held_out = min(self.auxiliary, rest), min(self.held_out, rest)
        order = order_rng.permutation(2 * count)
        candidates = self.records.take(people[: 2 * count][order])
        return TrainingSecret(
            self.records.take(people[:count]),
            candidates.frame[list(candidates.released_columns)],
            order < count,
            self.records.take(people[2 * count : 2 * count + auxiliary]),
            self.records.take(people[2 * count + auxiliary : 2 * count + auxiliary + held_out]),
        )

    def knowledge(self, secret: TrainingSecret, defense: Defense) -> Knowledge:
        """Hand over the candidates, other people, and the training where the game discloses it."""

        def simulate(records: Microdata, rng: Generator) -> TrainingRelease:
            release = defense.clone().apply(records, rng)
            if not isinstance(release, TrainingRelease):
                raise TypeError(f"the training game publishes trainings, got a {release.kind} release")
            return release

        known = simulate if self.attacker_knows == "mechanism" else None
        return Knowledge(secret.candidates.copy(), secret.auxiliary, known)

    def score(self, secret: TrainingSecret, published: TrainingRelease, claims: Claims, rng: Generator) -> Scores:
        """Score reconstructed records, or decisions on membership.

        A client's claimed records are paired with its records so that most cells agree; a number agrees in its public
        bin.

        Returns
        -------
        Scores
            Of records: ``reconstruction``, the share of cells that agree; chance is the share that the most frequent
            value of each column among other people reaches; the measure ``records_recovered`` is the share of records
            of which every cell agrees. Of decisions: ``membership``, the share of members among the half of the
            candidates with the highest scores, and the measure ``membership_auc``.

        Raises
        ------
        TypeError
            If the claims are neither.
        ValueError
            If they are about other numbers of records or candidates.
        """
        taken = self.taken(claims)
        if isinstance(taken, Decisions):
            return self._membership(secret, taken, rng)
        return self._reconstruction(secret, published, taken)

    def _membership(self, secret: TrainingSecret, claims: Decisions, rng: Generator) -> Scores:
        if claims.scores.shape != secret.member.shape:
            raise ValueError(f"the decisions are about {claims.scores.size} candidates, not {secret.member.size}")
        rate = float(secret.member[claims.first(self.members, rng)].mean())
        auc = area_under_curve(claims.scores, secret.member)
        return Scores.of(Score("membership", rate, 0.5, self.members), membership_auc=auc)

    def _reconstruction(self, secret: TrainingSecret, published: TrainingRelease, claims: ValueClaims) -> Scores:
        if len(claims.values) != self.members:
            raise ValueError(f"the claims are about {len(claims.values)} records, not {self.members}")
        encoding, truth = published.encoding, secret.records.frame
        agree = matched_cells(encoding, truth, published.holder, claims.values)
        common = most_common(encoding, secret.auxiliary.frame).iloc[[0] * self.members].reset_index(drop=True)
        chance = float(matched_cells(encoding, truth, published.holder, common).mean())
        return Scores.of(
            Score("reconstruction", float(agree.mean()), chance, self.members),
            records_recovered=float(agree.all(axis=1).mean()),
        )

    def utility(self, secret: TrainingSecret, release: TrainingRelease) -> dict[str, float | None]:
        """Accuracy and area under the curve of the final model on held-out records, and how good they are.

        ``utility_auc`` is 0 where scores rank at random, ``utility_balanced_accuracy`` is 0 where nothing is learned;
        both are 1 for a logistic regression trained on all records in one place (scikit-learn, its default ridge). A
        part is None where that one does not beat 0, or the held-out records have one class. Plain accuracy is reported
        and not anchored: with one class in eight, as in ``bank``, the best model hardly beats naming the other always.
        """
        encoding, held_out = release.encoding, secret.held_out.frame
        features, labels = encoding.features(held_out), encoding.labels(held_out)
        own = release.network.probabilities(release.models[-1], features)
        central = central_probabilities(encoding, secret.records.frame, features)
        result: dict[str, float | None] = {
            "accuracy": accuracy(own, labels),
            "accuracy_central": accuracy(central, labels),
        }
        present = np.unique(labels).size
        for name, measure, floor in (("balanced_accuracy", balanced_accuracy, 1 / present), ("auc", ranking, 0.5)):
            value, best = measure(own, labels), measure(central, labels)
            result |= {name: value, f"{name}_central": best, f"utility_{name}": None}
            if value is not None and best is not None and best > floor:
                result[f"utility_{name}"] = float(np.clip((value - floor) / (best - floor), 0, 1))
        return result


def matched_cells(
    encoding: TrainingEncoding, truth: pd.DataFrame, holder: NDArray[np.intp], claimed: pd.DataFrame
) -> NDArray[np.bool_]:
    """Which cells agree, shape (n, columns), with each client's claimed records paired with its own for the best.

    Parameters
    ----------
    encoding : TrainingEncoding
        Says when cells agree.
    truth : DataFrame, shape (n, columns)
        The records.
    holder : ndarray of int, shape (n,)
        The client of each.
    claimed : DataFrame, shape (n, columns)
        Claimed records, client by client.
    """
    from scipy.optimize import linear_sum_assignment

    order = np.argsort(holder, kind="stable")
    own = np.stack(encoding.codes(truth.iloc[order].reset_index(drop=True)), axis=1)
    other = np.stack(encoding.codes(claimed.reset_index(drop=True)), axis=1)
    result = np.empty(own.shape, dtype=bool)
    for positions in np.split(np.arange(order.size), np.flatnonzero(np.diff(holder[order])) + 1):
        equal = own[positions][:, None, :] == other[positions][None, :, :]
        rows, columns = linear_sum_assignment(equal.sum(axis=2), maximize=True)
        result[positions] = equal[rows, columns]
    return result


def central_probabilities(
    encoding: TrainingEncoding, records: pd.DataFrame, features: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Class probabilities, shape (n, classes), by a logistic regression on all records."""
    from sklearn.linear_model import LogisticRegression

    labels = encoding.labels(records)
    result = np.zeros((len(features), len(encoding.classes)))
    if np.unique(labels).size < 2:
        result[:, labels[0]] = 1
        return result
    model = LogisticRegression(max_iter=1000).fit(encoding.features(records), labels)
    result[:, model.classes_] = model.predict_proba(features)
    return result


def accuracy(probabilities: NDArray[np.float64], labels: NDArray[np.intp]) -> float:
    """Share of records whose most probable class is right."""
    return float((probabilities.argmax(axis=1) == labels).mean())


def balanced_accuracy(probabilities: NDArray[np.float64], labels: NDArray[np.intp]) -> float | None:
    """Mean over classes of the share of their records that are recognized; None with one class.

    A record is given the class whose probability is the largest in proportion to the class's share of all records:
    what a rare class gains by its name alone is made even.
    """
    present, counts = np.unique(labels, return_counts=True)
    if present.size < 2:
        return None
    named = present[(probabilities[:, present] / counts).argmax(axis=1)]
    return float(np.mean([(named[labels == label] == label).mean() for label in present]))


def ranking(probabilities: NDArray[np.float64], labels: NDArray[np.intp]) -> float | None:
    """Mean area under the curve of each class against the others; None with one class."""
    present = np.unique(labels)
    if present.size < 2:
        return None
    return float(np.mean([area_under_curve(probabilities[:, label], labels == label) for label in present]))
