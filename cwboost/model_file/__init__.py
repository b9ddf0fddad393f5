"""Model files: a container of checked arrays, values without pickle, saving and loading."""
