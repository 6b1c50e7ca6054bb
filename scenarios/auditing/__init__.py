"""Auditing claimed epsilons: what is run, on which neighbours, and what is measured."""
