# Mechanisms
from .mechanism import Mechanism as Mechanism
from .pure_noise import DiscreteLaplace as DiscreteLaplace
from .pure_noise import Laplace as Laplace
from .gaussian import DiscreteGaussian as DiscreteGaussian
from .gaussian import Gaussian as Gaussian
from .pure_noise import Staircase as Staircase
from .randomized_response import RandomizedResponse as RandomizedResponse
from .selection import Exponential as Exponential
from .selection import ReportNoisyMax as ReportNoisyMax
from .streams import SparseVector as SparseVector
from .graphs import release_degree_counts as release_degree_counts
from .graphs import release_edge_count as release_edge_count
from .graphs import release_triangle_count as release_triangle_count
from .streams import BinaryTree as BinaryTree
from .mechanism import drawn_in_bulk as drawn_in_bulk

# Sensitivities
from .sensitivity import brute_force_sensitivity as brute_force_sensitivity
from .sensitivity import clip as clip

# Composition and privacy accounts
from .composition import advanced as advanced
from .composition import group_privacy as group_privacy
from .composition import parallel as parallel
from .composition import pointwise as pointwise
from .composition import serial as serial
from .composition import weak_secrecy as weak_secrecy
from .composition import zcdp_delta as zcdp_delta
from .composition import zcdp_epsilon as zcdp_epsilon
from .composition import zcdp_rho as zcdp_rho
from .account import Account as Account
from .account import Accountant as Accountant
from .account import AdvancedAccountant as AdvancedAccountant
from .account import ConcentratedAccountant as ConcentratedAccountant
from .account import LossDistributionAccountant as LossDistributionAccountant
from .account import RenyiAccountant as RenyiAccountant
