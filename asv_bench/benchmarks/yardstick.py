"""What a result depends on besides cwboost: the noise of the machine and its instruction set."""

import numpy as np

from .common import Settings


class Yardstick(Settings):
    def setup(self):
        self.a = np.ones(100_000)

    def time_numpy_pass(self):
        np.multiply(self.a, 1.0000001, out=self.a)


class InstructionSet(Settings):
    """The registers that the kernels of this result used; CWBOOST_INSTRUCTION_SET forces them."""

    def track_register_bits(self):
        from cwboost._kernels.common import cpu

        return {"portable": 128, "sse2": 128, "neon": 128, "avx2": 256, "avx512": 512}[cpu.chosen()]

    track_register_bits.unit = "bits"
