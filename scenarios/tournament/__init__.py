"""The tournament: teams submit anonymized tables and attacks, the host runs it from a folder."""
