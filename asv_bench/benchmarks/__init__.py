"""Benchmarks of cwboost for asv: one module per subject, a few seconds each."""
