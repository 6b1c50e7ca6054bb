"""Membership inference: decides whether a person is in a release or in a model's training set."""
