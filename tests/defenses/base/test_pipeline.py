"""Pipelines of defenses."""

from defense_tools import apply, public

from defenses.base.pipeline import Pipeline
from defenses.perturbation.additive_noise import AdditiveNoise
from defenses.perturbation.sampling import Sampling
from defenses.perturbation.swapping import RankSwapping


def test_pipeline_of_disjoint_columns_has_a_channel():
    steps = Pipeline(steps=[AdditiveNoise(columns=["age"]), RankSwapping(columns=["job"]), Sampling(rate=0.5)])
    release = apply(steps, public())
    assert release.channel.columns == {"age", "job"}
    assert release.channel.sampling_rate == 0.5
    assert len(release.frame) == 20
