"""Singling out and linkability, two criteria of anonymization under the GDPR."""
