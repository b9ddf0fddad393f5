"""The public Cython API, compiled as a third party compiles it and compared with NumPy."""

import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest
from in_process import output_of

from cwboost import pack_outputs, unpack_outputs

pytestmark = pytest.mark.slow
SOURCE = Path(__file__).parents[1] / "support" / "kernels_api.pyx"
SETUP = """
import cwboost
from Cython.Build import cythonize
from setuptools import Extension, setup

setup(
    name="kernels_api",
    ext_modules=cythonize(
        [Extension("kernels_api", ["kernels_api.pyx"])],
        include_path=[cwboost.get_include()],
        compiler_directives={"language_level": 3, "freethreading_compatible": True},
    ),
)
"""


@pytest.fixture(scope="module")
def api(tmp_path_factory, c_compiler):
    folder = tmp_path_factory.mktemp("kernels_api")
    (folder / "kernels_api.pyx").write_text(SOURCE.read_text())
    (folder / "setup.py").write_text(SETUP)
    quick = {**os.environ, "CFLAGS": "-O0 -g0"}  # to optimise takes longer than the tests
    output_of("setup.py", "-q", "build_ext", "--inplace", cwd=folder, env=quick)
    (library,) = [path for path in folder.iterdir() if path.suffix in (".so", ".pyd")]
    spec = importlib.util.spec_from_file_location("kernels_api", library)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_version_and_sizes(api):
    assert api.API_VERSION == 1
    assert [api.size(n) for n in (0, 1, 7, 8, 9, 64)] == [0, 1, 1, 1, 2, 8]


@pytest.mark.parametrize("n_samples", [1, 7, 8, 9, 61])
def test_packing_agrees_with_the_contract(api, n_samples):
    signs = np.random.default_rng(0).choice(np.array([-1, 1], dtype=np.int8), (n_samples, 5))
    packed = pack_outputs(signs)
    assert np.array_equal(api.pack(signs), packed)
    assert np.array_equal(api.pack(np.asfortranarray(signs)), packed)
    assert np.array_equal(api.unpack(packed, n_samples), signs)
    assert [api.read(packed[2], i) for i in range(n_samples)] == [
        (sign > 0, sign) for sign in signs[:, 2]
    ]


def test_single_bits(api):
    signs = np.random.default_rng(1).choice(np.array([-1, 1], dtype=np.int8), (29, 1))
    packed = pack_outputs(signs)
    for how, value in (("set", 1), ("clear", -1), ("assign +1", 1), ("assign -1", -1)):
        for i in (0, 7, 8, 28):
            bits, expected = packed[0].copy(), signs.copy()
            api.write(bits, i, how)
            expected[i] = value
            assert np.array_equal(unpack_outputs(bits[None], 29), expected), (how, i)


def test_edge_is_summed_in_order(api):
    rng = np.random.default_rng(2)
    signs = rng.choice(np.array([-1, 1], dtype=np.int8), (1000, 1))
    weights = np.exp(10 * rng.standard_normal(1000))
    expected = 0.0
    for weight, sign in zip(weights.tolist(), signs[:, 0].tolist()):
        expected += weight * sign
    assert api.edge(pack_outputs(signs)[0], weights) == expected
