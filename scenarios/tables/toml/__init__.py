"""TOML files read into validated models."""
