"""Quadrature of laws of reports, and the three mechanisms for numbers."""

from itertools import pairwise

import numpy as np

from defenses.ldp import HybridMechanism, PiecewiseMechanism, TwoPointMechanism

MECHANISMS = (TwoPointMechanism, PiecewiseMechanism, HybridMechanism)


def moments(mechanism, value, *powers):
    """Moments of a report of a number: Gauss-Legendre quadrature of its density, and the sum over its atoms."""
    law, number = mechanism.law, np.array([value])
    totals = np.zeros(len(powers))
    if law.share > 0:
        centre, half = value * (law.reach + 1) / 2, (law.reach - 1) / 2
        # Rounded pieces end within one step of these edges, so that every subinterval has one level inside.
        edges = np.clip([-law.reach, centre - half, centre + half, law.reach], -law.reach, law.reach)
        nodes, weights = np.polynomial.legendre.leggauss(8)
        for low, high in pairwise(edges):
            points = (low + high) / 2 + (high - low) / 2 * nodes
            density = np.exp(mechanism.log_likelihood(points, number)[:, 0])
            totals += [np.sum(weights * density * points**power) * (high - low) / 2 for power in powers]
    if law.share < 1:
        atoms = np.array([-law.atom, law.atom])
        mass = np.exp(mechanism.log_likelihood(atoms, number)[:, 0])
        totals += [np.sum(mass * atoms**power) for power in powers]
    return totals
