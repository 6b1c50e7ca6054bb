"""Tables that are read in parts: Parquet files, folders of parts, and large CSV files."""
