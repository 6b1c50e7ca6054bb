"""Metrics: anonymity, risk, utility and success rates; domains of columns and the grammar of released cells.

Released cells and the domains of columns
    CategoricalCells: A released categorical column.
    CategoricalDomain: The public categories of a column.
    Cells: A released column in coded form.
    infer_domain: Domain of a column for which none was declared, read from its values (and therefore not public).
    NumericCells: A released numeric column: every distinct cell is a union of segments.
    NumericDomain: The public range of a numeric column and its public bins.
    read_cells: Read a released column.

Anonymity: equivalence classes, k-anonymity, l-diversity, t-closeness and related measures
    alpha_anonymity: Alpha of (alpha, k)-anonymity: the largest share of one sensitive value in a class.
    beta_likeness: Basic beta-likeness: the largest relative gain (p - q) / q over classes and sensitive values, at
        least 0.
    delta_disclosure: Largest |ln(p / q)| over classes and sensitive values; infinite where a class lacks a value.
    enhanced_beta_likeness: Smallest beta with every gain (p - q) / q at most min(beta, -ln q); infinite where a
        gain exceeds -ln q.
    entropy_l_diversity: Entropy l-diversity: the largest l with an entropy of at least log l in every class.
    equivalence_classes: Class of each row: rows have the same number where they agree on every quasi-identifier.
    k_anonymity: Size of the smallest equivalence class.
    l_diversity: Distinct l-diversity: the smallest number of different sensitive values in a class.
    recursive_l_diversity: Recursive (c, l)-diversity: the largest l with r_1 < c (r_l + r_(l+1) + … + r_m) in every
        class.
    t_closeness_equal: t-closeness where all sensitive values are equally far apart.
    t_closeness_ordered: t-closeness where the sensitive values stand in an order, as far apart as their ranks.

Re-identification risk and population uniques
    journalist_risk: Risk from somebody who knows the population but not who is in the table: 1 / size of the class
        there.
    marketer_risk: Share of the records that somebody links rightly who links them all, in [0, 1].
    minimal_sample_uniques: Find the rows that a set of columns singles out and none of its proper subsets does.
    pitman_uniques: Records unique in sample and population, where classes form as in Pitman's sampling formula.
    poisson_gamma_uniques: Records unique in sample and population, where the sizes of cells are Poisson with a
        gamma distributed rate.
    prosecutor_risk: Risk from somebody who knows that their target is in the table: 1 / size of the record's class.
    ReidentificationRisk: How likely records are linked with the right person, when an attacker picks at random
        among those that match.
    sample_uniques: Number of rows that no other row shares its quasi-identifiers with.
    snb_uniques: Records unique in sample and population, where sizes less one are negative binomial (the SNB
        model).
    suda_scores: How special each row is: the more and the smaller its minimal sample uniques, the higher.
    zayatz_uniques: Records unique in sample and population, where the population's classes are sized as the
        sample's are.

Information loss and utility
    association_fidelity: 1 - the difference of `association`, averaged over pairs of columns.
    average_class_size: Mean number of rows in a class; parameters and errors as for `discernibility`.
    discernibility: Discernibility penalty: each record counts the size of its class, hence the sum of squared class
        sizes.
    generalization_loss: Iyengar's loss: mean of (u - 1) / (d - 1) over cells that cover u of d categories, in [0,
        1].
    generalization_precision: Sweeney's precision of a full-domain generalization: 1 - mean of level / height over
        the cells, in [0, 1].
    marginal_fidelity: 1 - the total variation distance between the marginals of a column, averaged over the
        columns.
    non_uniform_entropy: Bits that are lost of the bits there are: 0 for the original, 1 for a table that is
        suppressed as a whole.
    normalized_certainty_penalty: Normalised certainty penalty: mean share of its domain that a cell is blurred
        over, in [0, 1].
    propensity_mean_squared_error: Mean squared distance of the predicted chance of being a released row from the
        share of released rows.
    query_error: Mean relative error of the share of rows in random ranges of two columns, in [0, 1].
    query_fidelity: 1 - mean relative error of range counts; an error counts 1 at most and is relative to one row at
        least.
    TableUtility: Scores releases of one original table.

Measures of attacks: rates with confidence intervals, ROC, audits
    across_plays: Mean of per-play rates with Student's t interval, clipped to [0, 1].
    advantage: Advantage over guessing, (rate - chance) / (1 - chance): 0 at chance level, 1 for certain success.
    clopper_pearson: Rate of successes in `n` independent trials with the exact interval of Clopper and Pearson.
    epsilon_lower_bound: Lower bound on epsilon from how often an event happened on two neighbouring inputs.
    Estimate: An estimated rate or mean with a confidence interval.
    pooled_true_positive_rate: Mean over plays of `true_positive_rate`, where there are negatives enough to say
        anything.
    risk_after_control: Risk (a - c) / (1 - c) of an attack with success rate a, whose rate on people outside the
        table is c.
    Score: An attack's success in one goal of one play.
    Scores: Scores of one attack in one play, by goal, and further measures of its claims.
    true_positive_rate: Share of positives found where a given share of negatives is found too.
    wilson: Rate of successes in `n` independent trials with Wilson's score interval.
"""

import lazy_loader

__distribution__ = "tokumei"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
