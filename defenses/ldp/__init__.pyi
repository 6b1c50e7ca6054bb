# The contract of protocols
from .frequency_oracle import FrequencyOracle as FrequencyOracle
from .frequency_oracle import PureOracle as PureOracle
from .frequency_oracle import ReportBatch as ReportBatch

# Randomized response, unary encoding and histogram encoding
from .randomized_response import BinaryRandomizedResponse as BinaryRandomizedResponse
from .randomized_response import GeneralizedRandomizedResponse as GeneralizedRandomizedResponse
from .bit_vectors import OptimizedUnaryEncoding as OptimizedUnaryEncoding
from .bit_vectors import SymmetricUnaryEncoding as SymmetricUnaryEncoding
from .histogram_encoding import SummationHistogramEncoding as SummationHistogramEncoding
from .histogram_encoding import ThresholdedHistogramEncoding as ThresholdedHistogramEncoding

# Hashing, Hadamard transforms and subsets
from .local_hashing import BinaryLocalHashing as BinaryLocalHashing
from .local_hashing import OptimizedLocalHashing as OptimizedLocalHashing
from .hadamard_response import HadamardResponse as HadamardResponse
from .bit_vectors import SubsetSelection as SubsetSelection

# Sketches for large domains
from .count_mean_sketches import mean_estimate as mean_estimate
from .count_mean_sketches import draw_estimates as draw_estimates
from .count_mean_sketches import CountMeanSketch as CountMeanSketch
from .count_mean_sketches import HadamardCountMeanSketch as HadamardCountMeanSketch
from .sequence_fragment_puzzle import SequenceFragmentPuzzle as SequenceFragmentPuzzle

# Longitudinal collection: several rounds of reports
from .bit_vectors import LongitudinalOptimizedUnaryEncoding as LongitudinalOptimizedUnaryEncoding
from .bit_vectors import LongitudinalSymmetricUnaryEncoding as LongitudinalSymmetricUnaryEncoding

# Amplification by shuffling
from .shuffling import ShuffledResponse as ShuffledResponse
from .shuffling import attained_delta as attained_delta
from .shuffling import clones_epsilon as clones_epsilon
from .shuffling import shuffled_delta as shuffled_delta
from .shuffling import shuffled_epsilon as shuffled_epsilon

# Numbers
from .number_mechanisms import NumberMechanism as NumberMechanism
from .number_mechanisms import PiecewiseMechanism as PiecewiseMechanism
from .number_mechanisms import TwoPointMechanism as TwoPointMechanism
from .number_mechanisms import HybridMechanism as HybridMechanism

# Choice of a protocol, and projection of estimates
from .best import best_protocol as best_protocol
from .frequency_oracle import norm_sub as norm_sub
