"""A small table of ages and illnesses, and measures of attribute attacks."""

import numpy as np
import pandas as pd
from playing_tools import scored

from attacks import Knowledge
from defenses import Guarantee, Microdata, MicrodataRelease
from defenses.base.defense import MicrodataDefense, released_frame, rowwise_release
from metrics import CategoricalDomain, NumericDomain
from scenarios import AttributeInference
from scenarios.games.questions.attribute_question import successes
from scenarios.tables.seeds import generator

ILLNESS = CategoricalDomain(("flu", "cold", "ulcer"))


AGE = NumericDomain(0, 99, integer=True, cuts=(20, 40, 60, 80))


def people(ages, illnesses):
    return Microdata(
        pd.DataFrame({"age": ages, "illness": illnesses}),
        quasi_identifiers=("age",),
        sensitive=("illness",),
        domains={"age": AGE, "illness": ILLNESS},
    )


# Three classes of four: the first has flu only, the second flu and cold, the third cold thrice and one ulcer.
TWELVE = people(
    [21, 23, 25, 29, 30, 33, 35, 39, 40, 42, 44, 49],
    ["flu"] * 4 + ["flu", "flu", "cold", "cold"] + ["cold"] * 3 + ["ulcer"],
)


DECADES = ["[20,29]"] * 4 + ["[30,39]"] * 4 + ["[40,49]"] * 4


RELEASE = MicrodataRelease(pd.DataFrame({"age": DECADES, "illness": TWELVE.frame["illness"]}), np.full(12, -1))


# Eight strangers: four that the homogeneous class covers (one of them has flu), two of the second class, two of none.
STRANGERS = people([22, 24, 26, 28, 31, 34, 70, 80], ["flu", "cold", "cold", "ulcer", "flu", "cold", "flu", "flu"])


def claims(attack, ages, release=RELEASE, auxiliary=TWELVE):
    knowledge = Knowledge(pd.DataFrame({"age": ages}), auxiliary)
    return attack.run(release, knowledge, generator(0, "attack"))


def rates(attack):
    result = []
    for group in (TWELVE, STRANGERS):
        answers = claims(attack, group.frame["age"])
        correct, _ = successes(answers, "illness", ILLNESS, ILLNESS.codes(group.frame["illness"]))
        result.append(correct.sum() / len(group))
    return result


def advantage(defense, attack, records, plays=3):
    game = AttributeInference(records=records, originals=300, strangers=300, auxiliary=300)
    scores = [scored(defense, attack, game, generator(0, "play", number)) for number in range(plays)]
    rate, chance = (np.mean([getattr(each["attribute"], name) for each in scores]) for name in ("rate", "chance"))
    return (rate - chance) / (1 - chance)


class Unrelated(MicrodataDefense):
    """Quasi-identifiers as they are, the sensitive column permuted."""

    def apply(self, records, rng):
        frame = released_frame(records)
        for name in records.sensitive:
            frame[name] = frame[name].to_numpy()[rng.permutation(len(frame))]
        return rowwise_release(frame, None)

    def guarantee(self, records):
        return Guarantee()
