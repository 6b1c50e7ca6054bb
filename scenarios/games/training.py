"""The training game: reconstruction and membership inference from model updates in federated training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks import Claims, Decisions, Knowledge, ValueClaims
from attacks.training.gradient_inversion import most_common
from defenses import Defense, Microdata, TrainingRelease
from defenses.base import Encoding
from metrics.columns import Booleans, Floats, Integers, check_choice, check_integer, refuse
from metrics.ranking import area_under_curve, balanced_accuracy, mean_area_under_curve
from metrics.score import Score, Scores
from scenarios.games.game import KNOWS, Game
from scenarios.games.people import Drawn
from scenarios.games.questions.person_questions import membership_score


@dataclass(frozen=True)
class TrainingSecret(Drawn):
    """Training records, as many non-members, and other people of one play.

    - held_out: The test set of models.
    """

    held_out: Microdata = field(repr=False)


class Training(Game):
    """Attacks of the server on federated training: reconstruction and membership inference.

    A model is trained on records of clients, and the server sees every update that it receives. Both kinds of attack
    play on one board. Reconstruction claims the cells of every client's records. Membership inference scores which
    candidates are training records.

    Parameters
    ----------
    records : Microdata
        The population; at least four times `members` records.
    members : int
        Number of training records, and number of candidates who are not members.
    auxiliary, held_out : int
        Size of the auxiliary population, and of the test set of models. A small population gives fewer: half of the
        remaining people each.
    attacker_knows : {"mechanism", "nothing"}
        Whether attacks can repeat the training on other records.

    Raises
    ------
    ValueError
        If a number is out of range or the population is too small.

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
        self.members = check_integer("members", members, low=2)
        self.auxiliary = check_integer("auxiliary", auxiliary, low=1)
        self.held_out = check_integer("held_out", held_out, low=1)
        self.attacker_knows = check_choice("attacker_knows", attacker_knows, KNOWS)
        refuse(
            len(records) < 4 * members,
            f"members: {4 * members} records are needed for {members} members, got {len(records)}",
        )
        self.records = records

    def draw(self, rng: Generator, choice: Any = None) -> TrainingSecret:
        """Draw members, as many non-members, auxiliary and held-out people, all distinct."""
        person_rng, order_rng = rng.spawn(2)
        people = person_rng.permutation(len(self.records))
        count = self.members
        rest = (len(people) - 2 * count) // 2
        ends = np.cumsum([count, count, min(self.auxiliary, rest), min(self.held_out, rest)])
        members, others, auxiliary, held_out = (self.records.take(group) for group in np.split(people, ends)[:4])
        return TrainingSecret(members, others, auxiliary, order_rng.permutation(2 * count), order_rng, held_out)

    def knowledge(self, secret: TrainingSecret, defense: Defense) -> Knowledge:
        """Give the candidates, the auxiliary population, and the training if the game discloses it."""
        return Knowledge(secret.candidates, secret.auxiliary, self.simulation(defense))

    def score(self, secret: TrainingSecret, published: TrainingRelease, claims: Claims, rng: Generator) -> Scores:
        """Score reconstructed records, or decisions on membership.

        Each client's claimed records are matched with its records so that as many cells as possible agree. Numbers
        agree if they lie in the same public bin.

        Returns
        -------
        Scores
            For reconstructed records: ``reconstruction``, the share of cells that agree. Chance is the share that
            agrees with the most frequent value of each column in the auxiliary population. The measure
            ``records_recovered`` is the share of records whose cells all agree.
            For decisions: ``membership``, the share of members among the half of the candidates with the highest
            scores, and the measure ``membership_auc``.

        Raises
        ------
        TypeError
            If the claims are neither values nor decisions.
        ValueError
            If the claims have another number of records or candidates.
        """
        checked = self.taken(claims)
        if isinstance(checked, Decisions):
            return self._membership(secret, checked, rng)
        return self._reconstruction(secret, published, checked)

    def _membership(self, secret: TrainingSecret, claims: Decisions, rng: Generator) -> Scores:
        refuse(
            claims.scores.shape != secret.member.shape,
            f"the decisions are about {claims.scores.size} candidates, not {secret.member.size}",
        )
        return Scores.of(
            membership_score(claims, secret.member, rng),
            membership_auc=area_under_curve(claims.scores, secret.member),
        )

    def _reconstruction(self, secret: TrainingSecret, published: TrainingRelease, claims: ValueClaims) -> Scores:
        refuse(
            len(claims.values) != self.members, f"the claims are about {len(claims.values)} records, not {self.members}"
        )
        encoding, truth = published.encoding, secret.records.frame
        agree = matched_cells(encoding, truth, published.holder, claims.values)
        common = most_common(encoding, secret.auxiliary.frame).iloc[[0] * self.members].reset_index(drop=True)
        chance = float(matched_cells(encoding, truth, published.holder, common).mean())
        return Scores.of(
            Score("reconstruction", float(agree.mean()), chance, self.members),
            records_recovered=float(agree.all(axis=1).mean()),
        )

    def utility(self, secret: TrainingSecret, release: TrainingRelease) -> dict[str, float | None]:
        """Accuracy and area under the ROC curve of the final model on held-out records, plain and anchored.

        Returns
        -------
        dict of str to float or None
            ``accuracy``, ``balanced_accuracy`` and ``auc`` of the final model. The same with the suffix ``_central``
            for a logistic regression trained on all records in one place (scikit-learn, with its default penalty).
            ``utility_auc`` and ``utility_balanced_accuracy`` are anchored: 0 at the chance level, 1 for the central
            model. They are None if the central model is no better than chance, or the held-out records have one class.

        Notes
        -----
        Accuracy is not anchored. With a rare class, such as one in eight in ``bank``, even the best model hardly beats
        the majority class.
        """
        encoding, held_out = release.encoding, secret.held_out.frame
        features, labels = encoding.features(held_out), encoding.labels(held_out)
        final = release.network.probabilities(release.models[-1], features)
        central = central_probabilities(encoding, secret.records.frame, features)
        result: dict[str, float | None] = {
            "accuracy": accuracy(final, labels),
            "accuracy_central": accuracy(central, labels),
        }
        classes, numbers = np.unique(labels).size, range(final.shape[1])
        for name, measure, floor in (
            ("balanced_accuracy", corrected_accuracy, 1 / classes),
            ("auc", partial(mean_area_under_curve, classes=numbers), 0.5),
        ):
            value, best = measure(final, labels), measure(central, labels)
            result |= {name: value, f"{name}_central": best, f"utility_{name}": None}
            if value is not None and best is not None and best > floor:
                result[f"utility_{name}"] = float(np.clip((value - floor) / (best - floor), 0, 1))
        return result


