"""Files in TOML, read into validated models."""
