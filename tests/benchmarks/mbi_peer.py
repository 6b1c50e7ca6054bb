"""The published loop of AIM on the estimation of mbi 2.0, which ships no AIM; runs in an environment of its own.

Usage: python mbi_peer.py table.npz drawn.npy. The table holds `codes` (columns, n), `sizes` (columns,), `rho` and
`seed`. Neighbouring tables differ in one replaced record, and the number of records is public, as in Tokumei. Rounds
and shares of the budget are those of the publication: 16 rounds for each column, a tenth of the budget for selection.
Two bounds let it end within ten minutes. The model may have 5 MB, which is Tokumei's limit of 20 cells for each record
of Adult. With the publication's 80 MB, 17 minutes spent a sixth of the budget. Each round makes 100 steps of mirror
descent from the last model, and the end 1,000. With 300 a round, 11 minutes spent a quarter of the budget. Candidates
are compared with rows drawn from the model, as many as records. Exact marginals would need an elimination for each of
575 candidates in each round, and compiling them exhausts the memory maps of a process.
"""

# ruff: noqa: E402, NPY002 (jax is set up before mbi is imported; mbi draws from the global generator)

import itertools
import sys
import time

import jax

jax.config.update("jax_enable_x64", True)

import numpy as np
from mbi import Domain, LinearMeasurement
from mbi.estimation import MirrorDescent
from mbi.junction_tree import hypothetical_model_size

MEGABYTES, ITERATIONS, LAST_ITERATIONS = 5, 100, 1000


def counted(columns, sizes):
    return np.bincount(np.ravel_multi_index(columns, sizes), minlength=np.prod(sizes))


def aim(codes, sizes, rho, rng):
    d, n = codes.shape
    domain = Domain(range(d), sizes.tolist())
    workload = list(itertools.combinations(range(d), 3))
    candidates = [c for size in (1, 2, 3) for c in itertools.combinations(range(d), size)]
    weights = np.array([sum(len(set(c) & set(w)) for w in workload) for c in candidates], dtype=float)
    cells = np.array([np.prod(sizes[list(c)]) for c in candidates])
    exact = [counted(codes[list(c)], sizes[list(c)]) for c in candidates]
    position = {c: number for number, c in enumerate(candidates)}

    def measure(c, sigma):
        counts = exact[position[c]]
        return LinearMeasurement(counts + rng.normal(0, sigma, counts.size), c, sigma)

    # A replaced record changes two counts by one: rho = 1 / sigma^2. The exponential mechanism costs epsilon^2 / 8.
    sigma, epsilon = np.sqrt(16 * d / (0.9 * rho)), np.sqrt(8 * 0.1 * rho / (16 * d))
    measured = [measure((column,), sigma) for column in range(d)]
    spent = d / sigma**2
    estimator = MirrorDescent()
    model = estimator.estimate(domain, measured, known_total=float(n), iters=ITERATIONS)
    while spent < rho * (1 - 1e-9):
        cost = 1 / sigma**2 + epsilon**2 / 8
        if rho - spent <= 2 * cost:
            sigma, epsilon = np.sqrt(1 / (0.9 * (rho - spent))), np.sqrt(8 * 0.1 * (rho - spent))
            cost = rho - spent
        spent += cost
        known = [m.clique for m in measured]
        noise = np.sqrt(2 / np.pi) * sigma * cells
        rows = model.synthetic_data(rows=n).to_dict()
        distances = [
            np.abs(answer - counted([rows[column] for column in c], sizes[list(c)])).sum()
            for c, answer in zip(candidates, exact, strict=True)
        ]
        scores = weights * (np.array(distances) - noise)
        # The first proposal that fits has the distribution of the mechanism on the candidates that fit.
        while True:
            proposals = np.exp(epsilon * (scores - scores.max()) / (2 * 2 * weights.max()))
            number = rng.choice(len(candidates), p=proposals / proposals.sum())
            chosen = candidates[number]
            free = any(set(chosen) <= set(other) for other in known)
            if free or hypothetical_model_size(domain, [*known, chosen]) <= MEGABYTES * spent / rho:
                break
            scores[number] = -np.inf
        measured.append(measure(chosen, sigma))
        before = np.asarray(model.project(chosen).datavector())
        jax.clear_caches()
        model = estimator.estimate(domain, measured, known_total=float(n), iters=ITERATIONS, warm_start=model)
        change = np.abs(np.asarray(model.project(chosen).datavector()) - before).sum()
        print(chosen, round(sigma, 1), round(1 - spent / rho, 3), file=sys.stderr, flush=True)
        if change <= noise[number]:
            sigma, epsilon = sigma / 2, epsilon * 2
    jax.clear_caches()
    model = estimator.estimate(domain, measured, known_total=float(n), iters=LAST_ITERATIONS, warm_start=model)
    drawn = model.synthetic_data(rows=n)
    return np.stack([np.asarray(drawn.to_dict()[column]) for column in range(d)])


if __name__ == "__main__":
    table = np.load(sys.argv[1])
    np.random.seed(int(table["seed"]))
    start = time.perf_counter()
    drawn = aim(table["codes"], table["sizes"], float(table["rho"]), np.random.default_rng(int(table["seed"])))
    print(time.perf_counter() - start)
    np.save(sys.argv[2], drawn)
