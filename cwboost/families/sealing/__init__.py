"""Sealed pricing: a fault of a family during training raises an error that names the family.

Only `bind_family` binds a family for training. The family gets X read-only, and the examples on
which outputs are checked are copied before. The pricer that is returned passes read-only weights,
checks the form and all edges of every result, and in some rounds computes outputs again from the
learners. That a pricer which claims to be exact misses no learner cannot be checked in general:
exactness is the family's claim.
"""
