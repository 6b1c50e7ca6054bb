"""Posterior attacks on tables under PRAM."""
