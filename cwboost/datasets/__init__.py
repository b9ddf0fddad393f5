"""Data sets: three bundled ones, loaders for the other sets of the paper, downloads."""

from cwboost.datasets.bundled import load_annealing, load_pendigits, load_vowel
from cwboost.datasets.fetching import fetch
from cwboost.datasets.loading import DataAbsent, load

__all__ = [
    "DataAbsent",
    "fetch",
    "load",
    "load_annealing",
    "load_pendigits",
    "load_vowel",
]
