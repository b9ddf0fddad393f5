"""Products of matrices and exp and the like stand in known places only.

Sums of BLAS depend on threads and processor, and the last bit of NumPy's exp on the processor.
"""

import ast
from pathlib import Path

import pytest
from import_graph import ROOT

NAMES = {"dot", "matmul", "inner", "einsum", "vdot", "tensordot"}
FUNCTIONS = {
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "logaddexp", "power", "pow", "tanh"),
    *("softmax", "log_softmax", "logsumexp", "expit", "log_expit", "logit", "entr", "xlogy"),
}
LIBRARIES = {"np", "numpy", "math", "scipy.special", "special"}
EXACT = "whole numbers, whose sums are exact in any order"
WHOLE = "rounds a logarithm to a whole number"
SPARSE = "SciPy adds up each row of a sparse product in order"
IN_ORDER = "einsum of two arrays calls no BLAS unless asked to optimize"
ALLOWED = {
    "cwboost/testing": "checks within a tolerance",
    "cwboost/experiments": "features of images, computed before any training; reports",
    "cwboost/dask/training.py": WHOLE,
    "cwboost/families/sealing/forms.py": "checks within a tolerance",
    "cwboost/baselines/codes.py": f"{EXACT}; {WHOLE}",
    "cwboost/ensemble/shapley.py": f"{EXACT}; {SPARSE}",
    "cwboost/estimator/groups.py": EXACT,
    "cwboost/ensemble/directed_shapley.py": SPARSE,
    "cwboost/families/contract.py": f"{SPARSE}; the default edges of shared outputs are checked",
    "plugins/kernel/fitting.py": EXACT,
    "plugins/kernel/kernel_values.py": EXACT,
    "plugins/kernel/model.py": SPARSE,
    "plugins/kernel/regression.py": EXACT,
    "plugins/patches": IN_ORDER,
    "plugins/stumps/monotonic.py": IN_ORDER,
    "plugins/text": SPARSE,
    "plugins/trees/family.py": WHOLE,
    "plugins/templates": "short examples, whose authors promise no bits",
}


def multiplies(node):
    """Whether a node multiplies matrices, calls exp or the like or imports what does."""
    if isinstance(node, ast.Attribute):
        library = node.attr in FUNCTIONS and ast.unparse(node.value) in LIBRARIES
        return library or node.attr in NAMES | {"linalg"}
    if isinstance(node, ast.ImportFrom) and node.module in LIBRARIES:
        return bool({alias.name for alias in node.names} & (NAMES | FUNCTIONS))
    if isinstance(node, ast.Import | ast.ImportFrom):
        modules = [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]
        parts = {part for name in modules for part in name.split(".")}
        return bool(parts & (NAMES | {"linalg"}))
    return isinstance(getattr(node, "op", None), ast.MatMult)


def products(source):
    """The lines of a Python source that multiply matrices or import dense linear algebra."""
    return [node.lineno for node in ast.walk(ast.parse(source)) if multiplies(node)]


def places():
    for path in (p for folder in ("cwboost", "plugins") for p in (ROOT / folder).rglob("*.py")):
        lines = sorted(set(products(path.read_text())))
        if lines and "example_plugin" not in path.parts:
            yield path.relative_to(ROOT), lines


def reason(path: Path):
    return next((ALLOWED[str(p)] for p in (path, *path.parents) if str(p) in ALLOWED), None)


def test_products_stand_in_known_places():
    found = {f"{path}:{lines}" for path, lines in places() if reason(path) is None}
    assert not found, "cwboost.kernels.matrix_product gives the same bits everywhere"
    names = {str(p) for path, _ in places() for p in (path, *path.parents)}
    assert set(ALLOWED) <= names, "a place without products needs no permission"


@pytest.mark.parametrize(
    "source",
    ["a @ b", "a @= b", "np.dot(a, b)", "a.dot(b)", "np.einsum('i,i', a, b)", "np.linalg.norm(a)",
     "from scipy.linalg import cho_solve", "from scipy import linalg", "import scipy.linalg",
     "from numpy import vdot", "f = np.tensordot", "np.exp(a)", "math.log(a)",
     "from scipy.special import softmax", "from math import log"],
)  # fmt: skip
def test_every_spelling_is_seen(source):
    assert list(products(source)) and not list(products("a * b + np.sum(a)"))
