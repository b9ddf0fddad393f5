"""The model: weak learners, the path of their coefficients, scores, inspection."""
