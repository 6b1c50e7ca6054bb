"""Checks: conformance of methods, audits of claimed epsilons, and the installation."""
