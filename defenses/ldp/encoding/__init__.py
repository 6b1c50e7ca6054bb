"""Encoding of reports: hash functions, Hadamard transforms and packed bits."""
