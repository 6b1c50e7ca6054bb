"""The kinds of channel part beyond containment."""
