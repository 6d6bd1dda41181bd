"""What the documents say is so: commands parse, codes and names exist, the Python runs, links lead on."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

import evalreport as er
from evalreport.cli import group
from evalreport.cli.options import Setting
from evalreport.cli.settings import SETTINGS, load
from tests.cli.running import run

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MADE = {"_build", "made"}
"""Folders that `make docs` writes."""
PAGES = {
    path: path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "docs").rglob("*.md"))
    if not MADE & set(path.parts)
}
COMMANDS = group.list_commands(click.Context(group))
OF_OTHERS = {"--backend-store-uri", "--headless", "--no-pdf-header-footer", "--print-to-pdf"}
"""Options of MLflow and of a browser."""
REPORTED = "\n".join([README, *PAGES.values()])
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
SPOKEN = (
    "evalreport log --run-id 3f9c1e --truth diagnosis --score p_malignant --positive malignant",
    'evalreport log --experiment "bank-*" --filter "tags.split = \'test\'" --json',
    "evalreport report preds.csv --truth y --score p -o report.html",
    "evalreport report --run-id 77ab04 -o -",
    'evalreport compare --run-id 3f9c1e --run-id 88d2aa --require "recall drops <= 0.02"',
    'evalreport sweep thresholds --run-id 3f9c1e --objective "recall>=0.95" --cost 10',
    "evalreport sweep optuna --study sqlite:///s.db --study-name triage --metric f1_macro --top 20",
    'evalreport check --run-id 3f9c1e --require "recall >= 0.9" --require "ece <= 0.06" --test-on interval',
)
"""Commands that were promised in these words."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", REPORTED, re.DOTALL)


def commands() -> Iterator[str]:
    for block in blocks("console"):
        for line in block.splitlines():
            if line.startswith("$ evalreport"):
                yield line.removeprefix("$ ").partition("  #")[0].strip()
    yield from SPOKEN


def parsed(words: list[str]) -> click.Context:
    """Parse a command line as far as its last command, without running it."""
    ctx = group.make_context("evalreport", list(words))
    command: click.Command = group
    while isinstance(command, click.Group):
        name, inner, rest = command.resolve_command(ctx, [*ctx._protected_args, *ctx.args])
        assert inner is not None
        assert name is not None
        command, ctx = inner, inner.make_context(name, rest, parent=ctx)
    return ctx


@pytest.mark.parametrize("line", sorted(set(commands())))
def test_every_command_parses(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert parsed(shlex.split(line)[1:]).command.name in {*COMMANDS, "thresholds", "optuna", "runs"}


def test_every_option_named_in_the_text_exists() -> None:
    known = {"--json", "--help"}
    ctx = click.Context(group)
    for name in COMMANDS:
        command = group.get_command(ctx, name)
        inner = [command]
        if isinstance(command, click.Group):
            inner += [command.get_command(ctx, below) for below in command.list_commands(ctx)]
        params = [param for one in inner if one is not None for param in one.params]
        known |= {opt for param in params if not isinstance(param, Setting) for opt in param.opts}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", REPORTED)) - OF_OTHERS <= known
    assert set(re.findall(r"--set ([a-z_]+)", REPORTED)) <= set(SETTINGS)


def test_the_error_that_is_reported_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("predictions.csv").write_text("case_id,diagnosis,p_malignant\n1,malignant,0.9\n")
    done = run(capsys, "report", "predictions.csv", "--truth", "label")
    first, _, fix = done.err.splitlines()
    assert first.replace(".csv", ".parquet") in REPORTED
    assert fix.partition(". ")[0] in REPORTED


@pytest.mark.parametrize("block", blocks("toml"))
def test_settings_that_are_reported_are_known(
    block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text(block)
    found = load(None)
    reported: dict[str, Any] = tomllib.loads(block)["tool"]["evalreport"]
    rules = reported.pop("check", {})
    assert (dict(found.values), dict(found.check)) == (reported, rules)


def test_the_python_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    logged = []
    monkeypatch.setitem(vars(er), "log", lambda ev, run_id: logged.append((ev, run_id)))
    rng = np.random.default_rng(0)
    truth = rng.random(300) < 0.4
    names: dict[str, Any] = {
        "y_true": np.where(truth, "malignant", "benign"),
        "p": np.clip(rng.normal(0.3 + 0.4 * truth, 0.2), 0, 1),
    }
    (block,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)  # those of docs/ are run by tests/docs
    exec(block, names)  # noqa: S102
    assert isinstance(names["ev"], er.Evaluation)
    assert logged[0][1] == "3f9c1e0a7b…"
    assert Path("report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    for name in re.findall(r"\ber\.(\w+)", README):
        assert name in er.__all__


def test_links_lead_somewhere() -> None:
    for path, text in {ROOT / "README.md": README, ROOT / "CONTRIBUTING.md": CONTRIBUTING, **PAGES}.items():
        for target in re.findall(r"\]\(([^)#]+)\)", text):
            made = "made/" in target  # by `make docs`, which fails when one is missing
            assert made or target.startswith("https://") or (path.parent / target).exists(), (path, target)


def test_every_target_of_make_has_its_program() -> None:
    spoken = set(re.findall(r"\bmake (\w+)", README + CONTRIBUTING)) - {"sure"}
    targets = set(re.findall(r"^(\w+):", MAKEFILE, re.MULTILINE))
    assert spoken <= targets
    for module in re.findall(r"-m (tests\.[\w.]+)", MAKEFILE):
        place = ROOT / module.replace(".", "/")
        assert (place / "__main__.py").exists() or place.with_suffix(".py").exists(), module
    for script in re.findall(r"(examples/\w+\.py)", MAKEFILE):
        assert (ROOT / script).exists()
