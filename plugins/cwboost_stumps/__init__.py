"""Placeholder of the plugin package."""
