"""Post-processing of asv's results: self-contained HTML, checked in a browser, and one figure."""

from .assets import make_self_contained
from .browser import check
from .picture import draw

__all__ = ["check", "draw", "make_self_contained"]
