# Released cells and the domains of columns
from .columns.cells import CategoricalCells as CategoricalCells
from .columns.cells import Cells as Cells
from .columns.cells import NumericCells as NumericCells
from .columns.cells import read_cells as read_cells
from .columns.domains import CategoricalDomain as CategoricalDomain
from .columns.domains import NumericDomain as NumericDomain
from .columns.domains import infer_domain as infer_domain

# Anonymity: equivalence classes, k-anonymity, l-diversity, t-closeness and related measures
from .classes import equivalence_classes as equivalence_classes
from .classes import k_anonymity as k_anonymity
from .diversity import alpha_anonymity as alpha_anonymity
from .diversity import entropy_l_diversity as entropy_l_diversity
from .diversity import l_diversity as l_diversity
from .diversity import recursive_l_diversity as recursive_l_diversity
from .diversity import t_closeness_equal as t_closeness_equal
from .diversity import t_closeness_ordered as t_closeness_ordered
from .diversity import beta_likeness as beta_likeness
from .diversity import delta_disclosure as delta_disclosure
from .diversity import enhanced_beta_likeness as enhanced_beta_likeness

# Re-identification risk and population uniques
from .risk import ReidentificationRisk as ReidentificationRisk
from .risk import group_risk as group_risk
from .risk import individual_risk as individual_risk
from .risk import journalist_risk as journalist_risk
from .risk import marketer_risk as marketer_risk
from .risk import prosecutor_risk as prosecutor_risk
from .uniques import pitman_uniques as pitman_uniques
from .uniques import PoissonGamma as PoissonGamma
from .uniques import poisson_gamma as poisson_gamma
from .uniques import poisson_gamma_uniques as poisson_gamma_uniques
from .uniques import sample_uniques as sample_uniques
from .uniques import snb_uniques as snb_uniques
from .uniques import zayatz_uniques as zayatz_uniques
from .suda import minimal_sample_uniques as minimal_sample_uniques
from .suda import suda_scores as suda_scores

# Information loss and utility
from .generalization import average_class_size as average_class_size
from .generalization import discernibility as discernibility
from .generalization import generalization_loss as generalization_loss
from .generalization import normalized_certainty_penalty as normalized_certainty_penalty
from .generalization import generalization_precision as generalization_precision
from .generalization import non_uniform_entropy as non_uniform_entropy
from .fidelity import association_fidelity as association_fidelity
from .fidelity import marginal_fidelity as marginal_fidelity
from .fidelity import query_fidelity as query_fidelity
from .fidelity import propensity_mean_squared_error as propensity_mean_squared_error
from .fidelity import query_error as query_error
from .table_utility import TableUtility as TableUtility

# Measures of attacks: rates with confidence intervals, ROC, audits
from .score import Score as Score
from .score import Scores as Scores
from .score import advantage as advantage
from .estimate import Estimate as Estimate
from .estimate import across_plays as across_plays
from .estimate import wilson as wilson
from .ranking import pooled_true_positive_rate as pooled_true_positive_rate
from .ranking import true_positive_rate as true_positive_rate
from .score import risk_after_control as risk_after_control
from .empirical_epsilon import clopper_pearson as clopper_pearson
from .empirical_epsilon import epsilon_lower_bound as epsilon_lower_bound
