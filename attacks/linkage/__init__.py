"""Linkage: which record a released row stems from."""
