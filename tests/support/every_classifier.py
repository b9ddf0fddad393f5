"""The five classifiers, for what holds of each."""

import cwboost

CLASSIFIERS = [
    cwboost.CWBoostClassifier,
    cwboost.MultiBoostClassifier,
    cwboost.AdaBoostECCClassifier,
    cwboost.AdaBoostMHClassifier,
    cwboost.AdaBoostMOClassifier,
]
