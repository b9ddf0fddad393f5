"""Exact search of decision stumps over sorted features."""
