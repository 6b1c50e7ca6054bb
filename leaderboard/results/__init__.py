"""Results of plays in a database, and what they depend on."""
