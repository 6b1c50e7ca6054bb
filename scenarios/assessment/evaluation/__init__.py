"""Finished releases: tables that any tool released, evaluated beside the original table."""
