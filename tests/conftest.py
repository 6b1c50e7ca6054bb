"""Records that many test files share."""

import os

if "PYTEST_XDIST_WORKER" in os.environ:
    # One thread for each process on a core; numpy reads this when it is first imported.
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import pytest

from scenarios import load
from scenarios.tables.dataset import with_columns


@pytest.fixture(scope="module")
def bank():
    """All records of UCI Bank Marketing."""
    return load("bank").records


@pytest.fixture(scope="module")
def adult():
    """All records of UCI Adult."""
    return load("adult").records


@pytest.fixture(scope="module")
def adult_register():
    """Seven quasi-identifiers of UCI Adult, as a public register has them, and the salary class."""
    names = ["age", "education", "marital-status", "occupation", "race", "sex", "native-country", "salary-class"]
    return with_columns(load("adult"), names).records


@pytest.fixture(scope="module")
def ratings():
    """All ratings of the generated data set."""
    return load("ratings").records


@pytest.fixture(scope="module")
def adult_attributes():
    """Seven quasi-identifiers of UCI Adult and the salary class."""
    names = ["age", "workclass", "education", "marital-status", "race", "sex", "hours-per-week", "salary-class"]
    return with_columns(load("adult"), names).records
