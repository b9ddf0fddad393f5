"""The HTML that asv publishes: made self-contained, and looked at in a headless browser."""

from .assets import make_self_contained
from .browser import check

__all__ = ["check", "make_self_contained"]
