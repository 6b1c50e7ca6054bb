"""Microaggregation: groups of similar records that release the representative of their group."""
