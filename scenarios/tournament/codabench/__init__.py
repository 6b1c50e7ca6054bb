"""Bundle of a tournament for the platform Codabench."""
