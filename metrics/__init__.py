"""Metrics: anonymity, risk, utility and success rates; domains of columns and the grammar of released cells.

Released cells and the domains of columns
    CategoricalCells: A released categorical column.
    CategoricalDomain: The public categories of a column.
    Cells: A released column in coded form.
    infer_domain: Infer the domain of a column from its values; such a domain is not public.
    NumericCells: A released numeric column: every distinct cell is a union of segments.
    NumericDomain: The public range of a numeric column and its public bins.
    read_cells: Read a released column.

Anonymity: equivalence classes, k-anonymity, l-diversity, t-closeness and related measures
    alpha_anonymity: Alpha of (alpha, k)-anonymity: the largest share of one sensitive value in a class.
    beta_likeness: Basic beta-likeness: largest relative gain (p - q) / q over classes and sensitive values, at
        least 0.
    delta_disclosure: Delta-disclosure: largest |ln(p / q)| over classes and sensitive values; infinite where a
        class lacks a value.
    enhanced_beta_likeness: Enhanced beta-likeness: smallest beta with every gain at most min(beta, -ln q); infinite
        if a gain exceeds -ln q.
    entropy_l_diversity: Entropy l-diversity: the largest l with an entropy of at least log l in every class.
    equivalence_classes: Equivalence class of each row: rows with equal quasi-identifiers have the same number.
    k_anonymity: k-anonymity: the size of the smallest equivalence class.
    l_diversity: Distinct l-diversity: the smallest number of different sensitive values in a class.
    recursive_l_diversity: Recursive (c, l)-diversity: the largest l with r_1 < c (r_l + r_(l+1) + … + r_m) in every
        class.
    t_closeness_equal: t-closeness with equal distances between all sensitive values.
    t_closeness_ordered: t-closeness with ordered sensitive values, whose distance is the difference of their ranks.

Re-identification risk and population uniques
    journalist_risk: Journalist risk: the attacker knows the population, but not who is in the table; 1 / size of
        the class there.
    marketer_risk: Marketer risk: share of the records linked correctly by an attacker who links all records, in [0,
        1].
    minimal_sample_uniques: Minimal sample uniques: for each set of columns, the rows that it makes unique while
        none of its subsets does.
    pitman_uniques: Population uniques in the sample by Pitman's sampling formula, which models how classes form.
    poisson_gamma_uniques: Population uniques in the sample by the Poisson-gamma model: cell sizes are Poisson with
        gamma-distributed rates.
    prosecutor_risk: Prosecutor risk: the attacker knows that the target is in the table; 1 / size of the record's
        class.
    ReidentificationRisk: Re-identification risk: probability of a correct link, if the attacker picks uniformly
        among matching records.
    sample_uniques: Sample uniques: the number of rows whose quasi-identifiers no other row shares.
    snb_uniques: Population uniques in the sample by the shifted negative binomial model (SNB) of class sizes.
    suda_scores: SUDA scores: a row's score grows with the number of its minimal sample uniques, and with their
        smallness.
    zayatz_uniques: Population uniques in the sample by Zayatz: class sizes are distributed alike in sample and
        population.

Information loss and utility
    association_fidelity: 1 - the absolute difference of `association`, averaged over pairs of columns.
    average_class_size: Mean size of the equivalence classes; parameters and errors are those of `discernibility`.
    discernibility: Discernibility penalty: the sum of squared class sizes, since each record is penalized by the
        size of its class.
    generalization_loss: Iyengar's loss: mean of (u - 1) / (d - 1) over cells that cover u of d categories, in [0,
        1].
    generalization_precision: Sweeney's precision of a full-domain generalization: 1 - mean of level / height over
        the cells, in [0, 1].
    marginal_fidelity: 1 - the total variation distance between original and released marginals, averaged over the
        columns.
    non_uniform_entropy: Non-uniform entropy: share of information lost, 0 for the original table and 1 for a fully
        suppressed one.
    normalized_certainty_penalty: Normalized certainty penalty: mean share of the domain that a cell covers, in [0,
        1].
    propensity_mean_squared_error: Propensity score mean squared error: mean squared distance of the scores from the
        share of released rows.
    query_error: Mean relative error of the share of rows in random ranges of two columns, in [0, 1].
    query_fidelity: 1 - mean relative error of range counts.
    TableUtility: Utility of releases of one original table.

Measures of attacks: rates with confidence intervals, ROC, audits
    across_plays: Mean of per-play rates with an interval across plays that also holds near 0 and 1.
    advantage: Advantage over guessing, (rate - chance) / (1 - chance): 0 at chance level, 1 for certain success.
    clopper_pearson: Success rate in `n` independent trials with the exact interval of Clopper and Pearson.
    epsilon_lower_bound: Lower bound on epsilon from the frequencies of an event on two neighbouring inputs.
    Estimate: An estimated rate or mean with a confidence interval.
    pooled_true_positive_rate: Mean of `true_positive_rate` over plays, if there are enough negatives for an
        estimate.
    risk_after_control: Risk (a - c) / (1 - c) of an attack with success rate a, where c is its success rate on
        people outside the table.
    Score: An attack's success in one goal of one play.
    Scores: Scores of one attack in one play, by goal, and further measures of its claims.
    true_positive_rate: True positive rate at a given false positive rate.
    wilson: Success rate in `n` independent trials with Wilson's score interval.
"""

import lazy_loader

__distribution__ = "tokumei"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
