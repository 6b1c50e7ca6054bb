"""Secure aggregation: exact sums or an error, and shares that say nothing."""

import builtins
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from defenses.federated import (
    AdditiveShares,
    AggregationError,
    Paillier,
    PairwiseMasks,
    PrimeField,
    SecureAggregation,
    ShamirShares,
    additive_shares,
    secure_correlation,
    secure_histogram,
    shamir_rebuild,
    shamir_shares,
)
from defenses.federated.field import MERSENNE
from defenses.federated.fixed_point import FixedPoint
from defenses.federated.pairwise_masks import _mask, _pair_seeds
from defenses.federated.secure_statistics import node_products, open_correlation
from metrics import CategoricalDomain, NumericDomain

PROTOCOLS = [AdditiveShares(), ShamirShares(), PairwiseMasks(), PairwiseMasks(neighbours=4, threshold=2)]


@pytest.mark.parametrize("prime", [2, 5, 2**31 - 1, MERSENNE])
def test_the_field_is_that_of_whole_numbers(prime):
    field = PrimeField(prime)
    rng = np.random.default_rng(0)
    left, right = field.random((500,), rng), field.random((500,), rng)
    left[:4], right[:4] = [0, prime - 1, prime - 1, 1], [prime - 1, prime - 1, 1, 0]
    pairs = list(zip(map(int, left), map(int, right), strict=True))
    assert field.multiply(left, right).tolist() == [a * b % prime for a, b in pairs]
    assert field.add(left, right).tolist() == [(a + b) % prime for a, b in pairs]
    assert field.subtract(left, right).tolist() == [(a - b) % prime for a, b in pairs]
    assert int(field.sum(left, axis=0)) == sum(map(int, left)) % prime
    assert int(field.sum(np.full(10_000, prime - 1, dtype=np.uint64), axis=0)) == -10_000 % prime


def test_other_numbers_make_no_field():
    for number in (1, 9, 2**31 + 11, 2**61):
        with pytest.raises(ValueError, match="prime"):
            PrimeField(number)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=repr)
def test_sums_are_right(protocol):
    values = np.random.default_rng(1).normal(0, 1000, (20, 37))
    total = SecureAggregation(protocol=protocol).total(values, np.random.default_rng(2))
    np.testing.assert_allclose(total, values.sum(axis=0), atol=20 * 2.0**-25)


@pytest.mark.parametrize("clients", [3, 4, 5, 33])
def test_masks_cancel_for_any_number_of_clients(clients):
    values = np.random.default_rng(1).normal(size=(clients, 5))
    total = SecureAggregation(protocol=PairwiseMasks()).total(values, np.random.default_rng(2))
    np.testing.assert_allclose(total, values.sum(axis=0), atol=clients * 2.0**-25)


def test_clients_that_drop_out_leave_the_sum_of_the_others():
    values = np.random.default_rng(1).normal(size=(20, 5))
    gone = [0, 3, 11, 19]
    total = SecureAggregation(protocol=PairwiseMasks()).total(values, np.random.default_rng(2), gone)
    np.testing.assert_allclose(total, np.delete(values, gone, axis=0).sum(axis=0), atol=1e-6)
    with pytest.raises(AggregationError, match="too many dropouts"):
        SecureAggregation(protocol=PairwiseMasks()).total(values, np.random.default_rng(2), list(range(17)))


def test_aggregators_that_drop_out():
    values = np.random.default_rng(1).normal(size=(20, 5))
    shamir = SecureAggregation(protocol=ShamirShares(aggregators=5, threshold=2))
    for gone in itertools.combinations(range(5), 2):
        total = shamir.total(values, np.random.default_rng(2), failed=gone)
        np.testing.assert_allclose(total, values.sum(axis=0), atol=1e-6)
    with pytest.raises(AggregationError, match="too few shares: 2 arrived and 3 are needed"):
        shamir.total(values, np.random.default_rng(2), failed=(0, 1, 2))
    with pytest.raises(AggregationError, match="too few shares"):
        SecureAggregation(protocol=AdditiveShares()).total(values, np.random.default_rng(2), failed=(1,))
    with pytest.raises(ValueError, match="no aggregator 9"):
        shamir.total(values, np.random.default_rng(2), failed=(9,))
    with pytest.raises(ValueError, match="no aggregator 0"):
        SecureAggregation(protocol=PairwiseMasks()).total(values, np.random.default_rng(2), failed=(0,))


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=repr)
def test_too_few_clients_after_dropouts_are_an_error(protocol):
    values = np.arange(18.0).reshape(9, 2)
    secure = SecureAggregation(protocol=protocol, minimum=8)
    assert secure.total(values, np.random.default_rng(2), [4]).tolist() == [64, 72]
    with pytest.raises(AggregationError, match="too few clients: 7 send and 8 are needed"):
        secure.total(values, np.random.default_rng(2), [4, 5])
    with pytest.raises(ValueError, match="no client 9"):
        secure.total(values, np.random.default_rng(2), [9])


