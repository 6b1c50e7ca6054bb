"""Attacks on curators that answer queries."""
