"""Data sets: bundled, read from files, downloaded."""
