"""The classifiers that the paper compares with."""
