"""Families composed of other things: other families, scikit-learn estimators, derived features."""
