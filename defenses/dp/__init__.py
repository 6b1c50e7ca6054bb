"""Central differential privacy: mechanisms on numbers and scores, sensitivities, composition and privacy accounts.

Mechanisms
    BinaryTree: Binary tree mechanism: after each event of a stream, the number of events so far, with noise.
    DiscreteGaussian: Discrete Gaussian mechanism: integer noise z with probability proportional to e^(-z^2 / (2
        sigma^2)).
    DiscreteLaplace: Geometric mechanism: integer noise z with probability proportional to e^(-epsilon |z| /
        sensitivity).
    drawn_in_bulk: Declare that a mechanism can draw many runs of this `release` at once, with the same
        distribution.
    Exponential: Exponential mechanism: it selects an option with probability proportional to e^(epsilon score / (2
        s)).
    Gaussian: Analytic Gaussian mechanism for one number: the least Gaussian noise that (epsilon, delta) allows, on
        a lattice.
    Laplace: Laplace mechanism: noise with density proportional to e^(-epsilon |x| / sensitivity), on a lattice.
    Mechanism: A randomized answer with a differential privacy guarantee.
    RandomizedResponse: Randomized response on d categories.
    release_degree_counts: Return the histogram of degrees 0, 1, ..., bound (or more) with noise, shape (bound +
        1,).
    release_edge_count: Return the number of edges with discrete Laplace noise, after projection if a bound is
        given.
    release_triangle_count: Return the number of triangles with discrete Laplace noise.
    ReportNoisyMax: Report noisy maximum: it selects the highest score after adding one-sided geometric noise to
        each score.
    SparseVector: Sparse vector technique (AboveThreshold): compares values with a threshold until `count` of them
        lie above.
    Staircase: Staircase mechanism: the noise of least expected absolute error for one number with an epsilon alone.

Sensitivities
    brute_force_sensitivity: Local sensitivity by brute force: the largest change of a query over removals and
        additions of one record.
    clip: Clip values into public bounds, in their own shape.

Composition and privacy accounts
    Account: Privacy account: the costs spent from a budget of epsilon and delta. Subclasses are methods of
        composition.
    Accountant: Sequential composition: epsilons add up, and so do deltas, also where queries depend on earlier
        answers.
    advanced: Advanced composition: (epsilon, delta) of k adaptive answers with the same guarantee.
    AdvancedAccountant: Advanced composition, also where the costs themselves depend on earlier answers.
    ConcentratedAccountant: Zero-concentrated differential privacy: rhos add up, also where the costs depend on
        earlier answers.
    group_privacy: Group privacy: (epsilon, delta) for tables that differ in m records.
    LossDistributionAccountant: Privacy loss distributions by the library dp-accounting: the tightest account of
        pure costs fixed in advance.
    parallel: Parallel composition: (epsilon, delta) of answers on disjoint parts of the records.
    pointwise: Pointwise privacy (epsilon', delta'): with probability 1 - delta' an answer y has P(y) <= e^epsilon'
        P'(y).
    RenyiAccountant: Rényi differential privacy by the library dp-accounting, for costs fixed in advance.
    serial: Sequential composition: epsilons and deltas of answers on the same records add up, also if chosen
        adaptively.
    weak_secrecy: Weak secrecy: the factor c = e^(m epsilon) between probabilities on tables that differ in m
        records.
    zcdp_delta: Return the delta at which rho-zero-concentrated differential privacy gives (epsilon, delta).
    zcdp_epsilon: Return the epsilon at which rho-zero-concentrated differential privacy gives (epsilon, delta),
        delta in (0, 1).
    zcdp_rho: Return the largest rho whose zero-concentrated differential privacy gives (epsilon, delta).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
