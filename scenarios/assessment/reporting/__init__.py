"""The report on one finished release, for the person who signs it and for those who check."""
