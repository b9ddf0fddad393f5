"""Scores that say how much an example resembles the training examples of each class."""

from cwboost.similarity.scores import SimilarityScores

__all__ = ["SimilarityScores"]
