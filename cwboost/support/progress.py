"""Progress bars by tqdm, which the extra ``cwboost[progress]`` installs."""

from __future__ import annotations

from cwboost.support.extras import extra

__all__ = ["NoBar", "progress_bar"]


class NoBar:
    """A bar that shows nothing."""

    disable = True

    def __init__(self, items=()):
        self._items = items

    def __iter__(self):
        return iter(self._items)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def update(self, n=1):
        """Do nothing."""

    def set_postfix_str(self, text):
        """Do nothing."""

    def close(self):
        """Do nothing."""


def progress_bar(items=None, *, disable=False, **settings):
    """Return a bar of tqdm over `items`, or one without items that the caller moves.

    With `disable` the bar shows nothing and needs no tqdm; otherwise tqdm gets the `settings`.
    """
    if disable:
        return NoBar(items)
    with extra("progress", "a progress bar needs tqdm"):
        from tqdm.auto import tqdm
    return tqdm(items, **settings)
