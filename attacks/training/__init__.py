"""Attacks on federated training."""