class InOrder(PairwiseMasks):
    """Neighbours on a ring that is not shuffled."""

    def graph(self, clients, rng):
        reach = self.neighbours // 2
        steps = np.array([*range(1, reach + 1), *range(-reach, 0)])
        return (np.arange(clients)[:, None] + steps) % clients


class HalfWillDo(InOrder):
    """Rebuilds seeds where only half of the neighbours answer."""

    def __init__(self, *, neighbours=None, threshold=None):
        super().__init__(neighbours=neighbours)
        self.threshold = threshold


def test_masks_do_not_fall_apart():
    # Two gaps of four leave two arcs without a mask between them: their sums could be told apart.
    values, gaps = np.arange(40.0)[:, None], [0, 1, 2, 3, 20, 21, 22, 23]
    with pytest.raises(AggregationError, match="too many dropouts: 4 neighbours"):
        SecureAggregation(protocol=InOrder(neighbours=8)).total(values, np.random.default_rng(2), gaps)
    with pytest.raises(AggregationError, match="threshold 3 is below half"):
        SecureAggregation(protocol=HalfWillDo(neighbours=8, threshold=3)).total(values, np.random.default_rng(2))
    with pytest.raises(AggregationError, match="threshold 2 is below half"):
        SecureAggregation(protocol=PairwiseMasks(threshold=2)).total(values, np.random.default_rng(2))


def connected(graph, answered):
    """Whether masks connect all who answer."""
    reached, border = set(), [int(np.flatnonzero(answered)[0])]
    while border:
        client = border.pop()
        if client not in reached:
            reached.add(client)
            border += [int(other) for other in graph[client] if answered[other]]
    return len(reached) == answered.sum()


def attempt(secure, values, seed, dropped=()):
    """The sum, or the message of the error."""
    try:
        return secure.total(values, np.random.default_rng(seed), dropped)
    except AggregationError as error:
        return str(error)


@given(clients=st.integers(3, 40), seed=st.integers(0, 2**32), data=st.data())
@settings(max_examples=60, deadline=None)
def test_masks_sum_those_who_answer_and_connect_them_or_refuse(clients, seed, data):
    gone = sorted(data.draw(st.sets(st.integers(0, clients - 1))))
    values = np.random.default_rng(seed).normal(size=(clients, 3))
    protocol = PairwiseMasks()
    total = attempt(SecureAggregation(protocol=protocol), values, seed, gone)
    if isinstance(total, str):
        assert gone
        assert "too few clients" in total or "too many dropouts" in total
        return
    np.testing.assert_allclose(total, np.delete(values, gone, axis=0).sum(axis=0), atol=clients * 2.0**-25)
    answered = np.ones(clients, dtype=bool)
    answered[gone] = False
    # The graph that the sum drew.
    graph = protocol.graph(clients, np.random.default_rng(seed).spawn(2)[1])
    assert connected(graph, answered)


class Tampered:
    """Adds an amount to one word on the way."""

    place, amount = 0, 0

    @classmethod
    def changed(cls, words):
        words = words.copy()
        flat = words.reshape(-1)
        place = Tampered.place % flat.size
        flat[place] = (int(flat[place]) + Tampered.amount) % MERSENNE
        return words


class TamperedAdditive(Tampered, AdditiveShares):
    def share(self, words, field, rng):
        return self.changed(super().share(words, field, rng))


class TamperedShamir(Tampered, ShamirShares):
    def share(self, words, field, rng):
        return self.changed(super().share(words, field, rng))


class TamperedMasks(Tampered, PairwiseMasks):
    def masked(self, words, own, pairs, graph, field):
        return self.changed(super().masked(words, own, pairs, graph, field))


class TamperedSeeds(Tampered, PairwiseMasks):
    """A client uses another mask of its own than the one that its neighbours hold the seed of."""

    def masked(self, words, own, pairs, graph, field):
        return super().masked(words, self.changed(own), pairs, graph, field)


