"""What "auto" decides: the init model, the number of rounds, the scale of the probabilities."""
