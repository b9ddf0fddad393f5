"""Growing trees on binned features."""
