"""Summaries, tables and figures of recorded results."""
