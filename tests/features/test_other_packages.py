"""A package of others adds metrics, a reader, a section, a finding, a command and an option."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = Path(__file__).parent / "example"
ROWS = "".join(f"y_true={k % 3 == 0:d} score=0.{(k * 7919) % 9973:04}\n" for k in range(60))


def evalreport(folder: Path, *words: str, path: Path = EXAMPLE) -> subprocess.CompletedProcess[str]:
    """Run a command with the example on the path."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "evalreport", *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, path)))},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("rows")
    (place / "rows.pairs").write_text(ROWS)
    return place


@pytest.fixture(scope="module")
def shown(folder: Path) -> dict[str, Any]:
    """What `report` says of a file that only the example can read."""
    done = evalreport(folder, "report", "rows.pairs", "-o", "page.html", "--json")
    assert done.returncode == 0, done.stderr + done.stdout
    found: dict[str, Any] = json.loads(done.stdout)["runs"][0]
    return found


def test_its_reader_reads_the_file_by_its_name_and_by_option(shown: dict[str, Any], folder: Path) -> None:
    assert shown["metrics"]["roc_auc"]["value"] > 0
    shutil.copy(folder / "rows.pairs", folder / "rows")
    assert evalreport(folder, "report", "rows", "--set", "format=pairs", "-o", "other.html").returncode == 0


def test_its_metric_has_a_value_an_interval_and_an_explanation(shown: dict[str, Any], folder: Path) -> None:
    rate, npv = shown["metrics"]["false_omission_rate"], shown["metrics"]["npv"]
    assert rate["value"] == pytest.approx(1 - npv["value"])
    assert rate["low"] == pytest.approx(1 - npv["high"])
    assert "False omission rate" in (folder / "page.html").read_text(encoding="utf-8")
    explained = evalreport(folder, "metrics", "false_omission_rate")
    assert "share of negative predictions that are wrong" in explained.stdout


def test_its_own_metric_is_reported_and_chooses_a_threshold(shown: dict[str, Any], folder: Path) -> None:
    found = shown["metrics"]["wrong_rate"]
    assert found["value"] == pytest.approx(1 - shown["metrics"]["accuracy"]["value"])
    assert found["method"] == "bootstrap"
    rule = evalreport(folder, "check", "rows.pairs", "--require", "wrong_rate <= 0.9")
    assert rule.returncode == 0, rule.stderr
    done = evalreport(folder, "sweep", "thresholds", "rows.pairs", "--objective", "wrong_rate", "--json")
    assert done.returncode == 0, done.stderr
    best = json.loads(done.stdout)["sweep"]["optima"]["wrong_rate"]
    assert best["apparent"] <= found["value"]


def test_its_section_is_on_the_page_and_its_finding_is_reported(shown: dict[str, Any], folder: Path) -> None:
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "How many rows" in page
    assert "60 rows were counted." in page
    assert "60 cases is an even number." in page
    assert "even_rows" in {finding["rule"] for finding in shown["findings"]}


def test_its_command_is_listed_without_its_module_and_runs(folder: Path) -> None:
    listed = evalreport(folder, "--help")
    assert "  rows        Count the rows of a file." in listed.stdout
    done = evalreport(folder, "rows", "rows.pairs")
    assert (done.returncode, done.stdout) == (0, "60 rows\n")
    assert json.loads(evalreport(folder, "rows", "rows.pairs", "--json").stdout)["command"] == "rows"


def test_its_option_answers_in_place_of_the_command(folder: Path) -> None:
    assert "--shout" in evalreport(folder, "compare", "--help-all").stdout
    done = evalreport(folder, "compare", "a.csv", "b.csv", "--shout")
    assert (done.returncode, done.stdout) == (0, "A.CSV B.CSV\n")


def test_a_broken_package_is_an_error_that_names_it(folder: Path, tmp_path: Path) -> None:
    broken = shutil.copytree(EXAMPLE, tmp_path / "broken")
    (broken / "example_feature" / "__init__.py").write_text("import no_such_module\n")
    done = evalreport(folder, "report", "rows.pairs", path=broken)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "error: the feature example cannot be loaded: No module named 'no_such_module'",
        "  at   example_feature:TABLE",
        "  fix  install or update the package that adds it, or uninstall that package",
    ]
