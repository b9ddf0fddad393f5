"""Types of arguments that public functions share."""

from os import PathLike
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse


class ArrowStream(Protocol):
    """A table of any library that hands on Arrow data."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


Features: TypeAlias = ArrayLike | sparse.sparray | sparse.spmatrix | ArrowStream
"""A feature matrix; frames have ``__array__``, which makes them array-like."""

Matrix: TypeAlias = np.ndarray | sparse.sparray | sparse.spmatrix
"""A checked feature matrix, as families get it."""

FilePath: TypeAlias = str | PathLike[str]
