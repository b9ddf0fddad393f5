"""What comes in: frames with numbers, categories, text and gaps; labels, weights, groups."""
