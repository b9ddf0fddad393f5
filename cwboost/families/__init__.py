"""Weak-learner families: the contract, their discovery, helpers for those who write one."""
