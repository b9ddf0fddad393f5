"""Post-processing of asv's results: self-contained HTML with answers, checked, and one figure."""

from .answers import find_regressions, read_answers, unanswered, write_page
from .assets import make_self_contained
from .browser import check
from .history import tidied, tidy
from .picture import draw

__all__ = [
    "check",
    "draw",
    "find_regressions",
    "make_self_contained",
    "read_answers",
    "tidied",
    "tidy",
    "unanswered",
    "write_page",
]
