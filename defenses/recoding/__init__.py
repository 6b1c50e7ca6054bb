"""Recoding: generalization, rounding, top and bottom coding, suppression, pseudonymization."""