@given(
    kind=st.sampled_from([TamperedAdditive, TamperedShamir, TamperedMasks, TamperedSeeds]),
    place=st.integers(0, 10**6),
    amount=st.integers(0, MERSENNE - 1),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=150, deadline=None)
def test_no_tampered_word_gives_a_wrong_sum(kind, place, amount, seed):
    Tampered.place, Tampered.amount = place, amount
    values = np.random.default_rng(seed).normal(size=(7, 4))
    total = attempt(SecureAggregation(protocol=kind()), values, seed)
    if amount:
        # A wrong check word fits by chance once in 2^61.
        assert isinstance(total, str)
        assert "a share is wrong" in total
    else:
        np.testing.assert_allclose(total, values.sum(axis=0), atol=1e-6)


def test_a_tampered_vector_of_a_client_that_dropped_out_does_no_harm():
    values = np.random.default_rng(1).normal(size=(7, 4))
    Tampered.place, Tampered.amount = 5 * 1 + 2, 3
    total = attempt(SecureAggregation(protocol=TamperedMasks()), values, 2, [1])
    np.testing.assert_allclose(total, np.delete(values, 1, axis=0).sum(axis=0), atol=1e-6)
    assert "a share is wrong" in attempt(SecureAggregation(protocol=TamperedMasks()), values, 2, [2])


@given(
    clients=st.integers(2, 6),
    bits=st.integers(0, 60),
    limit=st.floats(1e-3, 1e18),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=150, deadline=None)
def test_any_fixed_point_gives_the_sum_or_an_overflow(clients, bits, limit, seed):
    values = np.random.default_rng(seed).uniform(-limit, limit, (clients, 3)) * 1.2
    total = attempt(SecureAggregation(fraction_bits=bits, limit=limit, minimum=2), values, seed)
    if isinstance(total, str):
        assert "overflow" in total
        assert (np.abs(values) > limit).any() or clients * limit * 2.0**bits >= MERSENNE / 2
        return
    np.testing.assert_allclose(total, values.sum(axis=0), atol=clients * 2.0 ** -(bits + 1), rtol=1e-12)


def test_any_t_plus_1_shares_rebuild():
    field = PrimeField()
    secrets = field.random((50,), np.random.default_rng(3))
    for threshold, parties in ((1, 3), (2, 5), (3, 4)):
        shares = shamir_shares(secrets, threshold, parties, field, np.random.default_rng(4))
        for chosen in itertools.combinations(range(parties), threshold + 1):
            points = [party + 1 for party in chosen]
            np.testing.assert_array_equal(shamir_rebuild(shares[list(chosen)], points, threshold, field), secrets)
        with pytest.raises(AggregationError, match="too few shares"):
            shamir_rebuild(shares[:threshold], range(1, threshold + 1), threshold, field)


class Listed:
    """Hands out given field elements instead of random ones, to go through all of them."""

    def __init__(self, values):
        self.values = np.asarray(values, dtype=np.uint64)

    def integers(self, low, high, shape, dtype):
        assert (low, self.values.shape) == (0, shape)
        return self.values


def test_t_shares_reveal_nothing_exactly():
    # Every secret and every choice of coefficients in the field of 5: any two shares are uniform whatever the secret.
    field, threshold, parties = PrimeField(5), 2, 4
    coefficients = np.array(list(itertools.product(range(5), repeat=threshold))).T
    for secret in range(5):
        secrets = np.full(25, secret, dtype=np.uint64)
        shares = shamir_shares(secrets, threshold, parties, field, Listed(coefficients))
        for chosen in itertools.combinations(range(parties), threshold):
            pairs = shares[list(chosen)]
            assert len({tuple(pair) for pair in pairs.T.tolist()}) == 25
        # Three of them are not: the test can fail.
        assert len({tuple(triple) for triple in shares[:3].T.tolist()}) == 25 < 5**3


def test_additive_shares_reveal_nothing_exactly():
    field = PrimeField(5)
    free = np.array(list(itertools.product(range(5), repeat=2))).T
    for secret in range(5):
        shares = additive_shares(np.full(25, secret, dtype=np.uint64), 3, field, Listed(free))
        for chosen in itertools.combinations(range(3), 2):
            assert len({tuple(pair) for pair in shares[list(chosen)].T.tolist()}) == 25
        assert (shares.sum(axis=0) % 5 == secret).all()


