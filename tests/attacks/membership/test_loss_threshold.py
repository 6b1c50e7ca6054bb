"""Loss and logit of a model by hand."""

import numpy as np
import pytest
from model_tools import PEOPLE, Fixed

from attacks import LossThreshold
from attacks.base.attack import Knowledge
from attacks.membership.model_confidence import logit_confidence
from defenses import Microdata, ModelRelease


def test_loss_and_logit_by_hand():
    knowledge = Knowledge(PEOPLE, Microdata(PEOPLE))
    decided = LossThreshold().run(ModelRelease(Fixed()), knowledge, np.random.default_rng(0)).scores
    assert decided.tolist() == [0.0, np.log(0.25), -np.inf]
    assert logit_confidence(Fixed(), PEOPLE) == pytest.approx([np.log(999), np.log(1 / 3), -np.log(999)])
