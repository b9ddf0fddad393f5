"""Scores of similarity: codes of features, likenesses to landmarks."""