def test_a_masked_vector_hides_its_own():
    # The mask of a client is a stream of its seeds, so one client's words are uniform; its mean is as of random ones.
    field, protocol, rng = PrimeField(), PairwiseMasks(), np.random.default_rng(5)
    words = np.zeros((10, 4000), dtype=np.uint64)
    graph = protocol.graph(10, rng)
    sent = protocol.masked(words, field.random((10, 2), rng), _pair_seeds(graph, field, rng), graph, field)
    shares = sent / field.prime
    assert abs(shares.mean() - 0.5) < 4 * np.sqrt(1 / 12 / shares.size)  # false alarm 6e-5
    assert _mask(np.array([1, 2], dtype=np.uint64), 5, PrimeField(7)).max() < 7


def test_the_graph_is_sparse_symmetric_and_connected():
    graph = PairwiseMasks().graph(1000, np.random.default_rng(6))
    assert graph.shape == (1000, 20)
    table = np.zeros((1000, 1000), dtype=bool)
    table[np.arange(1000)[:, None], graph] = True
    assert (table == table.T).all()
    assert not table.diagonal().any()


def corrupted(shares, place):
    changed = shares.copy()
    changed[place] = (changed[place] + np.uint64(1)) % np.uint64(MERSENNE)
    return changed


@pytest.mark.parametrize("protocol", [AdditiveShares(), ShamirShares(aggregators=3, threshold=2)], ids=repr)
@pytest.mark.parametrize("place", [(0, 4, 2), (2, 7, 0), (1, 0, -1)])
def test_a_wrong_share_is_an_error_never_a_wrong_sum(protocol, place):
    field = PrimeField()
    numbers = FixedPoint(24, 100.0, field)
    values = np.random.default_rng(7).normal(size=(8, 5))
    key = numbers.key(5, np.random.default_rng(8))
    shares = protocol.share(numbers.encode(values, key), field, np.random.default_rng(9))

    def opened(shares):
        sums = field.sum(shares, axis=1)
        words = (
            protocol.rebuild(sums, field)
            if isinstance(protocol, AdditiveShares)
            else protocol.rebuild(sums, range(3), field)
        )
        return numbers.decode(words, key, 8)

    np.testing.assert_allclose(opened(shares), values.sum(axis=0), atol=1e-6)
    with pytest.raises(AggregationError, match="a share is wrong"):
        opened(corrupted(shares, place))


def test_spare_shamir_shares_catch_a_wrong_one():
    field = PrimeField()
    shares = shamir_shares(field.random((4,), np.random.default_rng(10)), 2, 5, field, np.random.default_rng(11))
    for party in range(5):
        with pytest.raises(AggregationError, match="no common polynomial"):
            shamir_rebuild(corrupted(shares, (party, 1)), range(1, 6), 2, field)


def test_numbers_that_do_not_fit_are_refused():
    secure = SecureAggregation(limit=10.0)
    rng = np.random.default_rng(12)
    good = np.ones((3, 2))
    with pytest.raises(AggregationError, match="too few clients: 2 send and 3 are needed"):
        secure.total(good[:2], rng)
    with pytest.raises(AggregationError, match="too few clients"):
        secure.total(good[:0], rng)
    for value, message in ((np.nan, "client 1: a number is not finite"), (np.inf, "not finite"), (10.1, "overflow")):
        wrong = good.copy()
        wrong[1, 1] = value
        with pytest.raises(AggregationError, match=message):
            secure.total(wrong, rng)
    with pytest.raises(AggregationError, match="overflow: 3 clients"):
        SecureAggregation(limit=2.0**40).total(good, rng)
    with pytest.raises(AggregationError, match="1 dimensions"):
        secure.total([1.0, 2.0, 3.0], rng)
    assert secure.total([[1, 2], [3, 4], [5, 6]], rng).tolist() == [9, 12]


def test_a_sum_beyond_what_clients_can_send_is_refused():
    field = PrimeField()
    numbers = FixedPoint(8, 1.0, field)
    key = numbers.key(1, np.random.default_rng(13))
    words = field.elements(np.array([1000]))
    forged = np.append(words, numbers.check_word(words, key))
    with pytest.raises(AggregationError, match="overflow"):
        numbers.decode(forged, key, 3)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: AdditiveShares(aggregators=1), "aggregators"),
        (lambda: ShamirShares(aggregators=2, threshold=2), "aggregators"),
        (lambda: ShamirShares(threshold=0), "threshold"),
        (lambda: PairwiseMasks(neighbours=3), "neighbours"),
        (lambda: PairwiseMasks(neighbours=4, threshold=4), "threshold"),
        (lambda: PairwiseMasks(neighbours=4, threshold=1), "threshold"),
        (lambda: SecureAggregation(fraction_bits=2000), "fraction_bits"),
        (lambda: Paillier(bits=64), "bits"),
        (lambda: SecureAggregation(protocol="shamir"), "protocol"),
        (lambda: SecureAggregation(limit=float("nan")), "limit"),
        (lambda: SecureAggregation(minimum=1), "minimum"),
    ],
)
def test_bad_parameters_are_named(make, name):
    with pytest.raises(ValueError, match=name):
        make()


