"""Post-randomisation (PRAM): categories are released at random by transition matrices with known guarantees.

Transition matrices and their guarantees
    epsilon: Epsilon of releasing each record through a fixed matrix; neighbouring tables differ in one record's
        values.
    epsilon_for_k: Largest epsilon at which every matrix is Pk-anonymous for `n` records: log((n - 1)/(k - 1))/2.
    epsilon_for_retention: Epsilon of the matrix that keeps a category with probability `p`; infinity where it is 0
        or 1 and d > 1.
    expected_distance: Distance |P v - v| of the expected released histogram from the original, P =
        transition_matrix(retention).
    invariant: Invariant PRAM: a matrix under which the expected released histogram equals the original.
    k_for_epsilon: Pk-anonymity that epsilon implies for `n` records: 1 + (n - 1) e^(-2 epsilon).
    optimal_retention: Retention probabilities p that minimise the distance of the expected released histogram from
        the original.
    pk: Exact Pk-anonymity: the largest k when `n` shuffled records are released through a matrix.
    retention_epsilon: Epsilon of ``transition_matrix(retention)`` in O(d).
    retention_for_epsilon: Largest retention probability that is epsilon-differentially private.
    retention_pk: Exact k of ``transition_matrix(retention)`` for `n` records in O(d).
    transition_matrix: A-type transition matrix: keeps category j with probability p_j, otherwise draws another one
        uniformly.

Randomization
    draw: Draw the release of each record from its category's column of a transition matrix; O(N log d + d^2).
    replace: Keep each category with its retention probability, otherwise draw another one uniformly; O(N + d).

Estimates of the original histogram
    bayesian_histogram: Maximum-likelihood estimate of the original histogram by iterative Bayesian updates (EM).
    estimate_histogram: Unbiased estimate P^-1 y of the original histogram v from the released histogram y.
    HistogramEstimate: An estimated histogram with standard errors.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
