"""Defenses that release each row by itself, given what is known of the whole table."""
