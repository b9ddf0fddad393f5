"""Reading of examples for the command line: text, NPZ and Parquet files."""
