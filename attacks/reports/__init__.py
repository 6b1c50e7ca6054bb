"""Attacks on reports under local differential privacy."""
