"""Examples that are divided into partitions, in bins that all partitions share."""
