"""Readers of data sets in the formats that their authors publish, one module per format.

A reader takes a folder and returns a dict of arrays (``X_train, y_train, X_test, y_test``, or
``X, y`` if the source has no split, and further data of the source), or None if none of its files
exists. It raises a ValueError that names the file if files are incomplete or damaged.
"""
