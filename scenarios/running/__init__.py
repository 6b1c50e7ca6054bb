"""The runner: plays the missing trials of a plan in worker processes within limits of time and memory."""
