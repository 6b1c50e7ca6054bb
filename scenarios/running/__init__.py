"""Playing a plan: what is missing, in worker processes, within limits."""
