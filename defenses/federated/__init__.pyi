# Training: models, clients, federated averaging
from .models import Architecture as Architecture
from .models import Network as Network
from .models import OneHiddenLayer as OneHiddenLayer
from .models import SoftmaxRegression as SoftmaxRegression
from .splits import EqualSplit as EqualSplit
from .splits import LabelSkewedSplit as LabelSkewedSplit
from .splits import Split as Split
from .splits import UnequalSplit as UnequalSplit
from .averaging import Client as Client
from .averaging import TrainingHistory as TrainingHistory
from .averaging import TrainingRules as TrainingRules
from .averaging import federated_averaging as federated_averaging
from .loss_bound import LossBound as LossBound

# Clipping, noise and privacy accounting
from .noise import ExampleClipping as ExampleClipping
from .noise import NormClipping as NormClipping
from .noise import UpdateClipping as UpdateClipping
from .noise import PrivacyLossNoise as PrivacyLossNoise
from .noise import RenyiNoise as RenyiNoise
from .noise import SequentialNoise as SequentialNoise
from .noise import UpdateNoise as UpdateNoise
from .noise import classical_multiplier as classical_multiplier
from .noise import downlink_sensitivity as downlink_sensitivity
from .noise import gaussian_epsilon as gaussian_epsilon
from .noise import gaussian_shift as gaussian_shift
from .noise import privacy_loss_epsilon as privacy_loss_epsilon
from .noise import renyi_epsilon as renyi_epsilon
from .noise import sequential_composition as sequential_composition
from .noise import uplink_sensitivity as uplink_sensitivity

# Secure sums and statistics
from .secret_sharing import SumProtocol as SumProtocol
from .secure_aggregation import SecureAggregation as SecureAggregation
from .secure_aggregation import PairwiseMasks as PairwiseMasks
from .secure_aggregation import Paillier as Paillier
from .secret_sharing import AdditiveShares as AdditiveShares
from .secret_sharing import ShamirShares as ShamirShares
from .secure_statistics import secure_correlation as secure_correlation
from .secure_statistics import secure_distance as secure_distance
from .secure_statistics import secure_histogram as secure_histogram
from .federated_averaging_defense import Encoding as Encoding

# Secret sharing and finite fields
from .secret_sharing import additive_shares as additive_shares
from .secret_sharing import shamir_rebuild as shamir_rebuild
from .secret_sharing import shamir_shares as shamir_shares
from .secret_sharing import AggregationError as AggregationError
from .secret_sharing import PrimeField as PrimeField

# garbling
from .garbling.comparisons import SecureAnswer as SecureAnswer
from .garbling.comparisons import secure_common_count as secure_common_count
from .garbling.comparisons import secure_greater as secure_greater
from .garbling.comparisons import secure_maximum as secure_maximum
from .garbling.comparisons import TwoPartyResult as TwoPartyResult
from .garbling.comparisons import run_two_parties as run_two_parties
