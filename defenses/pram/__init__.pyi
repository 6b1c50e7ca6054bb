# Transition matrices and their guarantees
from .matrix import epsilon as epsilon
from .matrix import invariant as invariant
from .matrix import pk as pk
from .matrix import retention_epsilon as retention_epsilon
from .matrix import retention_pk as retention_pk
from .matrix import transition_matrix as transition_matrix
from .optimal import expected_distance as expected_distance
from .optimal import optimal_retention as optimal_retention
from .conversions import epsilon_for_k as epsilon_for_k
from .conversions import epsilon_for_retention as epsilon_for_retention
from .conversions import k_for_epsilon as k_for_epsilon
from .conversions import retention_for_epsilon as retention_for_epsilon

# Randomization
from .sampling import draw as draw
from .sampling import replace as replace

# Estimates of the original histogram
from .histogram_estimate import HistogramEstimate as HistogramEstimate
from .histogram_estimate import bayesian_histogram as bayesian_histogram
from .histogram_estimate import estimate_histogram as estimate_histogram
