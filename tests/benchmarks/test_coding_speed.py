"""Coding a release once for all attacks on it, beside coding it afresh for each of them."""

import time
from dataclasses import replace

import pytest

from attacks.base.sides import gower_distance, shared_columns
from defenses import Mondrian
from scenarios import CandidateFile, load
from scenarios.tables.seeds import generator

ATTACKS = 6


@pytest.fixture(scope="module")
def handed():
    """A function that hands one attack its view and its knowledge, of 100 released rows and 200 candidates."""
    game = CandidateFile(records=load("bank").records)
    defense = Mondrian(k=5)
    secret = game.draw(generator(1, "draw"))
    published = game.publish(defense.apply(secret.records, generator(1, "apply")), generator(1, "publish"))
    return published, lambda release: (release.view(generator(1)), game.knowledge(secret, defense))


def seconds(releases, hand):
    """CPU time of Gower's distances for one attack on each of the releases."""
    started = time.process_time()
    for release in releases:
        gower_distance(shared_columns(*hand(release)))
    return time.process_time() - started


def test_coding_once_takes_less_than_half_of_coding_afresh(handed, benchmark):
    published, hand = handed
    seconds([replace(published)], hand)

    def once():
        return seconds([replace(published)] * ATTACKS, hand)

    shared = min(once() for _ in range(5))
    afresh = min(seconds([replace(published) for _ in range(ATTACKS)], hand) for _ in range(5))
    benchmark.pedantic(once, rounds=3)
    print(f"{ATTACKS} attacks: coded once {1e3 * shared:.1f} ms, coded afresh {1e3 * afresh:.1f} ms")
    assert shared <= afresh / 2
