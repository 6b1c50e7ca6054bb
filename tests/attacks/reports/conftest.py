"""The report game on Adult and the pool game on emoji."""

import numpy as np
import pytest

from scenarios import Pool, Reports
from scenarios.experiments.emoji_population import emoji


@pytest.fixture(scope="module")
def game(adult):
    return Reports(records=adult, column="education")


@pytest.fixture(scope="module")
def pools():
    return Pool(records=emoji(800, 40, np.random.default_rng(0)), column="emoji", persons=200, reports=32)
