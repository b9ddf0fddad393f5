"""Weak-learner families: the contract, their discovery, families composed of other things."""
