"""What a cycle is (schema), and how runs are kept: in memory (store) and in Parquet (files)."""
