"""Games: what the attacker knows, what it claims, and how claims are scored."""
