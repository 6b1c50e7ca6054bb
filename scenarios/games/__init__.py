"""Games: who knows what, and what counts as winning."""
