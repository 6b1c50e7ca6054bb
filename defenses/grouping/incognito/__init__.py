"""Incognito full-domain k-anonymity."""
