# base
from .base.attack import Attack as Attack
from .base.attack import Knowledge as Knowledge
from .base.attack import NotApplicable as NotApplicable
from .base.attack import Claims as Claims
from .base.attack import Decisions as Decisions
from .base.attack import Predicates as Predicates
from .base.attack import RankedAnswers as RankedAnswers
from .base.attack import ValueClaims as ValueClaims
from .base.sides import SharedColumn as SharedColumn
from .base.sides import gower_distance as gower_distance
from .base.sides import shared_columns as shared_columns

# linkage
from .linkage.assignment_linkage import AssignmentLinkage as AssignmentLinkage
from .linkage.blocked_linkage import BlockedLinkage as BlockedLinkage
from .linkage.ensemble_linkage import EnsembleLinkage as EnsembleLinkage
from .linkage.expectation_maximization_linkage import ExpectationMaximizationLinkage as ExpectationMaximizationLinkage
from .linkage.fellegi_sunter import FellegiSunter as FellegiSunter
from .linkage.group_linkage import GroupLinkage as GroupLinkage
from .linkage.learned_linkage import LearnedLinkage as LearnedLinkage
from .linkage.likelihood_assignment import LikelihoodAssignment as LikelihoodAssignment
from .linkage.linkage_membership import LinkageMembership as LinkageMembership
from .linkage.nearest_neighbour import NearestNeighbour as NearestNeighbour
from .linkage.scoreboard_deanonymization import ScoreboardDeanonymization as ScoreboardDeanonymization
from .linkage.sweeney_join import SweeneyJoin as SweeneyJoin

# membership
from .membership.density_ratio_membership import DensityRatioMembership as DensityRatioMembership
from .membership.distance_to_closest_record import DistanceToClosestRecord as DistanceToClosestRecord
from .membership.distance_to_closest_record import EuclideanClosestRecord as EuclideanClosestRecord
from .membership.ensemble_membership import EnsembleMembership as EnsembleMembership
from .membership.homer import Homer as Homer
from .membership.homer import MarginalLikelihoodRatio as MarginalLikelihoodRatio
from .membership.likelihood_membership import LikelihoodMembership as LikelihoodMembership
from .membership.likelihood_ratio_attack import LikelihoodRatioAttack as LikelihoodRatioAttack
from .membership.likelihood_ratio_attack import OfflineLikelihoodRatioAttack as OfflineLikelihoodRatioAttack
from .membership.local_likelihood_membership import LocalLikelihoodMembership as LocalLikelihoodMembership
from .membership.loss_threshold import LossThreshold as LossThreshold
from .membership.marginal_membership import MarginalMembership as MarginalMembership
from .membership.model_membership import ModelMembership as ModelMembership
from .membership.query_membership import QueryMembership as QueryMembership
from .membership.rank_average_membership import RankAverageMembership as RankAverageMembership
from .membership.rmia import RMIA as RMIA
from .membership.shadow_models import ShadowModels as ShadowModels
from .membership.synthesis_likelihood_ratio import SynthesisLikelihoodRatio as SynthesisLikelihoodRatio
from .membership.vulnerable_record_membership import VulnerableRecordMembership as VulnerableRecordMembership

# attributes
from .attributes.learned_inference import BayesInference as BayesInference
from .attributes.learned_inference import ClassifierInference as ClassifierInference
from .attributes.reconstruction_of_columns import ColumnwiseReconstruction as ColumnwiseReconstruction
from .attributes.majority_in_class import CompositionAttack as CompositionAttack
from .attributes.learned_inference import DeFinetti as DeFinetti
from .attributes.minimal_generalization import Downcoding as Downcoding
from .attributes.reconstruction_of_columns import FactorGraphReconstruction as FactorGraphReconstruction
from .attributes.majority_in_class import Homogeneity as Homogeneity
from .attributes.majority_in_class import MajorityInClass as MajorityInClass
from .attributes.minimal_generalization import Minimality as Minimality
from .attributes.majority_in_class import NearestRowInference as NearestRowInference
from .attributes.majority_in_class import Skewness as Skewness

# criteria
from .criteria.nearest_row_linkability import NearestRowLinkability as NearestRowLinkability
from .criteria.singling_out import MultivariateSinglingOut as MultivariateSinglingOut
from .criteria.singling_out import UnivariateSinglingOut as UnivariateSinglingOut

# statistics
from .statistics.disclosure_by_queries import Averaging as Averaging
from .statistics.disclosure_by_queries import Differencing as Differencing
from .statistics.distinguishing import Distinguishing as Distinguishing
from .statistics.disclosure_by_queries import HomerByQueries as HomerByQueries
from .statistics.disclosure_by_queries import Reconstruction as Reconstruction

# reports
from .reports.inference_from_reports import LongitudinalAveraging as LongitudinalAveraging
from .reports.inference_from_reports import PoolInference as PoolInference
from .reports.inference_from_reports import ValueGuess as ValueGuess

# training
from .training.gradient_inversion import GradientInversion as GradientInversion
from .training.update_membership import UpdateMembership as UpdateMembership

# pram
from .pram.posteriors import BestPosterior as BestPosterior
from .pram.posteriors import LeakagePosterior as LeakagePosterior
from .pram.posteriors import histogram_from_matrix as histogram_from_matrix
