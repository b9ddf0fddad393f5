"""Examples that a model is not trained on: their scores, early stopping, probabilities."""
