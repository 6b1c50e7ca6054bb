"""The tournament as a web site."""
