"""Conformance suites for defenses and attacks."""
