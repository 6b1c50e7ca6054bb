"""Boards from Python: play scenarios, and read what was played."""
