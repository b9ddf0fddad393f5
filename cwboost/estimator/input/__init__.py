"""Training matrices as users have them: frames with numbers, categories, text and gaps."""
