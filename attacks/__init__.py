"""Attacks turn a release and the attacker's knowledge into claims about people.

The contract of attacks: knowledge, claims, and released cells beside candidates.
    Attack: Base class of attacks, which make claims about people from a release.
    Claims: An attack's answer; a game scores the kinds that it takes.
    Decisions: Membership scores: one per person, higher for those whom the attack predicts to be members.
    gower_distance: Gower's distance of every released row to every candidate, shape (rows, candidates), in [0, 1].
    Knowledge: Knowledge of an attacker beside the release.
    NotApplicable: Raised by an attack that cannot be applied to a release; the message gives the reason.
    Predicates: Predicates, each claimed to hold for exactly one original.
    RankedAnswers: Scored answers to each target, sparse; the attack abstains on a target without an answer.
    shared_columns: Code the columns that the release and the candidates have in common, once for all attacks on a
        release.
    SharedColumn: A column that the release and the candidates have in common, both sides in coded form.
    ValueClaims: Claimed values of persons: an attribute, or cells of a reconstructed record.

Linkage: which record a released row stems from.
    AssignmentLinkage: Hungarian assignment: matches rows to different candidates with the least sum of Gower
        distances.
    BlockedLinkage: Linkage of large tables: blocking on informative columns, learned likelihoods, sparse
        assignment.
    EnsembleLinkage: Linear opinion pool of several linkage attacks: averages their confidences.
    ExpectationMaximizationLinkage: Linkage by expectation maximization: estimates the mechanism of each column
        while it matches.
    FellegiSunter: Fellegi-Sunter probabilistic record linkage, followed by a one-to-one assignment.
    GroupLinkage: Linkage of groups of equal rows: answers each group with its most probable candidate.
    LearnedLinkage: Linkage by a classifier of pairs, trained on simulated releases of the attacker's own people.
    LikelihoodAssignment: Maximum-likelihood matching by the release's own channel.
    NearestNeighbour: Nearest-neighbour linkage: answers every released row with the candidate at the smallest
        distance.
    ScoreboardDeanonymization: Scoreboard de-anonymization: identifies people in released ratings by a few of their
        ratings.
    SweeneyJoin: Joins a de-identified table to a named register by exact or generalized agreement.

Membership inference: decides whether a person is in a release or in a model's training set.
    DensityRatioMembership: Membership inference by the ratio of the release's density to the population's density
        (DOMIAS).
    DistanceToClosestRecord: Membership inference by the distance to the closest record, calibrated by tables of
        other people.
    EnsembleMembership: Membership inference by several attacks together, calibrated on shadow syntheses.
    Homer: Compares a person's attributes with the released and the population's frequencies.
    LikelihoodMembership: Likelihood-ratio test of membership under the channel that the release discloses.
    LikelihoodRatioAttack: Likelihood-ratio attack on a published classifier (LiRA, online).
    LocalLikelihoodMembership: Likelihood ratio of the released rows with and without a candidate among the
        reference people (Gen-LRA).
    LossThreshold: Membership inference by a threshold on the model's loss.
    MarginalLikelihoodRatio: Likelihood-ratio test of a person's attributes under the released and the population's
        frequencies.
    MarginalMembership: Membership inference by marginals, weighted by how closely a generator keeps them
        (MAMA-MIA).
    ModelMembership: Membership inference from the final model of a federated training.
    OfflineLikelihoodRatioAttack: Likelihood-ratio attack with shadow models of other people (LiRA, offline).
    RMIA: Relative membership inference on a published classifier (RMIA), with few reference models.
    ShadowModels: Membership inference by shadow models.
    SynthesisLikelihoodRatio: Membership inference by the likelihood ratio of a log-density in shadow syntheses with
        and without a person.

Attribute inference: a person's sensitive value.
    BayesInference: Attribute inference by Bayes' theorem, with a background learned from the attacker's own people.
    ClassifierInference: Attribute inference by extremely randomized trees, trained on the released rows.
    ColumnwiseReconstruction: Reconstruction that infers every hidden column by itself, by an attack on a sensitive
        value.
    CompositionAttack: Claims the likeliest sensitive value that the target's classes share in two releases.
    DeFinetti: Learns from the release itself how the sensitive value depends on quasi-identifiers.
    Downcoding: Takes generalized cells as tight and assigns their ends and categories to rows.
    FactorGraphReconstruction: Reconstruction of all hidden columns at once: forest posteriors, joined by belief
        propagation.
    Homogeneity: Answers only where all released rows nearest to the target have one sensitive value.
    MajorityInClass: Attribute inference by the most frequent sensitive value among the released rows nearest to the
        target.
    Minimality: Keeps only those worlds in which the publisher had a reason not to split a class.
    NearestRowInference: Attribute inference by the sensitive value of the released row nearest to the target
        (Gower's distance).
    Skewness: Claims the value whose share in the target's class exceeds its share in the table the most.

Singling out and linkability, two criteria of anonymization under the GDPR.
    MultivariateSinglingOut: Predicates on several columns that hold for exactly one released row.
    NearestRowLinkability: Links two partial records of a person if they have a nearest released row in common.
    UnivariateSinglingOut: Predicates on one column that hold for exactly one released row.

Attacks on statistics: curators that answer queries.
    Averaging: Differencing with every query repeated and its answers averaged.
    Differencing: Asks for a statistic with and without each person, and takes the difference.
    Distinguishing: Chooses two neighbouring tables and learns an event that separates them.
    HomerByQueries: Membership inference from the histograms of all columns that a curator answers.
    Reconstruction: Asks for the sums of random groups of persons and solves for all values at once.

Attacks on reports under local differential privacy.
    LongitudinalAveraging: Adds up the log-likelihoods of all rounds, so that fresh noise averages out.
    PoolInference: Names the pool of largest posterior given all reports of a person on different items.
    ValueGuess: Bayesian attack on one report: names the value of largest posterior.

Attacks on federated training.
    GradientInversion: Gradient inversion: reconstruct training records from updates of the first layer.
    UpdateMembership: Membership inference by gradient alignment or by loss, in one round or over all.

Posterior attacks on tables under PRAM.
    BestPosterior: Answer the pair of row and record with the largest exact posterior, knowing the whole table.
    histogram_from_matrix: Relative counts of the categories, read from a transition matrix that is optimal for
        their histogram.
    LeakagePosterior: Pick the worst table, and abstain unless the posterior is close to the largest of any release.
"""

import lazy_loader

__distribution__ = "tokumei"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
