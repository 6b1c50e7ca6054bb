"""The contract of defenses: records, releases, guarantees, channels and queries."""
