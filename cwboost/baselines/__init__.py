"""The classifiers that the paper measures against."""
