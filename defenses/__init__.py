"""Defenses turn records into a release; each states its privacy guarantee and its public channel.

The contract of defenses: records, releases, guarantees, channels and queries.
    Channel: The public description of a mechanism, for one release.
    ChannelPart: How one column, or several jointly, are released from a record.
    check_integer: Raise ValueError naming the parameter unless `value` is an integer of at least `low`.
    check_real: Raise ValueError naming the parameter unless `value` is a finite number in the interval.
    Defense: A method to publish records.
    Guarantee: The privacy guarantee of every release of a defense; a field that is None is not promised.
    Hierarchy: Ever coarser levels of a column's values; level 0 is the value itself.
    Microdata: Records of a publisher, one per row, with the roles of the columns.
    MicrodataDefense: A defense that publishes a table.
    MicrodataRelease: A released table.
    ModelRelease: A trained model, as far as it is public (predictions only, or all of it).
    Pipeline: Defenses on tables, applied one after the other.
    project_to_simplex: Euclidean projection onto the simplex: the nearest counts that are at least 0 and sum to
        `total`.
    Release: The publication of a defense.
    released_frame: Return the records without identifiers, as released cells, with rows numbered from 0.
    ReportsRelease: Reports that each person randomized before sending.
    rowwise_release: Return a release whose row i stems from record i.
    StatisticsRelease: A curator that answers queries.
    TrainingRelease: A model in training, as the server sees it.

Recoding: generalization, rounding, top and bottom coding, suppression, pseudonymization.
    CellSuppression: Local suppression: cells of rare combinations become ``*`` until every released row occurs at
        least k times.
    GlobalRecoding: Full-domain generalization: every value of a column is generalized to the same level of its
        hierarchy.
    Pseudonymization: Identifiers are replaced by random pseudonyms; all other columns are released unchanged.
    RecordSuppression: Records in classes smaller than k are suppressed; all others are released unchanged.
    Rounding: Numbers are rounded to the nearest multiple of a base.
    TopBottomCoding: Numbers below a lower or above an upper threshold are replaced by the threshold.

Grouping: k-anonymity and related models, which release records in classes of at least k.
    Anatomy: Anatomy (bucketization): sensitive values are released as the set of values in a group of at least l
        records.
    FullDomainRelease: A table released by full-domain generalization, with one hierarchy level per column.
    GowerMicroaggregation: Microaggregation by MDAV under Gower's distance, which weights numbers and categories
        equally.
    Incognito: Incognito full-domain k-anonymity: one hierarchy level per column, of minimum loss, with classes of
        at least k.
    KMeansMicroaggregation: Microaggregation of k-means clusters, which are split by MDAV into groups of k to 2k - 1
        records.
    Microaggregation: Microaggregation by MDAV: each record is replaced by the representative of its group of k to
        2k - 1 records.
    Mondrian: Mondrian multidimensional k-anonymity: classes of at least k records, released as intervals and sets.
    UnivariateMicroaggregation: Optimal univariate microaggregation: each numeric column on its own, with the least
        squared change.

Perturbation: noise, swapping, replacement, shuffling and sampling; the identity and a constant as references.
    AdditiveNoise: Independent noise of mean zero is added to numbers.
    Constant: Every released column holds one value: the reference for utility 0.
    Identity: The records are released without identifiers and otherwise unchanged: the reference for utility 1.
    RankSwapping: Rank swapping: each value is swapped with one whose rank in the column differs by at most a
        window.
    RecordReplacement: Each row is replaced, with a given probability, by a row drawn uniformly from the whole
        table.
    RecordSwapping: Record swapping: some records exchange chosen columns with similar records of another group.
    Sampling: A simple random sample of the records, drawn without replacement; the sampled records keep their
        order.
    Shuffle: Every released column is permuted independently: marginal distributions are kept, all associations are
        lost.
    StratifiedSampling: A random sample with the same sampling rate in every stratum; the sampled records keep their
        order.

Post-randomisation (PRAM): categories are released at random by transition matrices with known guarantees.
    OptimalMatrix: PRAM with full freedom: the transition matrix of largest mutual information among all that
        epsilon allows.
    OptimalRetention: PRAM with the matrix that is optimal for the records' own histogram.
    OptimalRetentionByObjective: PRAM with a matrix tuned by objective perturbation.
    OptimalRetentionByOutput: PRAM with a matrix tuned by output perturbation: noise on the flip probabilities of a
        regularised optimum.
    OptimalRetentionFromNoisyHistogram: PRAM with the matrix that is optimal for a differentially private histogram.
    OptimalRetentionWithPrior: PRAM with the matrix that is optimal for a public histogram, such as last year's.
    RetentionReplacement: Retention-replacement PRAM: keep a value with probability p, otherwise draw another one
        uniformly.
    More names: help(defenses.pram)

Synthetic tables drawn from a model of the records.
    AdaptiveIterativeMechanism: AIM: differentially private synthetic rows from adaptively chosen noisy marginals of
        a workload.
    ClassificationTrees: Synthetic rows from sequential classification and regression trees (CART), as synthpop
        draws them.
    ForestSynthesis: Synthetic rows from adversarial random forests (ARF): in the leaves of a forest, columns are
        independent.
    GaussianCopula: Synthetic rows from a Gaussian copula, which keeps the distributions of columns and their rank
        correlations.
    IndependentMarginals: Synthetic rows from independent marginals: each cell is drawn from its column's smoothed
        distribution.
    MaximumSpanningTree: MST: differentially private synthetic rows from a spanning tree of noisy two-way marginals.
    NeighbourInterpolation: Synthetic rows by SMOTE: each lies between a random record and one of its k nearest
        neighbours.
    PrivateMarginals: Differentially private synthetic rows from a tree of noisy one-way and two-way marginals
        (MST).
    PrivBayes: PrivBayes: differentially private synthetic rows from a Bayesian network of bounded degree.
    RefinedBins: Synthetic rows from noisy marginals of public bins that are refined where many records are.

Curators that answer queries about the records.
    Curator: Differentially private curator: answers statistical queries with noise until the privacy budget is
        spent.
    ExactCurator: Exact curator, the baseline of the other curators: answers every query exactly and without limit.
    GraphCurator: Curator of a graph: numbers of edges, degrees and triangles, under edge or node differential
        privacy.
    UnaccountedCurator: Curator without an account: each answer is differentially private, a session of many answers
        is not.

Central differential privacy: mechanisms on numbers and scores, sensitivities, composition and privacy accounts.
    More names: help(defenses.dp)

Local differential privacy: each person randomizes a value before sending it, and the server estimates counts.
    LocalReports: Local differential privacy: each person reports one column through a protocol of `defenses.ldp`.
    ReportedTable: Local differential privacy for tables: each person reports many columns through a protocol of
        `defenses.ldp`.
    More names: help(defenses.ldp)

Federated learning: averaging, noise on updates and models, secure aggregation.
    FederatedAveraging: Federated averaging, with the server as adversary.
    PrivateGradientDescent: Differentially private classifier, trained by noisy gradient descent (DP-SGD); only the
        model is published.
    More names: help(defenses.federated)
"""

import lazy_loader

__distribution__ = "tokumei"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
