"""The contract of attacks: public domains, disclosed channels, and choices."""

import pandas as pd
import pytest

from attacks import Attack, Decisions, Knowledge, NotApplicable
from attacks.base.attack import disclosed_channel
from defenses import Microdata
from defenses.base.channel import Channel
from metrics import CategoricalDomain, NumericDomain
from scenarios.tables.seeds import generator

CANDIDATES = pd.DataFrame({"age": [21, 35], "job": ["nurse", None], "note": ["x", "y"]})
AUXILIARY = Microdata(
    pd.DataFrame({"age": [60], "job": ["cook"], "club": ["chess"]}),
    domains={"age": NumericDomain(0, 100, integer=True), "club": CategoricalDomain(("chess", "go"))},
)


def test_declared_domains_are_public_and_others_inferred_from_what_the_attacker_has():
    domains = Knowledge(CANDIDATES, AUXILIARY).domains(["age", "job", "club", "note"])
    assert list(domains) == ["age", "job", "club", "note"]
    assert (domains["age"].low, domains["age"].high) == (0, 100)
    assert domains["club"].categories == ("chess", "go")
    # People of both tables count; a missing value is no category, and a column may stand in one table alone.
    assert domains["job"].categories == ("cook", "nurse")
    assert domains["note"].categories == ("x", "y")
    assert (domains["age"].inferred, domains["job"].inferred) == (False, True)
    assert Knowledge(CANDIDATES, AUXILIARY).domains([]) == {}


def test_an_undisclosed_channel_makes_an_attack_not_applicable():
    channel = Channel()
    assert disclosed_channel(channel) is channel
    with pytest.raises(NotApplicable, match="the release discloses no channel"):
        disclosed_channel(None)
    assert not issubclass(NotApplicable, ValueError)


class Nobody(Attack):
    """Predicts that nobody is a member."""

    goal = "membership"

    def __init__(self, *, doubt=0.5):
        self.doubt = doubt

    def run(self, release, knowledge, rng):
        return Decisions([-self.doubt] * len(knowledge.candidates))


def test_an_attack_chooses_nothing_by_default_and_keeps_its_parameters():
    attack, knowledge = Nobody(doubt=0.25), Knowledge(CANDIDATES, AUXILIARY)
    assert attack.choose(knowledge, generator(1)) is None
    assert (attack.kind, Attack.goal) == ("microdata", "reidentification")
    assert attack.clone() == attack
    assert attack.run(None, knowledge, generator(1)).scores.tolist() == [-0.25, -0.25]
    with pytest.raises(TypeError, match="abstract"):
        Attack()


def test_knowledge_does_not_print_candidates():
    text = repr(Knowledge(CANDIDATES, AUXILIARY))
    assert "nurse" not in text
    assert "cook" not in text
