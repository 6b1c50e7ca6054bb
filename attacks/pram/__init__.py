"""Attacks on tables under post-randomisation (PRAM), by the posterior probability of records."""
