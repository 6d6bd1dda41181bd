"""The core works without its features: each folder, and all of them, deleted in a copy of the package."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from evalreport.core.extensions import extensions
from tests.package_copy import copy_package, run_python
from tests.test_architecture import FEATURES, feature, inner_imports

UNCUT = {feature(name) for _, a, name, b in inner_imports() if b == "features" and a != "features"}
"""Features that the core still imports."""
CUT = [name for name in FEATURES if name not in UNCUT]
COMMANDS = {one.name: one.feature for one in extensions("commands")}
ROWS = "id,y_true,score\n" + "".join(f"{k},{k % 3 == 0:d},0.{(k * 7919) % 9973:04}\n" for k in range(60))
CORE = """
import contextlib, io, json, sys
import evalreport as er
from evalreport.cli import main
from evalreport.tracking.client import quiet

def ran(*words):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(words)
        except SystemExit as stop:
            code = stop.code
    return {"code": code, "out": out.getvalue(), "err": err.getvalue()}

with quiet():
    import mlflow
mlflow.set_tracking_uri("sqlite:///mlflow.db")
with quiet(), mlflow.start_run() as run:
    mlflow.log_artifact("rows.csv")
done = {
    "report": ran("report", "rows.csv", "-o", "page.html"),
    "compare": ran("compare", "rows.csv", "other.csv", "--json"),
    "sweep": ran("sweep", "thresholds", "rows.csv", "--json"),
    "log": ran("log", "--run-id", run.info.run_id, "--tracking-uri", "sqlite:///mlflow.db"),
    "evaluate": er.evaluate([0, 1, 1, 0], [0, 1, 0, 0], resamples=100)["accuracy"].value,
    "logged": dict(mlflow.get_run(run.info.run_id).data.metrics),
}
print(json.dumps(done))
"""


@pytest.fixture(scope="module", params=[*(pytest.param(name, marks=pytest.mark.slow) for name in CUT), "all"])
def core_copy(
    request: pytest.FixtureRequest, template_database: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[str]]:
    """A copy of the package, and the features that are deleted there."""
    copy = copy_package(tmp_path_factory.mktemp("core_copy"))
    deleted = CUT if request.param == "all" else [request.param]
    for name in deleted:
        shutil.rmtree(copy / "evalreport" / "features" / name)
    (copy / "rows.csv").write_text(ROWS)
    (copy / "other.csv").write_text(ROWS.replace("0.1", "0.8"))
    shutil.copy(template_database, copy / "mlflow.db")
    return copy, deleted


def test_the_core_works(core_copy: tuple[Path, list[str]]) -> None:
    copy, _ = core_copy
    done = run_python(copy, "-c", CORE)
    assert done.returncode == 0, done.stderr
    shown: dict[str, Any] = json.loads(done.stdout)
    for name in ("report", "compare", "sweep", "log"):
        assert shown[name]["code"] == 0, shown[name]
        assert "feature" not in shown[name]["err"]
    assert "Calibration" in (copy / "page.html").read_text(encoding="utf-8")
    assert json.loads(shown["compare"]["out"])["comparison"]["differences"]
    assert json.loads(shown["sweep"]["out"])["ok"]
    assert shown["evaluate"] == 0.75
    assert 0 < shown["logged"]["eval/roc_auc"] < 1


def test_a_missing_command_names_its_feature(core_copy: tuple[Path, list[str]]) -> None:
    copy, deleted = core_copy
    listed = run_python(copy, "-m", "evalreport", "--help")
    for name, of in COMMANDS.items():
        assert (f"\n  {name} " in listed.stdout) is (of not in deleted)
        if of in deleted:
            done = run_python(copy, "-m", "evalreport", name, "rows.csv")
            assert done.returncode == 2
            assert done.stderr.splitlines() == [
                f"error: {name} belongs to the feature {of}, which is not installed",
                f"  at   evalreport.features.{of}.cli:command",
                "  fix  install the complete evalreport package again: pip install --force-reinstall "
                "evalreport",
            ]


def test_a_missing_option_names_its_feature(core_copy: tuple[Path, list[str]]) -> None:
    copy, deleted = core_copy
    added = [one for one in extensions("options") if one.name.startswith("compare ")]
    assert {option for one in added for option in one.name.split()[1:]} >= {"--require", "--by"}
    for one in added:
        if one.feature in deleted:
            option = one.name.split()[1]
            done = run_python(copy, "-m", "evalreport", "compare", "rows.csv", "other.csv", option, "x")
            assert done.returncode == 2
            assert done.stderr.startswith(
                f"error: {option} belongs to the feature {one.feature}, which is not installed\n"
            )


def test_a_missing_sweep_names_its_feature(core_copy: tuple[Path, list[str]]) -> None:
    copy, deleted = core_copy
    if "studies" in deleted:
        done = run_python(copy, "-m", "evalreport", "sweep", "optuna", "--study", "study.db")
        assert done.returncode == 2
        assert done.stderr.startswith(
            "error: optuna belongs to the feature studies, which is not installed\n"
        )
        listed = run_python(copy, "-m", "evalreport", "sweep", "--help").stdout
        assert "\n  thresholds " in listed
        assert "\n  optuna " not in listed


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("texts.csv", "--response", "text", "--set", "parse=exact"), "reading labels from text"),
        (("repeated.csv", "--repeats"), "combining repeated responses"),
        (("samples.json", "--set", "format=inspect"), "inspect"),
    ],
)
def test_text_without_its_feature_is_refused_in_three_lines(
    core_copy: tuple[Path, list[str]], words: tuple[str, ...], what: str
) -> None:
    copy, deleted = core_copy
    if "text_labels" not in deleted:
        pytest.skip("the feature is there")
    (copy / "texts.csv").write_text("y_true,text\n" + "a,a\nb,it is b\n" * 30)
    (copy / "repeated.csv").write_text("id,y_true,y_pred\n" + "1,a,a\n1,a,b\n2,b,b\n2,b,b\n")
    (copy / "samples.json").write_text('{"eval": {}, "samples": [{"output": {"completion": "a"}}]}')
    done = run_python(copy, "-m", "evalreport", "report", *words)
    first, where, fix = done.stderr.splitlines()
    assert first == f"error: {what} belongs to the feature text_labels, which is not installed"
    assert "evalreport.features.text_labels." in where
    assert fix.startswith("  fix  install the complete evalreport package again")
    done = run_python(copy, "-m", "evalreport", "report", "samples.json")
    assert "inspect, openai-batch" in done.stderr
    assert "need the feature text_labels" in done.stderr


@pytest.mark.parametrize(
    ("words", "what", "of"),
    [
        (("rows.csv", "--set", "engine=stream"), "stream", "large"),
        (("rows.csv", "--save-statistics", "rows.stats"), "--save-statistics", "large"),
        (("--set", "table=main.scores"), "spark", "spark"),
    ],
)
def test_an_engine_without_its_feature_is_refused_in_three_lines(
    core_copy: tuple[Path, list[str]], words: tuple[str, ...], what: str, of: str
) -> None:
    copy, deleted = core_copy
    if of not in deleted:
        pytest.skip("the feature is there")
    done = run_python(copy, "-m", "evalreport", "report", *words)
    first, where, fix = done.stderr.splitlines()
    assert first == f"error: {what} belongs to the feature {of}, which is not installed"
    assert f"evalreport.features.{of}." in where
    assert fix.startswith("  fix  install the complete evalreport package again")
