"""Rules over the sources: imports, products of matrices, and what pyproject.toml declares."""

import ast
import re
import sys
from fnmatch import fnmatchcase
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from import_graph import CIMPORT, MODULES, PACKAGE, ROOT, imported_modules, imports

import cwboost
import cwboost.kernels
import cwboost.testing

PLUGINS = ROOT / "plugins"


def within(name, *packages):
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def test_the_parser_sees_imports():
    assert "cwboost.families.contract" in imported_modules("cwboost.families.discovery")
    assert "cwboost.commands" in imported_modules("cwboost.cli")
    assert "cwboost._kernels.fcd.pair_weights" in imported_modules("cwboost.master")
    assert "cwboost._kernels.fcd.subspace" in imported_modules("cwboost._kernels.fcd.pair_weights")
    assert len(MODULES) > 80


UNIT = re.compile(r"^\| (\d+) \| `([\w.]+/?)` \|", re.MULTILINE)


def layers():
    """The units of each layer, from the top down, as the architecture page lists them."""
    found = {}
    for layer, unit in UNIT.findall((ROOT / "docs" / "architecture.md").read_text()):
        name = "cwboost." + unit.removesuffix("/").removesuffix(".py")
        assert (PACKAGE / unit).is_dir() == unit.endswith("/"), f"{unit}: folders end with a slash"
        found.setdefault(int(layer), []).append(name)
    return [found[layer] for layer in sorted(found)]


# A module may import its own unit and what stands in a lower layer.
LAYERS = layers()


def unit_of(name):
    """The folder or top-level module of the package that a module belongs to."""
    return ".".join(name.split(".")[:2])


def layer_of(name):
    """The place of a module; the package itself is above all, a plugin has none."""
    known = {unit: depth for depth, units in enumerate([["cwboost"], *LAYERS]) for unit in units}
    return known.get(unit_of(name), -1)


def test_every_module_has_a_layer():
    units = {unit_of(name) for name in MODULES} - {"cwboost"}
    assert sorted(unit for layer in LAYERS for unit in layer) == sorted(units)


def test_no_module_imports_upward_or_sideways():
    found = [(name, module) for name in MODULES for module in imported_modules(name) - {"cwboost"}]
    apart = [pair for pair in found if unit_of(pair[0]) != unit_of(pair[1])]
    assert [pair for pair in apart if layer_of(pair[0]) >= layer_of(pair[1])] == []


def test_the_contract_stands_alone():
    below = {"cwboost.families.flat_forms", "cwboost.families.outputs"}
    assert imported_modules("cwboost.families.contract") == below
    assert imported_modules("cwboost.families.outputs") == set()
    forms = imported_modules("cwboost.families.flat_forms", on_import_only=True)
    assert forms == {"cwboost.families.arrays"}
    assert imported_modules("cwboost.families.arrays") == set()
    assert imported_modules("cwboost.hookspecs") == set()


def test_importing_cwboost_is_light():
    eager = imported_modules("cwboost", on_import_only=True)
    own = ("arrays", "contract", "flat_forms", "outputs")
    contract = {f"cwboost.families.{name}" for name in own}
    assert eager <= contract | {"cwboost.hookspecs"}


def test_no_import_cycles():
    graph = {name: imported_modules(name) & set(MODULES) for name in MODULES}
    done, path = set(), []

    def visit(name):
        assert name not in path, f"cycle: {' -> '.join([*path, name])}"
        if name in done:
            return
        path.append(name)
        for other in sorted(graph[name]):
            visit(other)
        path.pop()
        done.add(name)

    for name in sorted(graph):
        visit(name)


PUBLIC = {
    "cwboost": set(cwboost.__all__),
    "cwboost.kernels": set(cwboost.kernels.__all__),
    "cwboost.testing": set(cwboost.testing.__all__),
}
PUBLIC_MODULES = (*PUBLIC, "cwboost.callbacks", "cwboost.datasets")


def plugin_sources():
    return [
        path
        for path in sorted(PLUGINS.rglob("*.py*"))
        if path.suffix in (".py", ".pyx", ".pxd")
        and not {"build", "__pycache__"} & set(path.relative_to(PLUGINS).parts)
    ]


@pytest.mark.parametrize("path", plugin_sources(), ids=lambda p: p.relative_to(PLUGINS).as_posix())
def test_plugins_use_public_names_only(path):
    if path.suffix == ".py":
        for module, name, _ in imports(path):
            if module.partition(".")[0] != "cwboost" or within(module, "cwboost.plugins"):
                continue
            assert module in PUBLIC_MODULES, f"{module} is private"
            if name is not None and module in PUBLIC and f"{module}.{name}" not in PUBLIC:
                assert name in PUBLIC[module], f"{module}.{name} is private"
        attributes = {
            node.attr
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "cwboost"
        }
        assert attributes <= PUBLIC["cwboost"], attributes - PUBLIC["cwboost"]
    for source, name in CIMPORT.findall(path.read_text()):
        module = source or name
        if module.partition(".")[0] == "cwboost" and path.suffix != ".py":
            assert module in PUBLIC_MODULES, f"{module} is private"


