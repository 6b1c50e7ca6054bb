"""Perturbation: noise, swapping, replacement, shuffling and sampling; the identity and a constant as references."""
