"""Scores of fitted models: additive stumps, trees, packed votes."""