def matched_cells(encoding: Encoding, truth: pd.DataFrame, holder: Integers, claimed: pd.DataFrame) -> Booleans:
    """Cells of reconstructed records that agree with the true ones, in an optimal matching for each client.

    - encoding: Gives the codes of cells; cells agree if their codes are equal.
    - truth, shape (n, columns): The training records.
    - holder, shape (n,): The client of each record.
    - claimed, shape (n, columns): Claimed records, grouped by client in ascending order.
    - returns shape (n, columns): Whether each cell agrees, with the true records grouped by client in ascending order.
    """
    from scipy.optimize import linear_sum_assignment

    order = np.argsort(holder, kind="stable")
    true_codes = np.stack(encoding.codes(truth.iloc[order].reset_index(drop=True)), axis=1)
    claimed_codes = np.stack(encoding.codes(claimed.reset_index(drop=True)), axis=1)
    result = np.empty(true_codes.shape, dtype=bool)
    for positions in np.split(np.arange(order.size), np.flatnonzero(np.diff(holder[order])) + 1):
        equal = true_codes[positions][:, None, :] == claimed_codes[positions][None, :, :]
        rows, columns = linear_sum_assignment(equal.sum(axis=2), maximize=True)
        result[positions] = equal[rows, columns]
    return result


def central_probabilities(encoding: Encoding, records: pd.DataFrame, features: Floats) -> Floats:
    """Class probabilities, shape (n, classes), of a logistic regression trained on all records in one place."""
    from sklearn.linear_model import LogisticRegression

    labels = encoding.labels(records)
    result = np.zeros((len(features), len(encoding.classes)))
    if np.unique(labels).size < 2:
        result[:, labels[0]] = 1
        return result
    model = LogisticRegression(max_iter=1000).fit(encoding.features(records), labels)
    result[:, model.classes_] = model.predict_proba(features)
    return result


def accuracy(probabilities: Floats, labels: Integers) -> float:
    """Share of records whose most probable class is the true one."""
    return float((probabilities.argmax(axis=1) == labels).mean())


def corrected_accuracy(probabilities: Floats, labels: Integers) -> float | None:
    """Balanced accuracy of predictions corrected for class frequencies; None if only one class occurs.

    The predicted class has the largest ratio of its probability to its frequency among the records. The division makes
    up for the low prior probability of rare classes.
    """
    present, counts = np.unique(labels, return_counts=True)
    if present.size < 2:
        return None
    return balanced_accuracy(present[(probabilities[:, present] / counts).argmax(axis=1)], labels)
