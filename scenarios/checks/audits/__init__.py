"""Audits of claimed epsilons: mechanisms run on neighbouring inputs, and lower bounds on their true epsilon."""
