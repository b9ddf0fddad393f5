"""Projections of rows on many directions."""
