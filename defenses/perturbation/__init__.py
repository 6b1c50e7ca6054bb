"""Perturbation: noise, swapping, replacement, shuffling and sampling; identity and constant as references."""
