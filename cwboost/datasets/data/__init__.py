"""Bundled data files."""
