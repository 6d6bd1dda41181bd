"""The layers: a module imports from lower layers or its own, and the core does not import features."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "evalreport"

LAYERS: tuple[tuple[str, ...], ...] = (
    ("core",),
    ("data",),
    ("statistics",),
    ("metrics",),
    ("intervals",),
    ("curves",),
    ("thresholds",),
    ("evaluation",),
    ("findings", "comparison"),
    ("page", "figures"),
    ("columns", "readers", "tracking"),
    ("workflow",),
    ("cli", "api", "adapters", "__init__", "__main__"),
)
LAYER = {name: layer for layer, names in enumerate(LAYERS) for name in names}
FEATURES = (
    "gate",
    "graded",
    "large",
    "predict",
    "site",
    "spark",
    "studies",
    "systems",
    "text_labels",
    "weak_slices",
)
HOMES = {
    "jinja2": {"page/render.py"},
    "matplotlib": {"figures", "features/studies/views.py"},
    "seaborn": {"figures"},
    "mlflow": {
        "tracking",
        "features/gate/registry.py",
        "features/predict",
        "features/studies/read.py",
        "adapters/mlflow_evaluator.py",
    },
    "optuna": {"features/studies", "thresholds/trial_search.py", "tracking"},
    "pyspark": {"features/spark"},
}
LATE = {"mlflow", "optuna", "matplotlib", "seaborn", "sklearn", "pandas", "pyarrow", "scipy", "jinja2"} | {
    "markdown_it",
    "pyspark",
}
"""Imported inside the function that needs them, or in a module that is itself imported late."""
MODULES = sorted(PACKAGE.rglob("*.py"))
FEATURE_IMPORTS_OF_FEATURES = {("spark", "large")}
"""Spark counts each partition as a stream, and adds up what all of them counted: it needs streams."""


def relative(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def part(module: str) -> str:
    return module.split("/", maxsplit=1)[0].removesuffix(".py")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> list[ast.AST]:
    return [*ast.walk(parsed(path))]


@cache
def imports(path: Path) -> list[tuple[str, bool]]:
    """Each imported module as (dotted name, whether at the top of the file); not what types alone need.

    A module that is imported out of its package stands for itself, not for the package.
    """
    typing_only = {
        id(inner)
        for node in nodes(path)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    top = {id(node) for node in parsed(path).body}
    found: list[tuple[str, bool]] = []
    for node in nodes(path):
        if id(node) in typing_only:
            continue
        is_top = id(node) in top
        if isinstance(node, ast.Import):
            found += [(alias.name, is_top) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = [name for alias in node.names if is_module(name := f"{node.module}.{alias.name}")]
            found += [(name, is_top) for name in inner]
            if len(inner) < len(node.names):
                found.append((node.module, is_top))
    return found


@cache
def is_module(name: str) -> bool:
    place = PACKAGE.parent.joinpath(*name.split("."))
    return place.with_suffix(".py").is_file() or (place / "__init__.py").is_file()


def inner_imports() -> Iterator[tuple[str, str, str, str]]:
    """Each import inside the package: the file, its part, what it imports, and the part of that."""
    for path in MODULES:
        where = relative(path)
        for name, _ in imports(path):
            if name.startswith("evalreport."):
                yield where, part(where), name, name.split(".")[1]


def feature(module: str) -> str | None:
    """The feature that a file (`features/x/…`) or a dotted module belongs to."""
    parts = module.removeprefix("evalreport.").replace("/", ".").split(".")
    return parts[1] if parts[0] == "features" and len(parts) > 1 and parts[1] != "__init__" else None


def test_every_package_is_in_one_layer() -> None:
    parts = {part(relative(path)) for path in MODULES} - {"features"}
    assert parts == set(LAYER), "add it to LAYERS, or take it out"
    assert {name for path in MODULES if (name := feature(relative(path)[:-3]))} == set(FEATURES)


def test_the_layers_are_those_of_contributing() -> None:
    text = (PACKAGE.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| ([^|]*) \|", text, flags=re.MULTILINE)
    documented = {int(layer): set(re.findall(r"`(\w+)`", names)) for layer, names in rows}
    parts = ({name for name in names if not name.startswith("__")} for names in LAYERS)
    assert documented == dict(enumerate(parts, start=1))


def test_no_module_imports_upward() -> None:
    upward = [
        f"{where} imports {name}"
        for where, a, name, b in inner_imports()
        if "features" not in {a, b} and LAYER[b] > LAYER[a]
    ]
    assert not upward, "these are above the module that imports them"


def test_the_core_does_not_import_features() -> None:
    """Imports inside functions count, too; only the table of `features/__init__.py` names features."""
    found = {
        (where, name.removeprefix("evalreport.features."))
        for where, a, name, b in inner_imports()
        if b == "features" and a != "features"
    }
    assert not found


def test_a_feature_does_not_import_another() -> None:
    found = {
        (feature(where[:-3]), feature(name))
        for where, a, name, b in inner_imports()
        if a == b == "features" and feature(name) not in {None, feature(where[:-3])}
    }
    assert found <= FEATURE_IMPORTS_OF_FEATURES


def test_libraries_stay_at_home() -> None:
    astray, early = [], []
    for path in MODULES:
        where = relative(path)
        for name, is_top in imports(path):
            library = name.split(".")[0]
            if (
                library in HOMES
                and not {where, part(where), f"features/{feature(where[:-3])}"} & HOMES[library]
            ):
                astray.append(f"{library} in {where}")
            if is_top and library in LATE:
                early.append(f"{library} at the top of {where}")
    assert not astray and not early


@pytest.mark.parametrize("statement", ["import evalreport", "from evalreport.cli import main"])
def test_import_brings_nothing_heavy(statement: str) -> None:
    code = f"{statement}; import sys; print(*sorted({{m.split('.')[0] for m in sys.modules}}))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent
    ).stdout.split()
    assert not LATE & set(loaded)
    assert "numpy" not in loaded


def test_no_module_needs_itself() -> None:
    """No circle, not even through an import inside a function."""
    dotted = {relative(path).removesuffix(".py").replace("/", "."): path for path in MODULES}
    needs = {
        f"evalreport.{name}".removesuffix(".__init__"): {there for there, _ in imports(path)}
        for name, path in dotted.items()
    }
    assert list(TopologicalSorter(needs).static_order())


def test_a_class_name_stands_for_one_thing() -> None:
    """A class of the Python face that adds views to a value keeps the value's name: it is the same thing."""
    places: dict[str, list[str]] = {}
    for path in MODULES:
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and not any(
                ast.unparse(base).endswith(f".{node.name}") for base in node.bases
            ):
                places.setdefault(node.name, []).append(relative(path))
    assert not {name: found for name, found in places.items() if len(found) > 1}