def test_errors_have_one_form():
    """`argument must be what was expected, got what came`."""
    other = re.compile(r"""["':] ?expected | expects """)
    sources = [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyx"), *plugin_sources()]
    found = [
        f"{path}: {line}"
        for path in sources
        for line in path.read_text().splitlines()
        if other.search(line)
    ]
    assert len(sources) > 200
    assert found == []


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
    known = dict(places())
    found = {f"{path}:{lines}" for path, lines in known.items() if reason(path) is None}
    assert not found, "cwboost.kernels.matrix_product gives the same bits everywhere"
    names = {str(p) for path in known for p in (path, *path.parents)}
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


def distributions_of(requirements):
    """Normalised names of the distributions that requirements name."""
    names = (re.match(r"[\w.-]+", requirement).group() for requirement in requirements)
    return {normalised(name) for name in names}


def normalised(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def foreign_imports():
    """(file, imported package, whether inside a function) of packages that are not ours."""
    plugins = (path for path in (ROOT / "plugins").glob("[!e]*/*.py"))
    for path in [*MODULES.values(), *plugins]:
        for module, _, late in imports(path):
            package = module.partition(".")[0]
            known = {"cwboost", "cython", "libc", "cpython", *sys.stdlib_module_names}
            if package not in known:
                yield path, package, late


@pytest.mark.skipif(sys.version_info < (3, 11), reason="does not know the packages of all wheels")
def test_what_is_imported_is_a_dependency(project):
    """A function may import packages of any extra but those of tests."""
    required = distributions_of(project["dependencies"])
    extras = {n: distributions_of(found) for n, found in project["optional-dependencies"].items()}
    for_users, seen = set().union(*(extras[name] for name in extras if name != "test")), set()
    known_packages = packages_distributions()
    for path, package, lazily in foreign_imports():
        providers = {normalised(name) for name in known_packages.get(package, ())}
        # A folder that is named like an extra needs it as a whole.
        folders = path.relative_to(ROOT).parts
        known = required.union(*(extras.get(folder, set()) for folder in folders))
        if lazily:
            known |= for_users
            if path.parent.name == "testing":  # called by tests, so it may use what runs tests
                known |= extras["test"]
        else:
            seen |= providers
        assert providers & known, f"{path} imports {package}"
    assert required <= seen, f"declared and never imported: {required - seen}"


def test_the_workflow_builds_wheels_of_the_declared_pythons_alone(project, pyproject):
    declared = {
        found.group(1).replace(".", "")
        for line in project["classifiers"]
        if (found := re.search(r":: (3\.\d+)$", line))
    }
    if any("Free Threading" in line for line in project["classifiers"]):
        declared.add("314t")  # without a global lock
    skipped = pyproject["tool"]["cibuildwheel"]["skip"].split()
    workflow = (ROOT / ".github/workflows/wheels.yml").read_text(encoding="utf-8")
    patterns = re.findall(r'build: "(.+?)-(\w+)"', workflow)
    assert len(patterns) == 7
    # The workflow's pattern replaces that of pyproject.toml.
    candidates = [*(f"3{minor}" for minor in range(8, 17)), "313t", "314t", "315t", "316t"]
    for pythons, platform in patterns:
        built = {
            one
            for one in candidates
            if fnmatchcase(f"cp{one}", pythons)
            and not any(fnmatchcase(f"cp{one}-{platform}", pattern) for pattern in skipped)
        }
        assert built == declared, platform


def test_the_page_of_versions_states_the_oldest_ones_that_are_declared(project):
    page = (ROOT / "docs/versions.md").read_text(encoding="utf-8")
    stated = {
        name.lower(): oldest
        for name, oldest in re.findall(r"^\| ([\w-]+) \| ([\d.]+) \| \w+ \d{4} \|$", page, re.M)
    }
    bounds = dict(requirement.split(">=") for requirement in project["dependencies"])
    bounds["python"] = project["requires-python"].removeprefix(">=")
    assert stated == {name: bounds[name] for name in ("python", "numpy", "scipy", "scikit-learn")}


@pytest.mark.parametrize("path", sorted((ROOT / ".github/workflows").glob("*.yml")), ids=str)
def test_workflows_name_actions_by_hash_and_version(path):
    text = path.read_text(encoding="utf-8")
    assert pytest.importorskip("yaml").safe_load(text)["jobs"]
    actions = re.findall(r"uses: (.+)$", text, re.M)
    assert actions
    for action in actions:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action
