"""A full-domain release says its loss, and whether a smaller one is possible."""

import numpy as np
import pandas as pd

from defenses import FullDomainRelease


def test_the_remark_says_whether_the_loss_is_minimal():
    frame = pd.DataFrame({"age": ["[20,29]"]})
    proven = FullDomainRelease(frame, np.array([0]), None, levels={"age": 1}, loss=0.25)
    assert proven.remark == "loss 0.25, proven minimal"
    limited = FullDomainRelease(frame, np.array([0]), None, levels={"age": 1}, loss=0.25, optimal=False, bound=0.125)
    assert limited.remark == "loss 0.25, not proven minimal: no choice of levels has less than 0.125"
