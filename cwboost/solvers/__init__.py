"""Solvers of the restricted master: fast coordinate descent, subspace steps, L-BFGS-B."""
