"""Statistics of plays: ranks, intervals, bounds, gates and comparisons."""
