"""Files of a table in parts: read, written, shuffled and kept private."""
