"""Singling out and linkability, as the GDPR's criteria of anonymization name them."""
