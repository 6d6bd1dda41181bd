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
        if path.is_file()
    }
    assert shipped == templates


def test_wheel_makes_a_report_in_a_clean_environment(wheel: Path, tmp_path: Path) -> None:
    """The environment has our dependencies, by their folder, but nothing of this checkout."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    asked = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    site = subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True).stdout.strip()
    zipfile.ZipFile(wheel).extractall(site)
    (Path(site) / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"])
    data = ROOT / "examples" / "data" / "sms_spam" / "oof_scores.parquet"
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "EVALREPORT"))}
    done = subprocess.run(
        [python, "-m", "evalreport", "report", str(data), "--score", "score_lr", "-o", "page.html"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=clean,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "page.html\n"
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "spam" in page
    where = subprocess.run(
        [python, "-c", "import evalreport; print(evalreport.__file__)"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=clean,
        check=True,
    )
    assert str(tmp_path) in where.stdout
