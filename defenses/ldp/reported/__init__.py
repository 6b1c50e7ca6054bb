"""Tables whose rows are reported under local differential privacy."""
