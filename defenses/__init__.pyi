# base
from .base.defense import BlockwiseDefense as BlockwiseDefense
from .base.channel import Channel as Channel
from .base.channel_parts import ChannelPart as ChannelPart
from .base.defense import Defense as Defense
from .base.defense import MicrodataDefense as MicrodataDefense
from .base.defense import released_frame as released_frame
from .base.defense import rowwise_release as rowwise_release
from .base.guarantee import Guarantee as Guarantee
from .base.hierarchy import Hierarchy as Hierarchy
from .base.microdata import Microdata as Microdata
from .base.parameters import check_integer as check_integer
from .base.parameters import check_real as check_real
from .base.pipeline import Pipeline as Pipeline
from .base.release import MicrodataRelease as MicrodataRelease
from .base.release import ModelRelease as ModelRelease
from .base.release import Release as Release
from .base.release import ReportsRelease as ReportsRelease
from .base.release import StatisticsRelease as StatisticsRelease
from .base.release import TrainingRelease as TrainingRelease
from .base.simplex import project_to_simplex as project_to_simplex

# recoding
from .recoding.suppression import CellSuppression as CellSuppression
from .recoding.global_recoding import GlobalRecoding as GlobalRecoding
from .recoding.pseudonymization import Pseudonymization as Pseudonymization
from .recoding.suppression import RecordSuppression as RecordSuppression
from .recoding.number_coding import Rounding as Rounding
from .recoding.number_coding import TopBottomCoding as TopBottomCoding

# grouping
from .grouping.anatomy import Anatomy as Anatomy
from .grouping.incognito.incognito import FullDomainRelease as FullDomainRelease
from .grouping.incognito.incognito import Incognito as Incognito
from .grouping.microaggregation.microaggregation import GowerMicroaggregation as GowerMicroaggregation
from .grouping.microaggregation.microaggregation import KMeansMicroaggregation as KMeansMicroaggregation
from .grouping.microaggregation.microaggregation import Microaggregation as Microaggregation
from .grouping.microaggregation.univariate_microaggregation import (
    UnivariateMicroaggregation as UnivariateMicroaggregation,
)
from .grouping.mondrian.mondrian import Mondrian as Mondrian

# perturbation
from .perturbation.additive_noise import AdditiveNoise as AdditiveNoise
from .perturbation.reference_releases import Constant as Constant
from .perturbation.reference_releases import Identity as Identity
from .perturbation.swapping import RankSwapping as RankSwapping
from .perturbation.reference_releases import RecordReplacement as RecordReplacement
from .perturbation.swapping import RecordSwapping as RecordSwapping
from .perturbation.sampling import Sampling as Sampling
from .perturbation.swapping import Shuffle as Shuffle
from .perturbation.sampling import StratifiedSampling as StratifiedSampling

# pram
from .pram.optimal_matrix import OptimalMatrix as OptimalMatrix
from .pram.retention_defenses import OptimalRetention as OptimalRetention
from .pram.retention_defenses import OptimalRetentionWithPrior as OptimalRetentionWithPrior
from .pram.retention_defenses import OptimalRetentionByObjective as OptimalRetentionByObjective
from .pram.retention_defenses import OptimalRetentionByOutput as OptimalRetentionByOutput
from .pram.retention_defenses import OptimalRetentionFromNoisyHistogram as OptimalRetentionFromNoisyHistogram
from .pram.retention_defenses import RetentionReplacement as RetentionReplacement

# synthetic
from .synthetic.adaptive_iterative_mechanism import (
    AdaptiveIterativeMechanism as AdaptiveIterativeMechanism,
)
from .synthetic.tree_synthesis import ClassificationTrees as ClassificationTrees
from .synthetic.tree_synthesis import ForestSynthesis as ForestSynthesis
from .synthetic.simple_synthesis import GaussianCopula as GaussianCopula
from .synthetic.simple_synthesis import IndependentMarginals as IndependentMarginals
from .synthetic.spanning_trees import MaximumSpanningTree as MaximumSpanningTree
from .synthetic.simple_synthesis import NeighbourInterpolation as NeighbourInterpolation
from .synthetic.priv_bayes import PrivBayes as PrivBayes
from .synthetic.spanning_trees import PrivateMarginals as PrivateMarginals
from .synthetic.refined_bins import RefinedBins as RefinedBins

# curators
from .curators.curator import Curator as Curator
from .curators.reference_curators import ExactCurator as ExactCurator
from .curators.graph_curator import GraphCurator as GraphCurator
from .curators.reference_curators import UnaccountedCurator as UnaccountedCurator

# dp

# ldp
from .ldp.local_reports import LocalReports as LocalReports
from .ldp.reported.reported_table import ReportedTable as ReportedTable

# federated
from .federated.federated_averaging_defense import FederatedAveraging as FederatedAveraging
from .federated.private_gradient_descent import PrivateGradientDescent as PrivateGradientDescent
