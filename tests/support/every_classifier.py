"""The five classifiers and three families, for tests that apply to each."""

import cwboost

CLASSIFIERS = [
    cwboost.CWBoostClassifier,
    cwboost.MultiBoostClassifier,
    cwboost.AdaBoostECCClassifier,
    cwboost.AdaBoostMHClassifier,
    cwboost.AdaBoostMOClassifier,
]
FAMILIES = ["stump", "tree", "projection"]