def test_paillier_sums():
    values = np.random.default_rng(14).normal(size=(4, 9))
    secure = SecureAggregation(protocol=Paillier(bits=256))
    np.testing.assert_allclose(secure.total(values, np.random.default_rng(15)), values.sum(axis=0), atol=1e-6)


def test_paillier_plaintexts_never_overflow():
    # 31 clients need 66 bits a word, and four words 264: with all of them near the prime this is more than a third of
    # most moduli of 266 bits, beyond which the package takes numbers for negative.
    values = -np.ones((31, 7))
    secure = SecureAggregation(protocol=Paillier(bits=266))
    for seed in range(5):
        total = secure.total(values, np.random.default_rng(seed), [3])
        np.testing.assert_array_equal(total, -30.0)


def test_paillier_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **named):
        if name == "phe":
            raise ModuleNotFoundError(name)
        return real(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'tokumei\[paillier\]'"):
        SecureAggregation(protocol=Paillier(bits=256)).total(np.ones((3, 2)), np.random.default_rng(0))


def test_secure_histogram():
    domain = CategoricalDomain(("a", "b", "c"))
    offices = [["a", "b", "a"], ["c", None], ["b", "b"]]
    counts = secure_histogram(offices, domain, SecureAggregation(), np.random.default_rng(16))
    assert counts.tolist() == [2, 3, 1]
    bins = NumericDomain(0, 10, cuts=(5,))
    assert secure_histogram([[1], [6, 7], []], bins, SecureAggregation(), np.random.default_rng(0)).tolist() == [1, 2]
    with pytest.raises(AggregationError, match="too few"):
        secure_histogram(offices[:2], domain, SecureAggregation(), np.random.default_rng(17))


@pytest.mark.parametrize("n", [2, 7, 1000, 100_000])
def test_secure_correlation_of_two_offices(n):
    rng = np.random.default_rng(18)
    hours = rng.gamma(2, 10, n)
    failed = hours / 50 + rng.normal(size=n)
    ours = secure_correlation(hours, failed, np.random.default_rng(19))
    assert ours == pytest.approx(np.corrcoef(hours, failed)[0, 1], abs=1e-5)
    assert secure_correlation(hours, -hours, np.random.default_rng(20)) == pytest.approx(-1, abs=1e-5)


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1.0, 1e200, 1e307])
def test_secure_correlation_knows_no_scale(scale):
    left, right = np.array([-9.0, 1.0, 4.0, 4.5]), np.array([1.0, 2.0, -3.0, 5.0])
    expected = np.corrcoef(left, right)[0, 1]
    for pair in ((left * scale, right), (left, right * scale)):
        # Numbers below 1e-308 have fewer digits.
        assert secure_correlation(*pair, np.random.default_rng(0)) == pytest.approx(expected, abs=1e-6)
    assert secure_correlation([1.0, 1.0 + 2.0**-52, 1.0], [0.0, 1.0, 0.0], np.random.default_rng(0)) == pytest.approx(1)


def test_secure_correlation_refuses_what_it_cannot_answer():
    rng = np.random.default_rng(21)
    for left, right, message in (
        ([1.0, 2.0], [1.0, 2.0, 3.0], "one length"),
        ([1.0, 1.0], [1.0, 2.0], "left is constant"),
        ([1.0, np.nan], [1.0, 2.0], "left must hold"),
        ([1.0, 2.0], [1.0], "right must hold"),
    ):
        with pytest.raises(ValueError, match=message):
            secure_correlation(left, right, rng)
    with pytest.raises(ValueError, match="nodes"):
        secure_correlation([1.0, 2.0], [1.0, 2.0], rng, nodes=3)


def test_a_wrong_node_is_caught():
    field = PrimeField()
    left, right = (
        shamir_shares(field.random((6,), np.random.default_rng(seed)), 1, 4, field, np.random.default_rng(seed))
        for seed in (22, 23)
    )
    sent = node_products(left, right, 1, field, np.random.default_rng(24))
    for node in range(4):
        with pytest.raises(AggregationError, match="a share is wrong"):
            open_correlation(corrupted(sent, node), 6, 10, 1, field)
