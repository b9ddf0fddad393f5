"""Image features of the paper's experiments."""
