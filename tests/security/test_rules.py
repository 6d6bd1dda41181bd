"""Rules that hold over the whole source, read from the source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.test_architecture import MODULES as SOURCES
from tests.test_architecture import parsed

ROOT = Path(__file__).parents[2]
TEMPLATES = sorted(path for path in (ROOT / "templates").rglob("*.*") if path.parent.name != "__pycache__")
UNSAFE_MODULES = {
    "pickle",
    "cPickle",
    "dill",
    "cloudpickle",
    "joblib",
    "marshal",
    "shelve",
    "yaml",
    "torch",
    "ray",
}
UNSAFE_CALLS = {
    "eval",
    "exec",
    "compile",
    "__import__",
    "read_pickle",
    "load_model",
    "mktemp",
    "system",
    "popen",
}
RAW = {"page.html.j2": 2}
"""Where a template may put text as it is, and how often: the style and the script, which are ours."""


@cache
def calls(path: Path) -> list[tuple[str, ast.Call]]:
    """Each call of a module, with what is called."""
    return [(_dotted(node.func), node) for node in ast.walk(parsed(path)) if isinstance(node, ast.Call)]


def _dotted(node: ast.expr) -> str:
    """A name with what it is of; "" stands for what is no name."""
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def test_templates_escape_everything_but_style_and_script() -> None:
    for path in TEMPLATES:
        text = path.read_text(encoding="utf-8")
        raw = len(re.findall(r"\|\s*safe\b|autoescape\s+false|Markup", text))
        assert raw == RAW.get(path.name, 0), path.name


def test_one_environment_escapes_always() -> None:
    made = []
    for path in SOURCES:
        for name, node in calls(path):
            called = name.rpartition(".")[2]
            if called == "Environment":
                made.append(path.name)
                assert any(
                    word.arg == "autoescape"
                    and isinstance(word.value, ast.Constant)
                    and word.value.value is True
                    for word in node.keywords
                )
            assert called != "select_autoescape"
            # markup of our own may be written, never made of a value: `join` escapes what it joins
            assert called != "Markup" or all(isinstance(arg, ast.Constant) for arg in node.args)
    assert made == ["render.py"]


def test_nothing_unpickles_runs_text_or_trusts_any_certificate() -> None:
    found = [f"{path.relative_to(ROOT / 'evalreport')}: {what}" for path in SOURCES for what in unsafe(path)]
    assert {one.partition(", line")[0] for one in found} == {*OF_MODEL, OF_SPARK}


OF_MODEL = ("features/predict/model.py: pyfunc.load_model", "features/predict/model.py: .load_model")
"""The model of a run is loaded only with ``--predict-on``, which says that it runs the model's code."""
OF_SPARK = "features/spark/count.py: pickle"
"""A task of Spark that this process began answers as all of PySpark do: pickled, by our own code."""


def unsafe(path: Path) -> Iterator[str]:
    """Imports and calls by which what is read could act."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            yield from {alias.name.split(".")[0] for alias in node.names} & UNSAFE_MODULES
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in UNSAFE_MODULES:
            # the class of an error loads nothing
            yield from (alias.name for alias in node.names if not alias.name.endswith("Error"))
    for called, node in calls(path):
        if called.rpartition(".")[2] in UNSAFE_CALLS and not called.startswith(("re.", "_re.", "self.")):
            yield f"{called}, line {node.lineno}"
        words = {word.arg: word.value for word in node.keywords}
        if called in ("np.load", "numpy.load", "np.lib.format.read_array") and "allow_pickle" not in words:
            yield f"{called}, line {node.lineno}"
        for name in {"verify", "shell", "allow_pickle", "allow_redirects"} & set(words):
            value = words[name]
            if isinstance(value, ast.Constant) and value.value is (name != "verify"):
                yield f"{name}={value.value}, line {node.lineno}"


def test_certificates_are_never_waived() -> None:
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"verify\s*=\s*False|INSECURE_TLS|CERT_NONE|_create_unverified", text), path.name


def test_every_exception_to_a_security_rule_is_known() -> None:
    """Ruff's S rules are on for the package; none is waived in passing."""
    found = [
        path.relative_to(ROOT / "evalreport").as_posix()
        for path in SOURCES
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"noqa[^#]*\bS(?!101)\d{3}", line)
    ]
    assert found == [OF_SPARK.partition(":")[0]]
