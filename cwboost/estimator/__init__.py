"""What all classifiers share: input checks, the loop over rounds, held-out examples, saving."""
