"""Mondrian multidimensional k-anonymity."""
