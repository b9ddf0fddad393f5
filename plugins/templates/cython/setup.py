from Cython.Build import cythonize
from setuptools import Extension, setup

setup(
    ext_modules=cythonize(
        [Extension("cwboost_acme._interval", ["src/cwboost_acme/_interval.pyx"])],
        include_path=["src"],
        build_dir="build/cython",
        compiler_directives={
            "language_level": 3,
            "boundscheck": False,
            "wraparound": False,
            # True while no function writes to what threads share.
            "freethreading_compatible": True,
        },
    )
)
