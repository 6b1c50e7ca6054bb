"""The classifier membership game: its models and its refusals."""

import numpy as np
import pandas as pd
import pytest

from attacks import LikelihoodRatioAttack, OfflineLikelihoodRatioAttack, ShadowModels
from defenses import Constant, Identity, Microdata
from metrics.columns.domains import CategoricalDomain, NumericDomain
from scenarios import ClassifierMembership
from scenarios.games.classifier_membership import MODELS, TableModel


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("model", MODELS)
def test_every_model_learns(adult, model):
    game = ClassifierMembership(records=adult, members=300, model=model)
    secret = game.draw(np.random.default_rng(0))
    release = Identity().apply(secret.records, np.random.default_rng(0))
    utility = game.utility(secret, release)
    assert utility["classifier_auc"] == utility["classifier_auc_original"]
    assert utility["classifier_auc"] == 0.5 if model == "constant" else utility["classifier_auc"] > 0.65
    probability = game.publish(release, np.random.default_rng(0)).model.predict_proba(secret.candidates)
    assert probability.shape == (600, 2)
    assert probability.sum(axis=1) == pytest.approx(1)
    assert (game.utility(secret, Constant().apply(secret.records, np.random.default_rng(0))))["classifier_auc"] == 0.5


def test_models_of_odd_tables():
    domains = {
        "n": NumericDomain(0, 10),
        "c": CategoricalDomain(("a", "b")),
        "y": CategoricalDomain(("no", "yes", "never")),
    }
    people = pd.DataFrame({"n": [1, np.nan], "c": ["a", None], "y": ["no", "yes"]})
    generalized = pd.DataFrame(
        {"n": ["[0,4]", "*", "9", None], "c": ["*", "a", "b", None], "y": ["no", "{no|yes}", "yes", None]}
    )
    model = TableModel(domains, "y", "extra_trees").fit(generalized, np.random.default_rng(0))
    predicted = model.predict_proba(people)
    assert predicted.sum(axis=1) == pytest.approx(1)
    assert (predicted[:, 2] == 0).all()
    for frame, shares in (
        (generalized.iloc[:0], [1 / 3, 1 / 3, 1 / 3]),
        (generalized.iloc[[0]], [1, 0, 0]),
        (generalized.assign(y="*"), None),
    ):
        predicted = TableModel(domains, "y", "extra_trees").fit(frame, np.random.default_rng(0)).predict_proba(people)
        assert shares is None or predicted[0] == pytest.approx(shares)
    with pytest.raises(ValueError, match="'y'"):
        TableModel(domains, "y", "extra_trees").fit(generalized.drop(columns="y"), np.random.default_rng(0))
    with pytest.raises(ValueError, match="'n'"):
        model.predict_proba(people.drop(columns="n"))
    with pytest.raises(ValueError, match="unknown category"):
        model.predict_proba(people.assign(c="Atlantis"))


def test_bad_games(adult):
    with pytest.raises(ValueError, match="model must be one of"):
        ClassifierMembership(records=adult, model="oracle")
    with pytest.raises(ValueError, match="members"):
        ClassifierMembership(records=adult, members=0)
    with pytest.raises(ValueError, match="sensitive"):
        ClassifierMembership(records=Microdata(adult.frame, quasi_identifiers=("age",)))
    for attack in (ShadowModels, LikelihoodRatioAttack, OfflineLikelihoodRatioAttack):
        with pytest.raises(ValueError, match="shadows"):
            attack(shadows=0)
