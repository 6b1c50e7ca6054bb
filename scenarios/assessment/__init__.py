"""Assessment: finished releases evaluated, reported and chosen, and private answers to single queries."""
