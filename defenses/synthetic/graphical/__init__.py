"""Graphical models of noisy marginals: junction trees, belief propagation, estimation and drawn rows."""
