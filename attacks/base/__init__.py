"""The contract of attacks: knowledge, claims, and released cells beside candidates."""
