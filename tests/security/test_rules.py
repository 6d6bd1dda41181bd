"""Rules that hold over the whole source, read from the source."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "evalreport").rglob("*.py"))
TEMPLATES = sorted(path for path in (ROOT / "templates").rglob("*") if path.is_file())
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


def test_templates_escape_everything_but_style_and_script() -> None:
    for path in TEMPLATES:
        text = path.read_text(encoding="utf-8")
        raw = len(re.findall(r"\|\s*safe\b|autoescape\s+false|Markup", text))
        assert raw == RAW.get(path.name, 0), path.name


def test_one_environment_escapes_always() -> None:
    made = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "Environment":
                made.append(path.name)
                assert any(
                    word.arg == "autoescape"
                    and isinstance(word.value, ast.Constant)
                    and word.value.value is True
                    for word in node.keywords
                )
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func).rpartition(".")[2]
                assert called != "select_autoescape"
                # markup of our own may be written, never made of a value: `join` escapes what it joins
                assert called != "Markup" or all(isinstance(arg, ast.Constant) for arg in node.args)
    assert made == ["render.py"]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_nothing_unpickles_runs_text_or_trusts_any_certificate(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            assert not {alias.name.split(".")[0] for alias in node.names} & UNSAFE_MODULES
        if isinstance(node, ast.ImportFrom):
            unsafe = (node.module or "").split(".")[0] in UNSAFE_MODULES
            # the class of an error loads nothing
            assert not unsafe or all(alias.name.endswith("Error") for alias in node.names)
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        name = called.rpartition(".")[2]
        assert name not in UNSAFE_CALLS or called.startswith(("re.", "_re.", "self.")), (
            f"{called}, line {node.lineno}"
        )
        if called in ("np.load", "numpy.load", "np.lib.format.read_array"):
            allowed = [word for word in node.keywords if word.arg == "allow_pickle"]
            assert allowed, f"{called}, line {node.lineno}"
        for word in node.keywords:
            value = word.value.value if isinstance(word.value, ast.Constant) else None
            assert not (
                word.arg in ("verify", "shell", "allow_pickle", "allow_redirects")
                and value is (word.arg != "verify")
            )


def test_certificates_are_never_waived() -> None:
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"verify\s*=\s*False|INSECURE_TLS|CERT_NONE|_create_unverified", text), path.name


def test_every_exception_to_a_security_rule_is_known() -> None:
    """Ruff's S rules are on for the package; none is waived in passing."""
    found = [
        f"{path.name}: {line.strip()}"
        for path in SOURCES
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"noqa[^#]*\bS(?!101)\d{3}", line)
    ]
    assert found == []
