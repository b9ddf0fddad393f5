"""Blocks of Dask collections: one task per partition, checked and encoded where they are."""
