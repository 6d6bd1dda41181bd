"""Nothing is undocumented: options, metrics, findings, errors, keys, settings, artifacts, public names."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from runpy import run_path

import click
import jsonschema
import pytest

import evalreport as er
from docs import made
from evalreport.cli.options import Setting
from evalreport.findings.ordered_rules import rules
from evalreport.metrics.catalogue import everything
from evalreport.page import payload
from tests.page.made import made as evaluated

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def test_every_option_is_on_the_page_of_commands() -> None:
    page = made.command_page()
    for words, command in made.commands():
        assert f"## `evalreport {words}`" in page
        shown = [param for param in command.params if not isinstance(param, Setting)]
        assert all(opt in page for param in shown for opt in param.opts if opt.startswith("--"))
        assert all(param.help for param in command.params if isinstance(param, click.Option)), words


def test_every_metric_is_explained() -> None:
    pages = {task: made.metric_page(task) for task in made.TASKS}
    for metric in everything():
        assert f"({metric.name}-{metric.task})=" in pages[metric.task]
        assert metric.formula
        assert metric.meaning


def test_every_finding_says_when_it_appears() -> None:
    page = made.finding_page()
    for rule in rules():
        assert f"`{rule.__name__}`" in page
        assert len((rule.__doc__ or "").split()) > 3


def test_every_key_of_the_document_has_its_object() -> None:
    page = made.schema_page()
    kinds = set(re.findall(r"^## (\w+)$", page, re.MULTILINE))
    assert {"EvaluationRecord", "Estimate", "Undefined", "Finding", "Provenance"} <= kinds
    types = re.findall(r"`([^`]*)` \|$", page, re.MULTILINE)
    named = {word for reported in types for word in re.findall(r"[A-Z]\w+", reported)}
    assert named - {"Any"} <= kinds


@pytest.mark.parametrize("kind", ["binary-slices", "twenty", "multilabel", "text", "one-class"])
def test_the_schema_takes_every_document_and_no_other(kind: str) -> None:
    schema = jsonschema.Draft202012Validator(made.document_schema())
    schema.check_schema(schema.schema)
    document = json.loads(evaluated(kind).to_json())
    schema.validate(document)
    for changed in (
        document | {"unknown": 1},
        document | {"rows": -1},
        document | {"task": "regression"},
        {key: value for key, value in document.items() if key != "metrics"},
    ):
        assert not schema.is_valid(changed)


def test_every_error_code_and_setting_is_listed() -> None:
    from evalreport.cli.settings import CHECK, KNOWN
    from evalreport.core import errors

    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and hasattr(kind, "code")]
    assert all(f"`{kind.code}`" in made.error_page() for kind in kinds if kind is not er.EvalreportError)
    assert all(f"| `{key}` |" in made.setting_page() for key in (*KNOWN, *CHECK))


def test_every_artifact_and_tag_is_named() -> None:
    page = (DOCS / "reference" / "mlflow.md").read_text(encoding="utf-8")
    reported = [
        *payload.PAGES,
        *payload.TABLES,
        *map(payload.in_run, payload.FIGURES),
        payload.EVALUATION,
        payload.ROWS,
        payload.SWEEP,
    ]
    reported += [payload.COMPARISON, payload.SWEEP_POINTS, payload.MANIFEST]
    reported += [payload.STATE_TAG, payload.SWEEP_TAGS, payload.GATE_TAGS]
    assert all(f"`{name}`" in page for name in reported)


def test_every_public_name_is_in_the_python_reference() -> None:
    page = (DOCS / "reference" / "python.md").read_text(encoding="utf-8")
    assert set(re.findall(r"auto\w+:: (\w+)", page)) == set(er.__all__) - {"__version__"}


def test_every_page_of_the_gallery_is_shown() -> None:
    pages = run_path(str(DOCS.parent / "examples" / "gallery.py"))["PAGES"]
    assert re.findall(r'href="gallery/(\S+)\.html"', (DOCS / "gallery.md").read_text()) == list(pages)


def test_no_space_stands_before_a_per_cent_sign() -> None:
    """One spelling, that of the numbers: in texts of the package as on every page."""
    spaced = re.compile(r"[0-9}] %(?![\w(])")
    pages = [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]
    found = [page.name for page in pages if spaced.search(page.read_text(encoding="utf-8"))]
    for module in (ROOT / "evalreport").rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                lines = [line for line in node.value.splitlines() if ">>>" not in line]  # what is read
                found += [f"{module.name}: {line}" for line in lines if spaced.search(line)]
    assert not found
