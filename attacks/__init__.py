"""Attacks: from a release and what the attacker knows to claims about the people behind it.

The contract of attacks: knowledge, claims, and released cells beside candidates.
    Attack: A way to learn about people from a release.
    Claims: An attack's answer; a game scores the kinds that it knows.
    Decisions: One score a person: the higher, the surer the attack is that the statement holds of them
        (membership).
    Knowledge: All that an attacker is handed beside the release.
    NotApplicable: Raised by an attack that cannot work on this release; the message says why.
    Predicates: Predicates that the attack claims to hold of exactly one original.
    RankedAnswers: For each target some answers with scores, sparse; a target without an answer is one that the
        attack abstains on.
    ValueClaims: Values that the attack claims of persons: an attribute, or cells of a reconstructed record.

Linkage: which record a released row stems from.
    AssignmentLinkage: Assigns released rows to different candidates so that Gower distances add up to the least.
    EnsembleLinkage: Averages the confidences of several attacks and answers each row with the surest candidate on
        average.
    ExpectationMaximizationLinkage: Estimates, per column, how often values were kept, disturbed or replaced, while
        matching rows to candidates.
    FellegiSunter: Weighs the agreement of each column by how much oftener it occurs among matches, then assigns one
        to one.
    GroupLinkage: Matches groups of equal released rows with sets of candidates, and answers each group with its
        surest candidate.
    LearnedLinkage: Repeats the defense on people of the attacker's own, learns from them which pairs match, and
        assigns one to one.
    LikelihoodAssignment: Finds the one-to-one assignment under which the release is most likely, by the release's
        own channel.
    NearestNeighbour: Answers every released row with the candidate at the smallest distance.
    ScoreboardDeanonymization: Scores every released person by the known ratings that it shares, and answers only
        where one stands out.
    SweeneyJoin: Names for every released row the one person of the register who is compatible with it, or ranks
        people by that.

Membership inference: whether a person is in a release or in a model's training set.
    DensityRatioMembership: Calls those members around whom the release is denser than other people's tables are
        (DOMIAS).
    DistanceToClosestRecord: Calls those members whose closest released row is closer than it would be if they were
        not in.
    Homer: Calls those members whose attributes lie nearer to the released frequencies than to the population's.
    LikelihoodMembership: Calls those members under whom the release is likeliest, by the release's own channel.
    LikelihoodRatioAttack: Compares what the model says about a person with models trained with and without that
        person (LiRA, online).
    LossThreshold: Calls those members on whose own class the model has the smallest loss.
    MarginalLikelihoodRatio: Calls those members whose attributes the release holds more of than the population
        does, as a likelihood ratio.
    ModelMembership: Runs a membership attack on models against the model that a training ended with; updates are
        not looked at.
    OfflineLikelihoodRatioAttack: Compares what the model says about a person with models trained on other people
        (LiRA, offline).
    ShadowModels: Trains models like the published one, and on their answers a classifier of members and others.

Attribute inference: a person's sensitive value.
    BayesInference: Combines a background distribution, learned from the attacker's own people, with the target's
        class.
    ClassifierInference: Trains extremely randomized trees on the released rows and predicts the targets' sensitive
        values.
    CompositionAttack: Keeps the sensitive values that the target's classes have in both releases, the likeliest
        first.
    DeFinetti: Learns from the release itself how quasi-identifiers and the sensitive value go together, and undoes
        groups.
    Downcoding: Reads generalized cells as the tightest ones: their ends, and every category of a set, occur in the
        class.
    Homogeneity: Answers only where all released rows nearest to the target show one sensitive value.
    MajorityInClass: Answers every target with the most frequent sensitive value among the released rows nearest to
        it.
    Minimality: Draws worlds of every class and keeps those in which the publisher had a reason not to cut it.
    NearestRowInference: Answers with the sensitive value of the released row nearest to the target in the known
        columns (Gower).
    Skewness: Bets on the value whose share in the target's class exceeds its share in the table by the most.

Singling out and linkability, as the GDPR's criteria of anonymization name them.
    MultivariateSinglingOut: Predicates on several columns that hold of exactly one released row.
    NearestRowLinkability: Takes the nearest released rows of each person, in the columns of either file; a common
        row links the two.
    UnivariateSinglingOut: Predicates on one column: values that one released row alone has, and the smallest and
        largest numbers.

Attacks on curators that answer queries.
    Averaging: Differencing with every question repeated and its answers averaged.
    Differencing: Ask once with and once without each person, and take the difference.
    Distinguishing: Choose two tables that differ in one record, learn an event that tells them apart, and watch for
        it.
    HomerByQueries: Asks a curator for the histogram of every column, and calls those members who look like the
        answers.
    Reconstruction: Ask for the sums of random groups of persons, and solve for everybody's value at once.

Attacks on reports under local differential privacy.
    LongitudinalAveraging: Adds up what every round says of a value, so that fresh noise averages out.
    PoolInference: Names the pool of the largest posterior given all reports of a person, each about another item.
    ValueGuess: Names the value of the largest posterior given a person's first report and the shares in other
        people.

Attacks on federated training.
    GradientInversion: Records from gradients.
    UpdateMembership: Membership in the training by loss or by alignment of gradients, in one round or over all.

Posterior attacks on tables under PRAM.
    BestPosterior: Knows the whole table and names the row and record that belong together with the largest exact
        posterior.
    histogram_from_matrix: Relative counts of the categories, read from a transition matrix that is optimal for
        them.
    LeakagePosterior: Picks the worst table and abstains unless the posterior comes near the most that any release
        can give.
"""

import lazy_loader

__distribution__ = "tokumei"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
