"""Results of invented defenses and attacks, to be compared with each other."""

import numpy as np

from leaderboard import Result
from metrics import Score

DEFENSES = ("Alpha", "Beta", "Gamma", "Delta")
ATTACKS = ("Greedy", "Optimal")


def played(seed, *, plays=20, defenses=DEFENSES, weakened=0.0, slower=1.0, useless=0.0, machine=1.0, seconds=0.1):
    """Results of invented defenses; the first of them is changed as asked."""
    rng = np.random.default_rng(seed)
    results = []
    for number, defense in enumerate(defenses):
        changed = number == 0
        for play in range(plays):
            took = seconds * machine * rng.lognormal(0, 0.05) * (slower if changed else 1)
            utility = float(np.clip(rng.normal(0.6, 0.05) - (useless if changed else 0), 0, 1))
            values = {"marginals": utility, "classifier_auc": rng.normal(0.7, 0.02), "classifier_auc_original": 0.8}
            common = {"scenario": "bank", "defense": defense, "play": play}
            results.append(Result(key=f"{defense} {play}", values=values, seconds=took, **common))
            for attack in ATTACKS:
                rows = rng.binomial(100, 0.5 + (weakened if changed else 0)) / 100
                took = 3 * seconds * machine * rng.lognormal(0, 0.05)
                members = rng.binomial(100, 0.7) / 100
                scores = {
                    "reidentification": Score("reidentification", rows, 0.005, 100),
                    "membership": Score("membership", members, 0.5, 100),
                }
                key = f"{defense} {attack} {play}"
                trial = {"key": key, "attack": attack, "game": {"decoys": "hard"}, "seconds": took}
                results.append(Result(**trial, scores=scores, **common))
    return results
