"""The composite action: its script is run as GitHub runs it, with its inputs as data."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / ".github" / "actions" / "check" / "action.yml").read_text(encoding="utf-8"))


def checked(folder: Path, **inputs: str) -> tuple[int, str, str]:
    """Run the last step; return its exit code, the job's summary and its outputs."""
    known = {name: str(about.get("default", "")) for name, about in ACTION["inputs"].items()} | inputs
    step = ACTION["runs"]["steps"][-1]
    given = {name: known[text.split(".")[1].split()[0]] for name, text in step["env"].items()}
    files = {"GITHUB_OUTPUT": folder / "output", "GITHUB_STEP_SUMMARY": folder / "summary.md"}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "RUNNER_TEMP": str(folder)}
    environment |= {name: str(place) for name, place in files.items()} | given
    for place in files.values():
        place.touch()
    command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
    code = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False).returncode
    summary, output = (place.read_text(encoding="utf-8") for place in reversed(files.values()))
    return code, summary, output


@pytest.mark.parametrize(
    ("rule", "code"), [("accuracy >= 0.5", 0), ("accuracy >= 0.95", 1), ("no_such >= 1", 2)]
)
def test_the_step_ends_as_the_rule_does(rule: str, code: int, tmp_path: Path) -> None:
    rows = ["y_true,y_pred", *["a,a", "b,b"] * 40, *["a,b"] * 20]
    (tmp_path / "predictions.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    found, summary, output = checked(tmp_path, predictions="predictions.csv", require=f"{rule}\n\n")
    assert found == code
    assert summary.startswith("### evalreport check:")
    assert Path(output.strip().removeprefix("junit=")).is_file()


def test_an_input_is_never_run(tmp_path: Path) -> None:
    code, _, _ = checked(tmp_path, predictions="$(touch run).csv", options="--junit=`touch run`\n; touch run")
    assert code in (2, 3)
    assert not (tmp_path / "run").exists()
    scripts = [step["run"] for step in ACTION["runs"]["steps"]]
    assert not any("${{" in script for script in scripts)
