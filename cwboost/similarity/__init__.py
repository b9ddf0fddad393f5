"""Scores that say how much an example resembles the training examples of each class."""

from cwboost.similarity.scores import MOST, SimilarityScores, evenly_spaced

__all__ = ["MOST", "SimilarityScores", "evenly_spaced"]
