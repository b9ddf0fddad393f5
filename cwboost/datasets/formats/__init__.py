"""Readers of data sets in the formats in which their authors publish them, a module a format.

A reader is a function of a folder. It returns a dict of arrays (``X_train, y_train, X_test,
y_test``, or ``X, y`` where the source has no split, besides what else the source tells), or None
where none of its files is there. Files that are there but incomplete or damaged are a ValueError
which names the file.
"""
