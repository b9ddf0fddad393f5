"""Data sets: two bundled ones, loaders of the paper's others, downloads."""

from cwboost.datasets.bundled import load_pendigits, load_vowel

__all__ = ["load_pendigits", "load_vowel"]
