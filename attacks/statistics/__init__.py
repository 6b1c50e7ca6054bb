"""Attacks on statistics: curators that answer queries."""
