"""Post-processing of asv's HTML: make it self-contained and check it in a headless browser."""

from .assets import make_self_contained
from .browser import check

__all__ = ["check", "make_self_contained"]
