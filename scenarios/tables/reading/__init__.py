"""One reading of bytes and cells: CSV texts, encodings, numbers, dates, and the written form of cells."""
