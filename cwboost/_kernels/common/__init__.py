"""Parts that all kernels share: dtypes, OpenMP, vector types."""
