# Transition matrices and their guarantees
from .matrix import epsilon as epsilon
from .matrix import invariant as invariant
from .matrix import pk as pk
from .matrix import retention_epsilon as retention_epsilon
from .matrix import retention_pk as retention_pk
from .matrix import transition_matrix as transition_matrix
from .optimal import expected_distance as expected_distance
from .optimal import optimal_retention as optimal_retention
from .matrix import epsilon_for_k as epsilon_for_k
from .matrix import epsilon_for_retention as epsilon_for_retention
from .matrix import k_for_epsilon as k_for_epsilon
from .matrix import retention_for_epsilon as retention_for_epsilon

# Randomization
from .randomized import draw as draw
from .randomized import replace as replace

# Estimates of the original histogram
from .histogram_estimate import HistogramEstimate as HistogramEstimate
from .histogram_estimate import bayesian_histogram as bayesian_histogram
from .histogram_estimate import estimate_histogram as estimate_histogram
