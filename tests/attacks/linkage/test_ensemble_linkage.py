"""Linear opinion pool of linkage attacks."""

import numpy as np
import pytest

from attacks import EnsembleLinkage, Knowledge, LikelihoodAssignment, NearestNeighbour, NotApplicable
from defenses import MicrodataRelease
from scenarios.tables.seeds import generator


def test_no_member_that_fits_is_an_error(bank):
    people = bank.take(np.arange(30))
    release = MicrodataRelease(people.frame, np.full(30, -1))
    with pytest.raises(NotApplicable, match="channel"):
        EnsembleLinkage(attacks=[LikelihoodAssignment()]).run(release, Knowledge(people.frame, people), generator(0))


@pytest.mark.parametrize("attacks", [[], [NearestNeighbour()], "all"])
def test_bad_members_are_refused(attacks):
    with pytest.raises(ValueError, match="attacks"):
        EnsembleLinkage(attacks=attacks)
