"""Types of arguments that public functions share; only type checkers import this module."""

from __future__ import annotations

from os import PathLike
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

__all__ = ["Features", "FilePath", "Matrix"]

Features: TypeAlias = ArrayLike | sparse.sparray | sparse.spmatrix
"""A feature matrix; frames have ``__array__``, which makes them array-like."""

Matrix: TypeAlias = np.ndarray | sparse.sparray | sparse.spmatrix
"""A checked feature matrix, as families get it."""

FilePath: TypeAlias = str | PathLike[str]
