"""Pages of the tournament's site."""
