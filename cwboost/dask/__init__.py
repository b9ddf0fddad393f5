"""Training and prediction on a Dask cluster; needs dask and distributed."""

from cwboost.support.extras import extra

with extra("dask", "cwboost.dask needs dask and distributed"):
    import distributed  # noqa: F401

from cwboost.dask.classifier import DaskCWBoostClassifier

__all__ = ["DaskCWBoostClassifier"]
