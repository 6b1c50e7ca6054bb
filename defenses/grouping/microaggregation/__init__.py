"""Microaggregation: small groups whose members are released as their group's representative."""