UNNAMED = 27
"""Modules with functions that no test imports by name and no example runs. It only falls."""


def test_modules_are_tested_by_name_or_by_example() -> None:
    tests = list(Path(__file__).parent.rglob("*.py"))
    named = {name for path in tests for name, _ in imports(path)}
    held = []
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        name = f"evalreport.{relative(path).removesuffix('.py').replace('/', '.')}".removesuffix(".__init__")
        if "\ndef " in text and ">>>" not in text and name not in named:
            held.append(name)
    assert len(held) <= UNNAMED, held


def sizes(path: Path) -> dict[str, int]:
    """Lines of each function without its docstring."""
    found = {}
    for node in nodes(path):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
            found[f"{relative(path)}:{node.lineno} {node.name}"] = (
                (body[-1].end_lineno or 0) - body[0].lineno + 1
            )
    return found


def test_files_stay_readable() -> None:
    lines = {relative(path): path.read_text(encoding="utf-8").count("\n") for path in MODULES}
    assert not {name: n for name, n in lines.items() if n > 800}


def test_functions_stay_small() -> None:
    found = {name: size for path in MODULES for name, size in sizes(path).items()}
    assert not {name: size for name, size in found.items() if size > 60}


NAMED = 384
"""Names of metrics as literals outside of `metrics/`: beside their words, in single uses. It only falls."""


def test_names_of_metrics_belong_to_the_catalogue() -> None:
    """A new table or rule asks for a set of `metrics/named_sets.py`, or for a property of the record."""
    from evalreport.metrics.catalogue import everything

    names = {metric.name for metric in everything()}
    found = [
        node.value
        for path in MODULES
        if part(relative(path)) != "metrics" and not relative(path).endswith("/metrics.py")
        for node in nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in names
    ]
    assert len(found) <= NAMED, "ask the record of the metric, or make a named set"
