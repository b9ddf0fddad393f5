"""Work that no change of cwboost touches: how steady the machine itself is."""

import numpy as np

from .common import Settings


class Yardstick(Settings):
    def setup(self):
        self.a = np.ones(100_000)

    def time_numpy_pass(self):
        np.multiply(self.a, 1.0000001, out=self.a)
