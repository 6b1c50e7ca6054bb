"""Federated learning: averaging, noise on updates and models, secure aggregation.

Training: models, clients, federated averaging
    Architecture: Architecture of a model for any number of features and classes.
    Client: One client and its records.
    EqualSplit: Random split into clients of equal size, up to one record.
    federated_averaging: Train a model on records that stay at their clients.
    LabelSkewedSplit: Split into clients of equal size with different class proportions (label skew).
    Network: Feed-forward network: linear layers with ReLU between them, softmax and cross-entropy at the end.
    OneHiddenLayer: A network with one hidden layer of rectified linear units.
    SoftmaxRegression: Multinomial logistic regression.
    Split: Distribution of records over clients; the clients' sizes are public and fixed beforehand.
    TrainingHistory: A training as the server observed it.
    TrainingRules: Hyperparameters of a federated training.
    UnequalSplit: Random split into clients whose sizes grow linearly.

Clipping, noise and privacy accounting
    classical_multiplier: Noise multiplier of the classical Gaussian mechanism, sqrt(2 ln(1.25 / delta)) / epsilon.
    downlink_sensitivity: Sensitivity of the aggregated parameters as the lecture states it: 2 p C / m.
    ExampleClipping: Per-example gradient clipping to norm C.
    gaussian_epsilon: Smallest epsilon at which a Gaussian mechanism with this shift is (epsilon, delta)-private.
    gaussian_shift: Largest shift at which a Gaussian mechanism is (epsilon, delta)-private; the inverse of
        `gaussian_epsilon`.
    NormClipping: Clipping to a Euclidean norm, of gradients or updates.
    privacy_loss_epsilon: Epsilon over all rounds by numeric composition of privacy-loss distributions
        (dp-accounting); an upper bound.
    PrivacyLossNoise: Gaussian noise calibrated by the exact privacy-loss distribution: the least noise that any
        accountant allows.
    renyi_epsilon: Epsilon over all rounds by Rényi differential privacy (dp-accounting); an upper bound.
    RenyiNoise: Gaussian noise calibrated by Rényi differential privacy (dp-accounting).
    sequential_composition: Total budget by sequential composition: each round costs (epsilon, delta) in each
        direction, and costs add up.
    SequentialNoise: Gaussian noise calibrated by sequential composition, as in the lecture.
    UpdateClipping: Clipping of a client's whole update to norm C.
    UpdateNoise: Gaussian noise on updates, at a stated budget.
    uplink_sensitivity: Sensitivity of a client's parameters as the lecture states it: 2C / n_i for n_i records.

Secure sums and statistics
    AdditiveShares: Secure sum by additive secret sharing.
    Encoding: Encoding of records as features and labels; it can be inverted.
    Paillier: Secure sum by Paillier encryption.
    PairwiseMasks: Secure sum by pairwise masks that cancel, and a mask of each client's own.
    secure_correlation: Pearson's correlation of two offices' columns, by secure multiplication of Shamir shares.
    secure_histogram: Histogram over all offices' records, shape (size,), that reveals no single office's counts.
    SecureAggregation: Secure sums of clients' real vectors.
    ShamirShares: Secure sum by Shamir's secret sharing.
    SumProtocol: Protocol by which a server learns the sum of clients' vectors and nothing else.

Secret sharing and finite fields
    additive_shares: Additive shares of the secrets, shape (parties, ...); all but the last are uniform.
    AggregationError: A sum that cannot be trusted or must not be computed: wrong share, too few parties, or
        overflow.
    PrimeField: The integers modulo a prime; elements are unsigned words below the prime.
    shamir_rebuild: Secrets rebuilt from Shamir shares, shape (k, ...), at the given points.
    shamir_shares: Shamir shares of the secrets, shape (parties, ...).

Garbled circuits: two parties compute a function of both inputs and learn nothing else.
    run_two_parties: Compute a circuit of two parties' bits; both learn the output and nothing else.
    secure_common_count: Number of people for whom both parties hold true: the patients that two hospitals have in
        common.
    secure_greater: Whether the left party's number exceeds the right party's: Yao's millionaires' problem.
    secure_maximum: Maximum of many people's numbers by two servers, none of which sees a number: a sealed-bid
        auction.
    SecureAnswer: An answer with the cost of its protocol.
    TwoPartyResult: Output of a circuit with its cost.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
