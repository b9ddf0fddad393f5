"""What examples that a model is not trained on decide: scale, prediction sets, early stopping."""
