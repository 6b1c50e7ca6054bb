"""Attribute inference: a person's sensitive value."""
