"""What is shipped works where no checkout is: the wheel holds the templates and makes a report by itself."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (found,) = out.glob("evalreport-*.whl")
    return found


def test_wheel_holds_package_templates_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert all(top == "evalreport" or top.startswith("evalreport-") for top in tops), tops
    assert "evalreport/py.typed" in names
    shipped = {name.removeprefix("evalreport/templates/") for name in names if "/templates/" in name}
    templates = {
        path.relative_to(ROOT / "templates").as_posix()
        for path in (ROOT / "templates").rglob("*")
        if path.is_file() and path.parent.name != "__pycache__"
    }
    assert shipped == templates


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and, by their folder, our dependencies, but nothing of this checkout."""
    folder = tmp_path_factory.mktemp("clean") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    found = folder / "bin" / "python"
    asked = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    site = subprocess.run([found, "-c", asked], capture_output=True, text=True, check=True).stdout.strip()
    zipfile.ZipFile(wheel).extractall(site)
    (Path(site) / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"])
    return found


def clean(python: Path, folder: Path, *command: str) -> str:
    """Run the environment's Python in a folder; return what it printed."""
    settings = ("PYTHON", "EVALREPORT", "MLFLOW")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(settings)}
    done = subprocess.run(
        [python, *command], capture_output=True, text=True, cwd=folder, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_wheel_makes_a_report_in_a_clean_environment(python: Path, tmp_path: Path) -> None:
    data = ROOT / "examples" / "data" / "sms_spam" / "oof_scores.parquet"
    reported = clean(
        python, tmp_path, "-m", "evalreport", "report", str(data), "--score", "score_lr", "-o", "page.html"
    )
    assert reported == "page.html\n"
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "spam" in page
    where = clean(python, tmp_path, "-c", "import evalreport; print(evalreport.__file__)")
    assert str(python.parents[1]) in where


def test_the_wheel_runs_the_demo_without_a_server(python: Path, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.evalreport]\ntruth = 'other'\npositive = 'yes'\n")
    reported = clean(python, tmp_path, "-m", "evalreport", "demo", "-o", "try")
    assert {path.name for path in (tmp_path / "try").iterdir()} == {
        *("spam-old.csv", "spam-new.csv", "report.html", "compare.html", "thresholds.html")
    }
    assert reported.count("$ evalreport ") == 3
    assert "evalreport report predictions.csv" in reported
    assert not (tmp_path / "mlruns").exists() and not (tmp_path / "mlflow.db").exists()


ENTRY_POINT = """
from importlib.metadata import entry_points
from importlib.util import find_spec
(found,) = entry_points(group="mlflow.model_evaluator", name="evalreport")
print(found.value, find_spec(found.module).origin)
"""


def test_mlflow_finds_the_evaluator_of_the_wheel(python: Path, tmp_path: Path) -> None:
    """By the entry point that the tests of the evaluator have MLflow load."""
    value, module = clean(python, tmp_path, "-c", ENTRY_POINT).split()
    assert value == "evalreport.adapters.mlflow_evaluator:EvalreportEvaluator"
    assert module.startswith(str(python.parents[1]))
