"""Work independent of cwboost, to measure the noise of the machine."""

import numpy as np

from .common import Settings


class Yardstick(Settings):
    def setup(self):
        self.a = np.ones(100_000)

    def time_numpy_pass(self):
        np.multiply(self.a, 1.0000001, out=self.a)
