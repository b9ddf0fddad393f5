"""Kernels for the model that grows round by round."""
