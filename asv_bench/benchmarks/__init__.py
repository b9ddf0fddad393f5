"""Benchmarks of cwboost, run by asv: one module an area, a few seconds each."""
