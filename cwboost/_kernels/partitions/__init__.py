"""Sums over the examples of one partition, for pricing on partitions."""
