"""Compiled kernels (private: families use cwboost.kernels)."""
