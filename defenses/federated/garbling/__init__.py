"""Garbled circuits: two parties compute a function of both inputs and learn nothing else."""
