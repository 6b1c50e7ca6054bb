"""Linkability: exact expected links under ties, exact rates on a copy, nothing on independent data."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from criteria_tools import people
from numpy.testing import assert_allclose
from playing_tools import scored, secret_of

from attacks import Knowledge, NearestRowLinkability, NotApplicable
from attacks.criteria.nearest_row_linkability import NearestRows, TwoFiles, nearest_rows
from defenses import Constant, Identity, Microdata, MicrodataRelease
from metrics import CategoricalDomain
from scenarios import Linkability
from scenarios.games.questions.person_questions import common_row_probability
from scenarios.tables.seeds import generator


def by_enumeration(first, second, count):
    """Share of pairs of equally good sets of `count` nearest rows that have a row in common."""

    def sets(distance):
        best = sorted(distance)[:count]
        return [rows for rows in combinations(range(len(distance)), count) if sorted(distance[list(rows)]) == best]

    pairs = [(left, right) for left in sets(first) for right in sets(second)]
    return sum(bool(set(left) & set(right)) for left, right in pairs) / len(pairs)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_expected_links_equal_enumeration(count):
    rng = generator(0, "distances")
    first, second = (rng.integers(0, 3, (7, 60)).astype(float) for _ in range(2))
    links = common_row_probability(nearest_rows(first, count), nearest_rows(second, count))
    expected = [by_enumeration(first[:, person], second[:, person], count) for person in range(60)]
    assert_allclose(links, expected, atol=1e-12)


@pytest.mark.thorough
def test_expected_links_of_large_tables():
    # All of 5,000 rows tied: of 2,500 drawn twice some row is common; of one drawn twice with probability 1/5,000.
    everybody = np.ones((5000, 1), dtype=bool)
    for count, expected in ((1, 1 / 5000), (2, 1 - 4998 * 4997 / (5000 * 4999)), (2500, 1.0)):
        rows = NearestRows(~everybody, everybody, np.array([count]))
        assert_allclose(common_row_probability(rows, rows), [expected], rtol=1e-7)


def table(rows, rng):
    domain = CategoricalDomain(tuple("abc"))
    frame = pd.DataFrame({name: rng.choice(list("abc"), rows) for name in ("p", "q", "r", "s")})
    return Microdata(frame, quasi_identifiers=tuple(frame.columns), domains=dict.fromkeys(frame.columns, domain))


def test_the_rate_on_a_copy_is_exact():
    records = table(24, generator(0, "table"))
    game = Linkability(records=records, originals=14, strangers=10, auxiliary=0)
    scores = scored(Identity(), NearestRowLinkability(), game, generator(0, "play"))
    secret = secret_of(game, generator(0, "play").spawn(4)[1])
    originals = secret.records.frame
    halves = []
    for columns in (["p", "q"], ["r", "s"]):
        values = originals[columns].to_numpy()
        halves.append((values[:, None] != values[None]).mean(axis=2))
    links = [by_enumeration(halves[0][:, person], halves[1][:, person], 1) for person in range(14)]
    assert 0.1 < np.mean(links) < 0.9
    assert_allclose(scores["linkability"].rate, np.mean(links), atol=1e-12)
    assert scored(Identity(), NearestRowLinkability(), game, generator(0, "play")) == scores


class Independent(Identity):
    """Releases invented people of the same law."""

    def apply(self, records, rng):
        frame = people(len(records), rng).frame
        return MicrodataRelease(frame, np.full(len(frame), -1))


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("neighbours", [1, 5])
def test_a_copy_links_everybody_and_independent_rows_nobody(neighbours):
    game = Linkability(records=people(1000, generator(0, "people")), originals=300, strangers=300, auxiliary=100)
    attack = NearestRowLinkability(neighbours=neighbours)
    copied = scored(Identity(), attack, game, generator(0, "play"))
    assert copied["linkability"].rate == 1
    assert copied.measures["risk"] == 1
    assert copied["linkability"].chance < 0.2
    fresh = scored(Independent(), attack, game, generator(0, "play"))
    # The interval of the risk holds 0 with 95 %; this seed is fixed.
    assert fresh.measures["risk_low"] <= 0 <= fresh.measures["risk_high"]


def test_a_constant_table_links_by_chance_alone():
    records = table(60, generator(0, "table"))
    game = Linkability(records=records, originals=20, strangers=20, auxiliary=0)
    scores = scored(Constant(), NearestRowLinkability(), game, generator(0, "play"))
    assert_allclose([scores["linkability"].rate, scores["linkability"].chance], 1 / 20)


def test_bad_claims_and_releases_are_refused():
    records = people(30, generator(0))
    game = Linkability(records=records, originals=10, strangers=10, auxiliary=0)
    secret = secret_of(game, generator(0))
    release = Identity().apply(secret.records, generator(0))
    with pytest.raises(NotApplicable, match="two files"):
        NearestRowLinkability().run(release, Knowledge(records.frame, records), generator(0))
    with pytest.raises(NotApplicable, match="no row"):
        NearestRowLinkability().run(
            release.take(np.zeros(0, dtype=int)),
            TwoFiles(records.frame[["p"]], records, None, records.frame[["q"]]),
            generator(0),
        )
    with pytest.raises(ValueError, match="neighbours"):
        NearestRowLinkability(neighbours=0)
    # More neighbours than rows: all of them, and everybody is linked.
    scores = scored(Identity(), NearestRowLinkability(neighbours=99), game, generator(0))
    assert scores["linkability"].rate == scores["linkability"].chance == 1
