"""Kernel ridge regression: codes of features, kernel values of examples and landmarks."""
