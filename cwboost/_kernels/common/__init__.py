"""What all kernels share: dtypes, OpenMP, vector types."""
