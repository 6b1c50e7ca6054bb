"""Recoding: coarser values, codes instead of values, suppressed cells and records."""
