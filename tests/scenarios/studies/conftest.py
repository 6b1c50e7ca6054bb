"""Small data sets for experiments."""

from dataclasses import replace

import numpy as np
import pytest

from scenarios import load


@pytest.fixture
def thousand_people(monkeypatch):
    """Data sets have a thousand people, who are measured soon."""

    def loaded(name):
        dataset = load(name)
        return replace(dataset, records=dataset.records.take(np.arange(1000)))

    monkeypatch.setattr("scenarios.datasets.load", loaded)
