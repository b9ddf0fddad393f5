"""What every layer may use and the standard library does not have."""
